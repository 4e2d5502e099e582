/* pinwheel.c -- see pinwheel.h. */
#include "bench/paper/pinwheel.h"
#include "train/sampling/philox.h"
#include <math.h>

static uint8_t to_byte(double x) {
    double y = 127.5 + 68.0 * x;
    return (uint8_t)lrint(fmin(fmax(y, 0.0), 255.0));
}

void paper_pinwheel(uint64_t seed, size_t i, uint8_t xy[2]) {
    enum { STREAM = 1 << 20 };
    uint32_t word[4];
    float normal[2];
    train_philox(seed, i, STREAM, word);
    train_philox_normal(word, normal);
    double along = 0.9 + 0.3 * (double)normal[0], across = 0.05 * (double)normal[1],
           angle = 2.0 * 3.141592653589793 * (double)(i % PAPER_ARMS) / PAPER_ARMS +
                   0.25 * exp(hypot(along, across));
    xy[0] = to_byte(along * cos(angle) - across * sin(angle));
    xy[1] = to_byte(along * sin(angle) + across * cos(angle));
}
