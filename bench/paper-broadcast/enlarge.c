/* enlarge.c -- a small picture at its full size, by cubic interpolation. */
#include "bench/figures/figures.h"
#include "bench/paper-broadcast/broadcast.h"
#include <math.h>
#include <stdlib.h>

/* The four samples around a place and their weights. */
typedef struct taps {
    uint32_t at[4];
    double weight[4];
} taps;

static void find_taps(uint32_t from, uint32_t to, taps *tap) {
    for (uint32_t x = 0; x < to; x++) {
        double place = (x + 0.5) * from / to - 0.5, left = floor(place), t = place - left;
        const double weight[4] = {t * (-0.5 + t * (1 - 0.5 * t)), 1 + t * t * (-2.5 + 1.5 * t),
                                  t * (0.5 + t * (2 - 1.5 * t)), t * t * (-0.5 + 0.5 * t)};
        for (int k = 0; k < 4; k++) {
            double at = left + k - 1;
            tap[x].at[k] = (uint32_t)(at < 0 ? 0 : at > from - 1 ? from - 1 : at);
            tap[x].weight[k] = weight[k];
        }
    }
}

void broadcast_enlarge(const taper_image *small, taper_image *out) {
    const size_t c = out->channels, row = (size_t)out->width * c;
    taps *across = figures_memory(out->width, sizeof *across);
    taps *down = figures_memory(out->height, sizeof *down);
    double *wide = figures_memory(row * small->height, sizeof *wide);
    const uint8_t *from = small->pixels;
    uint8_t *to = out->pixels;
    find_taps(small->width, out->width, across);
    find_taps(small->height, out->height, down);
    for (uint32_t y = 0; y < small->height; y++)
        for (size_t i = 0; i < row; i++)
            for (int k = 0; k < 4; k++) {
                size_t x = across[i / c].at[k];
                wide[y * row + i] +=
                    across[i / c].weight[k] * from[((size_t)y * small->width + x) * c + i % c];
            }
    for (uint32_t y = 0; y < out->height; y++)
        for (size_t i = 0; i < row; i++) {
            double v = 0.5;
            for (int k = 0; k < 4; k++) v += down[y].weight[k] * wide[down[y].at[k] * row + i];
            to[y * row + i] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
        }
    free(across);
    free(down);
    free(wide);
}
