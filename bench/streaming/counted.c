/* counted.c -- requests and bytes of a reader by ranges, for gallery.py.
 *
 *     counted FILE FIRST LAYERS IMAGE
 *
 * The reader takes the first FIRST bytes, then what taper_decoder_plan wants, one request for each
 * range; ranges that touch are one. LAYERS is 0, or as many layers of all images are fetched and
 * drawn before IMAGE, which is a number, or = and a name, or - for none. One line a step:
 *
 *     first | coarse | glance | image   requests bytes images-drawn
 *
 * glance: the first layer of IMAGE that shows something, of a set that is too large for `coarse`.
 *
 * images-drawn: those that show more than the mean of the model. */
#include "codec/taper.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANGES = 64 };

typedef struct reader {
    FILE *file;
    uint64_t size, requests, bytes;
    taper_decoder *decoder;
    taper_range *wanted; /* of several images, owned */
    size_t n, capacity;
    taper_error error;
} reader;

static void need(const reader *r, taper_status status) {
    if (status == TAPER_OK) return;
    fprintf(stderr, "counted: %s\n", r->error.text);
    exit(1);
}

static void *take(size_t size) {
    void *memory = malloc(size + 1);
    if (!memory) exit(1);
    return memory;
}

/* One request. */
static void fetch(reader *r, uint64_t offset, uint64_t size) {
    if (offset + size > r->size) size = r->size - offset;
    unsigned char *bytes = take((size_t)size);
    if (fseek(r->file, (long)offset, SEEK_SET) || fread(bytes, 1, (size_t)size, r->file) != size)
        exit(1);
    need(r, taper_decoder_supply(r->decoder, offset, bytes, (size_t)size, &r->error));
    r->requests++, r->bytes += size;
    free(bytes);
}

static void want(reader *r, taper_range range) {
    if (r->n == r->capacity) {
        r->capacity = 2 * r->capacity + 64;
        r->wanted = realloc(r->wanted, r->capacity * sizeof *r->wanted);
        if (!r->wanted) exit(1);
    }
    r->wanted[r->n++] = range;
}

