/* references.c -- see references.h. */
#include "bench/retrieval/references.h"
#include "bench/figures/figures.h"
#include "formats/bytes.h"
#include "formats/imageset.h"
#include "train/sampling/philox.h"
#include <stdlib.h>
#include <string.h>

enum { SIDE = RETRIEVAL_SIDE, BYTES = RETRIEVAL_PIXELS };

/* --- reading --------------------------------------------------------------------------- */

static void make_room(retrieval_images *images, size_t n) {
    *images = (retrieval_images){.n = n,
                                 .pixels = figures_memory(n, BYTES),
                                 .label = figures_memory(n, sizeof *images->label),
                                 .image = figures_memory(n, sizeof *images->image)};
    for (size_t i = 0; i < n; i++)
        images->image[i] = (taper_image){SIDE, SIDE, 3, 8, images->pixels + i * BYTES};
}

void retrieval_images_free(retrieval_images *images) {
    free(images->pixels), free(images->label), free(images->image);
    *images = (retrieval_images){.n = 0};
}

static void read_set(const char *const *path, size_t paths, size_t most, retrieval_images *out) {
    taper_error error = {0};
    formats_imageset *set;
    figures_check(formats_imageset_open(&set, path, paths, &(formats_imageset_options){0}, NULL,
                                        NULL, &error),
                  path[0], &error);
    make_room(out, formats_smaller(most, formats_imageset_count(set)));
    for (size_t i = 0; i < out->n; i++) {
        taper_image image;
        const char *name = formats_imageset_path(set, i);
        figures_check(formats_imageset_read(set, i, &image, &error), name, &error);
        if (image.width != SIDE || image.height != SIDE || image.channels != 3 || image.depth != 8)
            figures_die("%s: not images of %d x %d pixels in colour", name, SIDE, SIDE);
        memcpy(out->pixels + i * BYTES, image.pixels, BYTES);
        free(image.pixels);
        out->label[i] = formats_imageset_label(set, i);
    }
    formats_imageset_close(set);
}

void retrieval_read_training(const char *data, retrieval_images *out) {
    enum { BATCHES = 5 };
    char *path[BATCHES];
    for (int i = 0; i < BATCHES; i++) path[i] = figures_path(data, "data_batch_%d.bin", i + 1);
    read_set((const char *const *)path, BATCHES, SIZE_MAX, out);
    for (int i = 0; i < BATCHES; i++) free(path[i]);
}

void retrieval_read_queries(const char *data, size_t n, retrieval_images *out) {
    char *path = figures_path(data, "test_batch.bin");
    read_set((const char *const *)&path, 1, n, out);
    if (out->n < n) figures_die("%s: %zu images are fewer than %zu queries", path, out->n, n);
    free(path);
}

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
    make_room(&r->block, RETRIEVAL_BLOCK);
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
