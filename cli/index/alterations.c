/* alterations.c -- see alterations.h. */
#include "cli/index/alterations.h"
#include "codec/taper_quality.h"
#include "formats/image.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_IMAGES = 100, KINDS = 3, LIGHTER = 8, PARTS = 32 };

/* --- three ways to alter an image of 8 bits --------------------------------------------- */

static taper_status scale_and_back(const taper_image *image, taper_image *out) {
    taper_image small = {.pixels = NULL};
    const uint32_t width = image->width > 3 ? image->width * 3 / 4 : 1;
    const uint32_t height = image->height > 3 ? image->height * 3 / 4 : 1;
    TAPER_TRY(taper_image_scale(image, width, height, &small, NULL));
    const taper_status status = taper_image_scale(&small, image->width, image->height, out, NULL);
    formats_image_free(&small);
    return status;
}

static taper_status lighten(const taper_image *image, taper_image *out) {
    TAPER_TRY(taper_image_scale(image, image->width, image->height, out, NULL)); /* a copy */
    uint8_t *pixel = out->pixels;
    const size_t n = (size_t)out->width * out->height * out->channels;
    for (size_t i = 0; out->depth == 8 && i < n; i++)
        pixel[i] = (uint8_t)(pixel[i] > 255 - LIGHTER ? 255 : pixel[i] + LIGHTER);
    return TAPER_OK;
}

static taper_status crop(const taper_image *image, taper_image *out) {
    const uint32_t x = (image->width + PARTS - 1) / PARTS, y = (image->height + PARTS - 1) / PARTS;
    if (image->width <= 2 * x || image->height <= 2 * y) return lighten(image, out);
    const size_t pixel = (size_t)image->channels * (image->depth / 8);
    const uint32_t width = image->width - 2 * x, height = image->height - 2 * y;
    taper_image inner = *image;
    inner.width = width, inner.height = height;
    inner.pixels = malloc(pixel * width * height);
    if (!inner.pixels) return TAPER_ERR_NOMEM;
    for (uint32_t row = 0; row < height; row++)
        memcpy((uint8_t *)inner.pixels + row * width * pixel,
               (const uint8_t *)image->pixels + ((size_t)(row + y) * image->width + x) * pixel,
               width * pixel);
    const taper_status status = taper_image_scale(&inner, image->width, image->height, out, NULL);
    free(inner.pixels);
    return status;
}

/* --- distances -------------------------------------------------------------------------- */

typedef struct trying {
    const taper_index *index;
    cli_code_set *set;
    const cli_embedder *embedder;
    uint8_t *wanted; /* [images of the index] 1 for the current image, else 0 */
    float *code;
    uint64_t *bits;
    uint32_t distance[MOST_IMAGES * KINDS];
    size_t n;
} trying;

static taper_status measure(trying *t, taper_image *copy, uint32_t image) {
    const taper_index_info info = cli_index_info(t->index);
    uint32_t found;
    TAPER_TRY(cli_embedder_fit(t->embedder, copy, NULL));
    TAPER_TRY(cli_embedder_codes(t->embedder, copy, 1, t->code, NULL));
    TAPER_TRY(taper_index_pack(t->code, 1, t->embedder->width, info.bits, t->bits, NULL));
    t->wanted[image] = 1;
    const taper_index_search search = {.size = sizeof(taper_index_search),
                                       .queries = t->bits,
                                       .n_queries = 1,
                                       .k = 1,
                                       .recall = 1,
                                       .wanted = t->wanted,
                                       .threads = 1};
    const taper_status status =
        taper_index_nearest(t->index, &search, &found, &t->distance[t->n], NULL, NULL);
    t->wanted[image] = 0;
    t->n += status == TAPER_OK;
    return status;
}

/* *at: number in the index of image i of the set, or -1. */
static taper_status find_image(const trying *t, size_t i, int64_t *at) {
    char room[CLI_IMAGE_NAME];
    const uint64_t images = cli_index_info(t->index).images;
    char *name = cli_index_name(cli_index_path(t->set, i, room));
    if (!name) return TAPER_ERR_NOMEM;
    *at = -1;
    for (uint64_t k = 0; k < images && *at < 0; k++) {
        const char *other = taper_index_name(t->index, k);
        if (other && !strcmp(other, name)) *at = (int64_t)k;
    }
    free(name);
    return TAPER_OK;
}

/* False: the image cannot be used. */
static bool try_image(trying *t, size_t i, taper_status *status) {
    static taper_status (*const alter[KINDS])(const taper_image *, taper_image *) = {scale_and_back,
                                                                                     lighten, crop};
    taper_image image = {.pixels = NULL};
    int64_t at;
    *status = find_image(t, i, &at);
    if (*status || at < 0) return false;
    const taper_status read = cli_code_set_picture(t->set, i, &image, NULL);
    if (formats_is_system_error(read)) *status = read;
    if (read) return false;
    const bool fits = cli_embedder_check(t->embedder, &image, NULL) == TAPER_OK;
    for (size_t a = 0; a < KINDS && fits && !*status; a++) {
        taper_image copy = {.pixels = NULL};
        *status = alter[a](&image, &copy);
        if (!*status) *status = measure(t, &copy, (uint32_t)at);
        formats_image_free(&copy);
    }
    formats_image_free(&image);
    return fits;
}

static int by_size(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int try_all(trying *t, cli_alterations *out) {
    const size_t n = cli_code_set_images(t->set);
    const size_t most = n < MOST_IMAGES ? n : MOST_IMAGES;
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < most && !status; i++)
        out->images += try_image(t, (2 * i + 1) * n / (2 * most), &status);
    if (status) return cli_fail("search", NULL, status, NULL);
    if (!t->n) {
        cli_error("search", NULL,
                  "none of the images that were tried is in the index and can be read: give the "
                  "images that were indexed, or --within");
        return CLI_USAGE;
    }
    qsort(t->distance, t->n, sizeof *t->distance, by_size);
    out->altered = t->n;
    out->within = t->distance[(t->n * 9 + 9) / 10 - 1];
    return CLI_DONE;
}

int cli_alterations_try(cli_alterations *out, const taper_index *index, cli_code_set *set,
                        const cli_embedder *embedder) {
    const taper_index_info info = cli_index_info(index);
    trying t = {.index = index, .set = set, .embedder = embedder};
    *out = (cli_alterations){.images = 0};
    t.wanted = calloc(info.images, 1);
    t.code = malloc(embedder->width * sizeof *t.code);
    t.bits = malloc((info.bits + 63) / 64 * sizeof *t.bits);
    const int code = t.wanted && t.code && t.bits
                         ? try_all(&t, out)
                         : (int)cli_fail("search", NULL, TAPER_ERR_NOMEM, NULL);
    free(t.wanted), free(t.code), free(t.bits);
    return code;
}