static int by_offset(const void *a, const void *b) {
    const taper_range *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Fetch all that is wanted. */
static void fetch_wanted(reader *r) {
    qsort(r->wanted, r->n, sizeof *r->wanted, by_offset);
    for (size_t i = 0, next; i < r->n; i = next) {
        uint64_t end = r->wanted[i].offset + r->wanted[i].size;
        for (next = i + 1; next < r->n && r->wanted[next].offset <= end; next++)
            if (r->wanted[next].offset + r->wanted[next].size > end)
                end = r->wanted[next].offset + r->wanted[next].size;
        fetch(r, r->wanted[i].offset, end - r->wanted[i].offset);
    }
    r->n = 0;
}

/* List what image i wants. */
static void plan(reader *r, uint64_t i, uint64_t cut) {
    taper_range range[MOST_RANGES];
    size_t n;
    need(r, taper_decoder_plan(r->decoder, i, cut, range, MOST_RANGES, &n, &r->error));
    if (n > MOST_RANGES) exit(1);
    for (size_t k = 0; k < n; k++) want(r, range[k]);
}

static void read_image(reader *r, uint64_t i, uint64_t cut) {
    do plan(r, i, cut);
    while (r->n && (fetch_wanted(r), 1));
}

static int is_drawn(reader *r, uint64_t i);
static void say(reader *r, const char *step, uint64_t drawn);

/* The least layers that show something. */
static void read_glance(reader *r, uint64_t i) {
    taper_container_info info = {.size = sizeof info};
    uint64_t cut;
    uint32_t passes = 0;
    read_image(r, i, 0);
    const taper_container *container = taper_decoder_container(r->decoder);
    need(r, taper_container_get_info(container, &info, &r->error));
    for (uint32_t layer = 0; layer < info.layers && !passes; layer++)
        need(r, taper_container_layer(container, i, layer, &cut, &passes, &r->error));
    if (info.layers > 1)
        read_image(r, i, cut);
    else
        read_image(r, i, UINT64_MAX);
    say(r, "glance", is_drawn(r, i));
}

/* Returns its number. */
static uint64_t read_name(reader *r, const char *name) {
    taper_range range[MOST_RANGES];
    uint64_t i;
    size_t n;
    for (;;) {
        need(r, taper_decoder_plan_name(r->decoder, name, UINT64_MAX, range, MOST_RANGES, &n, &i,
                                        &r->error));
        if (!n) return i;
        for (size_t k = 0; k < n && k < MOST_RANGES; k++) want(r, range[k]);
        fetch_wanted(r);
    }
}

static uint64_t images(reader *r) {
    taper_container_info info = {.size = sizeof info};
    const taper_container *container = taper_decoder_container(r->decoder);
    if (!container) return 0;
    need(r, taper_container_get_info(container, &info, &r->error));
    return info.images;
}

/* Nonzero if more than the mean is there. */
static int is_drawn(reader *r, uint64_t i) {
    taper_image_info info = {.size = sizeof info};
    taper_completeness done;
    taper_image image = {0};
    if (taper_container_get_image(taper_decoder_container(r->decoder), i, &info, NULL)) return 0;
    image.pixels = take((size_t)info.bytes);
    const taper_status status = taper_decoder_render(r->decoder, i, &image, &done, &r->error);
    free(image.pixels);
    return status == TAPER_OK && done.passes > 0;
}

static void say(reader *r, const char *step, uint64_t drawn) {
    printf("%s %llu %llu %llu\n", step, (unsigned long long)r->requests,
           (unsigned long long)r->bytes, (unsigned long long)drawn);
}

/* After the first request and at the end of the layers. */
static void read_coarse(reader *r, uint32_t layers) {
    uint64_t drawn = 0, cut;
    uint32_t passes;
    for (uint64_t i = 0; i < images(r); i++) drawn += is_drawn(r, i);
    say(r, "first", drawn);
    if (!layers) return;
    read_image(r, 0, 0);
    need(r, taper_container_layer(taper_decoder_container(r->decoder), TAPER_ALL_IMAGES, layers - 1,
                                  &cut, &passes, &r->error));
    const uint64_t all = images(r);
    for (uint64_t i = 0; i < all; i++) plan(r, i, cut);
    fetch_wanted(r);
    drawn = 0;
    for (uint64_t i = 0; i < all; i++) drawn += is_drawn(r, i);
    say(r, "coarse", drawn);
}

int main(int argc, char **argv) {
    reader r = {0};
    if (argc != 5 || !(r.file = fopen(argv[1], "rb")) || fseek(r.file, 0, SEEK_END)) {
        fprintf(stderr, "usage: counted FILE FIRST LAYERS IMAGE|=NAME|-\n");
        return 2;
    }
    r.size = (uint64_t)ftell(r.file);
    need(&r, taper_decoder_new_streaming(&r.decoder, NULL, &r.error));
    fetch(&r, 0, strtoull(argv[2], NULL, 10));
    const uint32_t layers = (uint32_t)strtoul(argv[3], NULL, 10);
    if (images(&r) <= 1024) read_coarse(&r, layers);
    if (strcmp(argv[4], "-") != 0) {
        if (layers) r.requests = r.bytes = 0; /* what comes after them */
        uint64_t i = strtoull(argv[4], NULL, 10);
        if (argv[4][0] == '=')
            i = read_name(&r, argv[4] + 1);
        else {
            if (images(&r) > 1024 || !images(&r)) read_glance(&r, i);
            read_image(&r, i, UINT64_MAX);
        }
        say(&r, "image", is_drawn(&r, i));
    }
    taper_decoder_free(r.decoder);
    free(r.wanted);
    fclose(r.file);
    return 0;
}
