/* sets.c -- see sets.h. */
#include "bench/paper-embedding/sets.h"
#include "bench/paper-embedding/circles.h"
#include "formats/imageset/imageset.h"
#include "samples/letters.h"
#include "train/device/operations.h"
#include "train/sampling/philox.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    STREAM_SPLITS = 901, /* of random numbers */
    STREAM_FEW = 903,
    CIRCLES = 1000, /* in training; as many to test */
    DRAWN = 600,    /* drawn digits; a third of them to test */
    DRAWN_SIDE = 16
};

/* --- files ----------------------------------------------------------------------------- */

/* FOLDER/SET/NAME.gz, or without .gz, as new memory; NULL: neither is there. */
static char *find(const embedding *e, const char *set, const char *name) {
    for (int plain = 0; plain < 2; plain++) {
        char *path = figures_path(e->data, "%s/%s%s", set, name, plain ? "" : ".gz");
        if (access(path, R_OK) == 0) return path;
        free(path);
    }
    return NULL;
}

static int have(const embedding *e, const char *set, const char *name) {
    char *path = find(e, set, name);
    free(path);
    return path != NULL;
}

int embedding_set_is_here(const embedding *e, const char *set) {
    if (e->quick || !strcmp(set, "circles")) return 1;
    if (!strcmp(set, "usps"))
        return have(e, set, "usps-images-idx3-ubyte") && have(e, set, "usps-labels-idx1-ubyte");
    return have(e, set, "train-images-idx3-ubyte") && have(e, set, "train-labels-idx1-ubyte") &&
           have(e, set, "t10k-images-idx3-ubyte") && have(e, set, "t10k-labels-idx1-ubyte");
}

typedef struct rows {
    uint8_t *pixels;
    uint32_t *label;
    size_t n;
    uint32_t inputs;
} rows;

static rows new_rows(size_t n, uint32_t inputs) {
    return (rows){figures_memory(n, inputs), figures_memory(n, sizeof(uint32_t)), n, inputs};
}

static void read_image(const formats_imageset *set, size_t i, rows *to) {
    taper_image image;
    taper_error error = {0};
    figures_check(formats_imageset_read(set, i, &image, NULL, &error),
                  formats_imageset_path(set, i), &error);
    uint32_t inputs = image.width * image.height * image.channels;
    if (!i) *to = new_rows(formats_imageset_count(set), inputs);
    if (inputs != to->inputs || image.depth != 8 || image.channels != 1)
        figures_die("%s: not grey images of one size", formats_imageset_path(set, i));
    memcpy(to->pixels + i * inputs, image.pixels, inputs);
    free(image.pixels);
    int32_t label = formats_imageset_label(set, i);
    if (label < 0 || label >= EMBEDDING_CLASSES) figures_die("label %d of image %zu", label, i);
    to->label[i] = (uint32_t)label;
}

static rows read_files(const embedding *e, const char *set, const char *images,
                       const char *labels) {
    rows out = {0};
    char *path = find(e, set, images), *of_labels = find(e, set, labels);
    if (!path || !of_labels) figures_die("no %s in %s/%s", path ? labels : images, e->data, set);
    formats_imageset *files;
    taper_error error = {0};
    figures_check(formats_imageset_open(&files, (const char *const *)&path, 1,
                                        &(formats_imageset_options){.labels = of_labels}, NULL,
                                        NULL, &error),
                  path, &error);
    for (size_t i = 0; i < formats_imageset_count(files); i++) read_image(files, i, &out);
    formats_imageset_close(files);
    free(path), free(of_labels);
    return out;
}

/* --- made here ------------------------------------------------------------------------- */

static uint8_t to_byte(double x) {
    return (uint8_t)(x <= 0.0 ? 0.0 : x >= 255.0 ? 255.0 : x + 0.5);
}

/* Training rows, then test rows. */
static rows make_circles(void) {
    rows out = new_rows(2 * CIRCLES, CIRCLES_INPUTS);
    float *numbers = figures_memory(out.n * CIRCLES_INPUTS, sizeof *numbers);
    circles_draw(1, out.n, CIRCLES_NOISE, numbers, out.label);
    for (size_t i = 0; i < out.n * CIRCLES_INPUTS; i++)
        out.pixels[i] = to_byte(127.5 + 7.0 * (double)numbers[i]);
    free(numbers);
    return out;
}

/* Digits of the stroke alphabet, moved, turned and stretched a little. */
static void draw_digit(uint64_t i, uint8_t *to) {
    samples_canvas c;
    samples_path path = {0};
    samples_random r = samples_random_start(5, i);
    double x[4];
    if (!samples_canvas_make(&c, DRAWN_SIDE, DRAWN_SIDE)) figures_die("no memory for a digit");
    for (int k = 0; k < 4; k++) x[k] = (double)(samples_bits(&r) >> 11) * 0x1p-53 - 0.5;
    samples_letter(&path, (char)('0' + i % 10), -3.0f, 4.0f, 9.0f);
    const float turn = (float)(0.5 * x[0]), size = (float)(1.0 + 0.3 * x[1]);
    samples_path_transform(&path, (const float[6]){size, turn, (float)(8.0 + 2.0 * x[2]), -turn,
                                                   size, (float)(8.0 + 2.0 * x[3])});
    samples_texture ink = samples_texture_flat((samples_colour){1.0f, 1.0f, 1.0f});
    samples_canvas_stroke(&c, &path, 1.0f,
                          &(samples_look){.texture = &ink, .opacity = 1.0f, .softness = 1.0f});
    samples_canvas_to_grey8(&c, to);
    samples_canvas_free(&c);
}

