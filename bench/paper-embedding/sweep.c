/* sweep.c -- see sweep.h. */
#include "bench/paper-embedding/sweep.h"
#include "bench/figures/drawing.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 9, MOST_ROWS = 8, ZOOM = 2, GAP = 2, FRONT = 2, TOP = 14 };
static const float reach = 2.5f; /* standard deviations of the unit, to either side */

static void mean_and_deviation(const float *codes, size_t n, size_t units, size_t unit,
                               double *mean, double *deviation) {
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < n; i++) sum += codes[i * units + unit];
    *mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) squares += pow(codes[i * units + unit] - *mean, 2.0);
    *deviation = sqrt(squares / (double)n);
}

static uint8_t to_byte(float x) { return (uint8_t)(fminf(fmaxf(x, 0.0f), 255.0f) + 0.5f); }

static uint32_t side_of(size_t inputs) { return (uint32_t)lround(sqrt((double)inputs)); }

/* The reconstructions of n codes, side by side from column `first` on. */
static void draw_codes(embedding *e, figures_drawing *d, const codec_network *net,
                       const float *codes, size_t n, uint32_t first, uint32_t row) {
    const size_t inputs = net->inputs;
    const uint32_t side = side_of(inputs), step = side + GAP;
    float *pixels = figures_memory(n * inputs, sizeof *pixels);
    uint8_t *bytes = figures_memory(inputs, 1);
    figures_check(codec_network_decode(net, &e->be, codes, n, pixels), "reconstructions", NULL);
    for (uint32_t i = 0; i < n; i++) {
        for (size_t p = 0; p < inputs; p++) bytes[p] = to_byte(pixels[i * inputs + p]);
        figures_draw_image(d, (first + i) * step, TOP + row * step, bytes, side, 1);
    }
    free(pixels), free(bytes);
}

static void draw_row(embedding *e, figures_drawing *d, const codec_network *net, size_t unit,
                     const float *codes, const train_pixels *rows, uint32_t row) {
    const size_t units = net->units, image = row % rows->n;
    const uint32_t side = side_of(rows->inputs), step = side + GAP;
    const float *code = codes + image * units;
    float *swept = figures_memory(STEPS * units, sizeof *swept);
    double mean, deviation;
    mean_and_deviation(codes, rows->n, units, unit, &mean, &deviation);
    for (size_t i = 0; i < STEPS; i++) {
        const double at = 2.0 * (double)i / (STEPS - 1) - 1.0;
        memcpy(swept + i * units, code, units * sizeof *code);
        swept[i * units + unit] = (float)(mean + at * reach * deviation);
    }
    figures_draw_image(d, 0, TOP + row * step, rows->pixels + image * rows->inputs, side, 1);
    draw_codes(e, d, net, code, 1, 1, row);
    draw_codes(e, d, net, swept, STEPS, FRONT, row);
    free(swept);
}

void embedding_sweep(embedding *e, const char *stem, const codec_network *net, size_t others,
                     const float *codes, const train_pixels *rows) {
    const uint32_t side = side_of(rows->inputs), step = side + GAP;
    const size_t of_class = net->units - others;
    const uint32_t n = others < MOST_ROWS ? (uint32_t)others : MOST_ROWS;
    const uint32_t more = of_class < MOST_ROWS ? (uint32_t)of_class : MOST_ROWS;
    figures_drawing *d = figures_memory(1, sizeof *d);
    char name[96], words[64];
    snprintf(words, sizeof words, "one unit, -%.1f to %.1f deviations", (double)reach,
             (double)reach);
    if (side * side != rows->inputs) figures_die("%s: images that are not square", stem);
    figures_draw_begin(d, (FRONT + STEPS) * step, TOP + (n + more) * step, ZOOM);
    figures_draw_word(d, 2.0f, 18.0f, 12.0f, "image");
    figures_draw_word(d, (float)(ZOOM * step) + 2.0f, 18.0f, 12.0f, "code");
    figures_draw_word(d, (float)(ZOOM * FRONT * step), 18.0f, 12.0f, words);
    for (uint32_t row = 0; row < n; row++) draw_row(e, d, net, of_class + row, codes, rows, row);
    for (uint32_t row = 0; row < more; row++)
        draw_row(e, d, net, row * of_class / more, codes, rows, n + row);
    snprintf(name, sizeof name, "%s-sweep", stem);
    figures_draw_end(&e->figures, d, name, "reconstructions while one unit goes through its range");
    free(d);
}
