/* references.c -- see references.h. */
#include "bench/retrieval/references.h"
#include "bench/figures/figures.h"
#include "formats/bytes.h"
#include "train/sampling/philox.h"
#include <stdlib.h>
#include <string.h>

enum { SIDE = RETRIEVAL_SIDE, BYTES = RETRIEVAL_PIXELS };

/* --- variants -------------------------------------------------------------------------- */

enum {
    LEAST_SQUARE = 24,
    MOST_SHIFT = 3,
    PARTS = 2 * SIDE, /* places between pixels: every centre of a scaled pixel is on one */
    STREAM = 1 << 16  /* of random numbers, and the next: part of what makes a seed repeat */
};

/* Where columns, or rows, of a variant come from: `part` PARTS-ths of the way between two. */
typedef struct axis {
    size_t from[SIDE], to[SIDE];
    uint32_t part[SIDE];
} axis;

static int between(int low, int x, int high) { return x < low ? low : x > high ? high : x; }

/* A square's side, and its first column. */
static void lay_axis(int square, int first, int shift, int mirrored, axis *out) {
    for (int x = 0; x < SIDE; x++) {
        const int moved = between(0, x - shift, SIDE - 1);
        /* (moved + 1/2) square / SIDE - 1/2, and no farther than the outer centres */
        const int at = between(0, (2 * moved + 1) * square - SIDE, PARTS * (square - 1));
        const int from = first + at / PARTS, to = between(0, from + 1, first + square - 1);
        out->from[x] = (size_t)(mirrored ? SIDE - 1 - from : from);
        out->to[x] = (size_t)(mirrored ? SIDE - 1 - to : to);
        out->part[x] = (uint32_t)(at % PARTS);
    }
}

static void draw_axes(uint64_t seed, size_t number, size_t variant, axis *columns, axis *rows) {
    uint32_t word[8];
    const uint64_t index = (uint64_t)variant << 32 | number;
    train_philox(seed, index, STREAM, word);
    train_philox(seed, index, STREAM + 1, word + 4);
#define DRAW(i, choices) ((int)train_philox_below(word[i], (uint32_t)(choices)))
    const int mirrored = DRAW(0, 2), square = LEAST_SQUARE + DRAW(1, SIDE - LEAST_SQUARE + 1);
    const int left = DRAW(2, SIDE - square + 1), top = DRAW(3, SIDE - square + 1);
    const int right = DRAW(4, 2 * MOST_SHIFT + 1) - MOST_SHIFT;
    const int down = DRAW(5, 2 * MOST_SHIFT + 1) - MOST_SHIFT;
#undef DRAW
    lay_axis(square, left, right, mirrored, columns);
    lay_axis(square, top, down, 0, rows);
}

void retrieval_variant(uint64_t seed, size_t number, size_t variant, const uint8_t *from,
                       uint8_t *to) {
    axis columns, rows;
    if (!variant) {
        memcpy(to, from, BYTES);
        return;
    }
    draw_axes(seed, number, variant, &columns, &rows);
    for (size_t y = 0; y < SIDE; y++) {
        const uint8_t *upper = from + 3 * SIDE * rows.from[y],
                      *lower = from + 3 * SIDE * rows.to[y];
        const uint32_t down = rows.part[y];
        for (size_t x = 0; x < SIDE; x++) {
            const size_t a = 3 * columns.from[x], b = 3 * columns.to[x];
            const uint32_t right = columns.part[x];
            for (size_t c = 0; c < 3; c++) {
                const uint32_t above = upper[a + c] * (PARTS - right) + upper[b + c] * right;
                const uint32_t below = lower[a + c] * (PARTS - right) + lower[b + c] * right;
                const uint32_t sum = above * (PARTS - down) + below * down;
                *to++ = (uint8_t)((sum + PARTS * PARTS / 2) / (PARTS * PARTS));
            }
        }
    }
}

/* --- references ------------------------------------------------------------------------ */

enum { TASK = 500 }; /* references that a thread makes at once */

void retrieval_references_open(retrieval_references *r, const char *data, uint64_t seed,
                               unsigned threads) {
    *r = (retrieval_references){.seed = seed};
    retrieval_read_training(data, &r->of);
    retrieval_images_take(&r->block, RETRIEVAL_BLOCK, &r->of.image[0]);
    figures_check(codec_pool_create(&r->pool, threads ? threads : codec_pool_cores()), "threads",
                  NULL);
}

static void make_task(void *context, size_t task) {
    retrieval_references *r = context;
    const size_t end = formats_smaller((task + 1) * TASK, r->block.n);
    for (size_t i = task * TASK; i < end; i++) {
        const size_t number = (r->first + i) % r->of.n;
        retrieval_variant(r->seed, number, (r->first + i) / r->of.n, r->of.pixels + number * BYTES,
                          r->block.pixels + i * BYTES);
        r->block.label[i] = r->of.label[number];
    }
}

size_t retrieval_references_make(retrieval_references *r, size_t first, size_t end) {
    r->first = first;
    r->block.n = formats_smaller(RETRIEVAL_BLOCK, end - first);
    codec_pool_run(r->pool, make_task, r, (r->block.n + TASK - 1) / TASK);
    return r->block.n;
}

void retrieval_references_close(retrieval_references *r) {
    retrieval_images_free(&r->of);
    retrieval_images_free(&r->block);
    codec_pool_destroy(r->pool);
}
