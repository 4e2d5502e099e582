/* pinwheel.h -- the toy data of figure 2: spiral arms in the plane, as two bytes a point. */
#ifndef BENCH_PAPER_PINWHEEL_H
#define BENCH_PAPER_PINWHEEL_H
#include <stddef.h>
#include <stdint.h>

enum { PAPER_ARMS = 5 };

/* Point i of the data, x and y in 0 .. 255: a normal cloud around (0.9, 0) of deviations 0.3 along
 * the arm and 0.05 across, turned by its arm's angle and by 0.25 exp(radius), scaled by 68 a unit
 * around (127.5, 127.5). */
void paper_pinwheel(uint64_t seed, size_t i, uint8_t xy[2]);
#endif
