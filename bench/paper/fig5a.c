/* fig5a.c -- figure 5a: test images at rising code lengths. */
#include "bench/figures/drawing.h"
#include "bench/paper/kinds.h"
#include "bench/paper/parts.h"
#include "bench/paper/recipes.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t rows_at[] = {16, 64, 128, 256, 512, 1024};
enum { ROWS = sizeof rows_at / sizeof *rows_at, COLUMNS = 12, ZOOM = 2, GAP = 1, LEFT = 46 };

/* The first image of every class would need labels; evenly spread ones will do. */
static void choose(const paper_images *from, uint8_t *pixels) {
    for (size_t i = 0; i < COLUMNS; i++)
        memcpy(pixels + i * from->inputs,
               from->pixels + (2 * i + 1) * from->n / (2 * COLUMNS) * from->inputs, from->inputs);
}

static void draw_row(figures_drawing *d, const paper_images *images, uint32_t row,
                     const uint8_t *pixels, const char *label) {
    uint32_t cell = images->side + GAP;
    figures_draw_word(d, 4, ZOOM * ((float)row + 0.6f) * (float)cell, 10, label);
    for (uint32_t i = 0; i < COLUMNS; i++)
        figures_draw_image(d, LEFT + i * cell, GAP + row * cell, pixels + i * images->inputs,
                           images->side, images->channels);
}

static double to_bytes(const float *from, const uint8_t *original, size_t n, uint8_t *to) {
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        to[i] = (uint8_t)lrintf(fminf(fmaxf(from[i], 0.0f), 255.0f));
        sum += ((double)to[i] - original[i]) * ((double)to[i] - original[i]);
    }
    return sum / (double)n;
}

static void draw(paper *p, paper_network *network) {
    const paper_images *images = &p->test;
    size_t n = (size_t)COLUMNS * images->inputs, units = network->net.units;
    uint8_t *original = figures_memory(n, 1), *shown = figures_memory(n, 1);
    float *code = figures_memory(COLUMNS * units, sizeof *code),
          *pixels = figures_memory(n, sizeof *pixels);
    uint32_t cell = images->side + GAP;
    figures_drawing d;
    figures_draw_begin(&d, LEFT + COLUMNS * cell, GAP + (ROWS + 1) * cell, ZOOM);
    choose(images, original);
    train_pixels rows = {.pixels = original, .n = COLUMNS, .inputs = images->inputs};
    paper_codes(network, &rows, code);
    for (uint32_t r = 0; r < ROWS; r++) {
        char label[32];
        uint32_t kept = rows_at[r] < units ? rows_at[r] : (uint32_t)units;
        figures_check(train_nested_decode(&network->net, code, COLUMNS, kept, pixels), "decode",
                      NULL);
        double mse = to_bytes(pixels, original, n, shown);
        snprintf(label, sizeof label, "%u bits", kept);
        draw_row(&d, images, r, shown, label);
        figures_print(&p->figures, "nested-dropout/fig5a", "mse", mse, "8-bit^2",
                      "\"bits\":%u,\"images_shown\":%d,\"settings\":\"%s\"", kept, COLUMNS,
                      network->settings);
    }
    draw_row(&d, images, ROWS, original, "original");
    figures_draw_end(&p->figures, &d, "fig5a", "Test images from their first bits");
    free(original), free(shown), free(code), free(pixels);
}

void paper_part_fig5a(paper *p) {
    paper_network network;
    paper_load(p);
    paper_selection s = paper_selected(p);
    paper_train_kind(p, "nested", &s.kind[0], RECIPE_CODE, 0, s.kind[0].truncation, s.seed[0],
                     &network);
    draw(p, &network);
    FILE *to = paper_section(
        p, "fig5a", "Figure 5a: reconstructions",
        "images of CIFAR-10 from 16, 64, 128, 256 and 1,024 bits of a 3072-1024-3072 network with "
        "the originals (24,576 bits) below: detail grows with length, and with 1,024 bits little "
        "is "
        "missing. In the binary networks made here more is missing, as one bit a unit is all that "
        "a length counts.");
    figures_section_svg(&p->figures, to, "fig5a",
                        "test images at rising code lengths, originals in the last row");
    figures_section_end(to);
    paper_network_free(&network);
}