static rows draw_digits(void) {
    rows out = new_rows(DRAWN, DRAWN_SIDE * DRAWN_SIDE);
    for (size_t i = 0; i < DRAWN; i++) {
        draw_digit(i, out.pixels + i * out.inputs);
        out.label[i] = (uint32_t)(i % 10);
    }
    return out;
}

/* --- training and test ----------------------------------------------------------------- */

/* The rows in an order of the split's. */
static rows shuffled(const rows *from, uint32_t split) {
    rows out = new_rows(from->n, from->inputs);
    size_t *order = figures_memory(from->n, sizeof *order);
    for (size_t i = 0; i < from->n; i++) {
        uint32_t word[4];
        train_philox(split, i, STREAM_SPLITS, word);
        size_t j = train_philox_below(word[0], (uint32_t)i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (size_t i = 0; i < from->n; i++) {
        memcpy(out.pixels + i * from->inputs, from->pixels + order[i] * from->inputs, from->inputs);
        out.label[i] = from->label[order[i]];
    }
    free(order), free(from->pixels), free(from->label);
    return out;
}

static rows joined(const rows *a, const rows *b) {
    rows out = new_rows(a->n + b->n, a->inputs);
    if (a->inputs != b->inputs) figures_die("training and test images differ in size");
    memcpy(out.pixels, a->pixels, a->n * a->inputs);
    memcpy(out.pixels + a->n * a->inputs, b->pixels, b->n * b->inputs);
    memcpy(out.label, a->label, a->n * sizeof *a->label);
    memcpy(out.label + a->n, b->label, b->n * sizeof *b->label);
    free(a->pixels), free(a->label), free(b->pixels), free(b->label);
    return out;
}

static train_pixels part_of(const rows *r, size_t first, size_t n) {
    return (train_pixels){.pixels = r->pixels + first * r->inputs,
                          .n = n,
                          .inputs = r->inputs,
                          .label = r->label + first};
}

void embedding_set_read(const embedding *e, const embedding_cell *cell, int choosing,
                        embedding_set *out) {
    rows all, test = {0};
    size_t train, last;
    if (!strcmp(cell->set, "circles")) {
        all = make_circles();
        train = CIRCLES;
    } else if (e->quick) {
        all = draw_digits();
        train = all.n * 2 / 3;
    } else if (!strcmp(cell->set, "usps")) {
        all = read_files(e, "usps", "usps-images-idx3-ubyte", "usps-labels-idx1-ubyte");
        train = USPS_TRAINING;
    } else {
        all = read_files(e, "mnist", "train-images-idx3-ubyte", "train-labels-idx1-ubyte");
        train = all.n;
        if (!choosing)
            test = read_files(e, "mnist", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte");
    }
    if (train > all.n || (!test.n && !choosing && train == all.n))
        figures_die("%s: %zu images, of which %zu would be to learn from", cell->set, all.n, train);
    if (cell->split) all = shuffled(&all, cell->split);
    if (test.n) all = joined(&all, &test);
    last = all.n;
    if (choosing) last = train, train -= train > 2 * MNIST_CHOOSING ? MNIST_CHOOSING : train / 6;
    *out = (embedding_set){part_of(&all, 0, train), part_of(&all, train, last - train), all.pixels,
                           all.label};
}

void embedding_hide_labels(embedding_set *set, double percent, size_t each, uint64_t seed) {
    train_pixels *t = &set->train;
    uint32_t *label = set->label; /* t's, which come first */
    if (percent >= 100.0 && !each) return;
    for (uint32_t c = 0; c < EMBEDDING_CLASSES; c++) {
        size_t members = 0, kept;
        for (size_t i = 0; i < t->n; i++) members += label[i] == c;
        kept = (size_t)((double)members * percent / 100.0 + 0.5);
        if (each) kept = each;
        if (!kept) kept = 1;
        for (size_t i = 0; i < t->n; i++) {
            uint32_t word[4];
            if (label[i] != c) continue;
            train_philox(seed, i, STREAM_FEW, word); /* kept with the chance that is left */
            if (train_philox_below(word[0], (uint32_t)members) < kept)
                kept--;
            else
                label[i] = TRAIN_UNLABELLED;
            members--;
        }
    }
}

void embedding_keep_labelled(embedding_set *set) {
    train_pixels *t = &set->train;
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        if (set->label[i] == TRAIN_UNLABELLED) continue;
        memmove(set->pixels + n * t->inputs, set->pixels + i * t->inputs, t->inputs);
        set->label[n++] = set->label[i];
    }
    t->n = n;
}

void embedding_set_free(embedding_set *set) {
    free(set->pixels), free(set->label);
    *set = (embedding_set){0};
}
