/* lengths.c -- error against code length. */
#include "bench/paper/paper.h"

static uint32_t next_length(uint32_t b, int dense) {
    if (dense) return b < 64 ? b + 1 : b < 256 ? b + 4 : b + 8;
    if (b < 4) return b + 1;
    uint32_t octave = 4;
    while (octave * 2 <= b) octave *= 2;
    return b + octave / (b < 16 ? 2 : 4);
}

void paper_lengths(paper_curve *curve, uint32_t units, int dense) {
    *curve = (paper_curve){0};
    for (uint32_t b = 1; b < units && curve->n + 1 < PAPER_MAX_LENGTHS; b = next_length(b, dense))
        curve->length[curve->n++] = b;
    curve->length[curve->n++] = units;
}

void paper_measure(paper *p, paper_network *network, const paper_images *images,
                   paper_curve *curve) {
    (void)p;
    train_pixels rows = paper_rows(images, SIZE_MAX);
    paper_errors(network, &rows, curve);
}

double paper_at(const paper_curve *curve, double bits) {
    if (bits <= curve->length[0]) return curve->mse[0];
    for (size_t i = 1; i < curve->n; i++) {
        double a = curve->length[i - 1], b = curve->length[i];
        if (bits <= b)
            return curve->mse[i - 1] + (bits - a) / (b - a) * (curve->mse[i] - curve->mse[i - 1]);
    }
    return curve->mse[curve->n - 1];
}
