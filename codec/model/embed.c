/* embed.c -- see embed.h. */
#include "codec/model/embed.h"
#include "codec/taper_quality.h"
#include "formats/image.h"
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 96, MOST_THREADS = 256 }; /* images in a block; codes do not depend on it */

/* --- opening --------------------------------------------------------------------------- */

/* Create the threads and finish opening. */
static taper_status finish_opening(codec_embedder *e, unsigned threads, taper_status status,
                                   taper_error *error) {
    codec_backend_cpu(&e->backend);
    if (!status && threads > 1) status = codec_pool_create(&e->pool, threads);
    if (status) codec_embedder_close(e);
    if (status == TAPER_ERR_NOMEM) formats_fail(error, status, "no memory to make codes");
    return status;
}

static unsigned threads_of(unsigned given) {
    return given ? (unsigned)formats_smaller(given, MOST_THREADS) : codec_pool_cores();
}

taper_status codec_embedder_open(codec_embedder *out, const taper_model *model, unsigned threads,
                                 taper_error *error) {
    threads = threads_of(threads);
    *out = (codec_embedder){.window = model->window,
                            .scales = !codec_network_has_decoder(&model->network),
                            .width = model->network.units,
                            .has_network = 1,
                            .is_binary = codec_model_is_binary(model),
                            .centre = model->tables.centre};
    const taper_status status = codec_model_encoder(model, threads, "it has no codes",
                                                    &out->network, &out->analysis, error);
    return finish_opening(out, threads, status, error);
}

taper_status codec_embedder_open_pixels(codec_embedder *out, codec_window window, unsigned threads,
                                        taper_error *error) {
    *out = (codec_embedder){.window = window, .width = codec_window_values(window)};
    return finish_opening(out, threads_of(threads), TAPER_OK, error);
}

taper_status codec_embedder_shorten(codec_embedder *e, size_t units, taper_error *error) {
    if (units > e->width)
        return formats_fail(error, TAPER_ERR_ARG, "codes have only %zu units", e->width);
    if (units) e->width = units;
    return TAPER_OK;
}

void codec_embedder_close(codec_embedder *e) {
    codec_pool_destroy(e->pool);
    free(e->analysis);
    *e = (codec_embedder){.width = 0};
}

/* --- images ---------------------------------------------------------------------------- */

/* Nonzero if the image is one window without scaling. Models that scale take samples of 8 bits, as
 * in training. */
static int fits(const codec_embedder *e, const taper_image *image) {
    return image->width == e->window.width && image->height == e->window.height &&
           (image->depth == 8 || !e->scales);
}

taper_status codec_embedder_fit(const codec_embedder *e, taper_image *image, taper_error *error) {
    taper_image scaled;
    if (!e->scales || fits(e, image)) return TAPER_OK;
    if (taper_image_scale(image, e->window.width, e->window.height, &scaled, NULL) != TAPER_OK)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to scale the image");
    formats_image_free(image);
    *image = scaled;
    return TAPER_OK;
}

/* Read the image as one window; it is scaled if necessary. */
static taper_status read_window(const codec_embedder *e, const taper_image *image, float *pixels) {
    taper_image scaled;
    if (fits(e, image)) {
        codec_windows_read(e->window, image, pixels);
        return TAPER_OK;
    }
    TAPER_TRY(taper_image_scale(image, e->window.width, e->window.height, &scaled, NULL));
    codec_windows_read(e->window, &scaled, pixels);
    formats_image_free(&scaled);
    return TAPER_OK;
}

taper_status codec_embedder_check(const codec_embedder *e, const taper_image *image,
                                  taper_error *error) {
    const codec_window w = e->window;
    if (image->channels != 1 && image->channels != 3)
        return formats_fail_fact(error, TAPER_ERR_UNSUPPORTED, TAPER_FACT_ALPHA, 0,
                                 "image has an alpha channel, which codes do not represent");
    if (image->channels == 3 && w.channels == 1)
        return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                            e->has_network
                                ? "image is in colour but the model is for grey images; use a "
                                  "colour model, or make it grey"
                                : "image is in colour but the first one is grey; make all grey, "
                                  "or all coloured");
    if (e->scales || fits(e, image)) return TAPER_OK;
    return formats_fail_fact(
        error, TAPER_ERR_UNSUPPORTED, e->has_network ? TAPER_FACT_IMAGE_SIZE : TAPER_FACT_NONE, 0,
        e->has_network ? "image is %u x %u pixels but a code of the model is of %u x %u"
                       : "image is %u x %u pixels but the first one is %u x %u; bring all to one "
                         "size",
        image->width, image->height, w.width, w.height);
}

/* --- codes ----------------------------------------------------------------------------- */

typedef struct embed_task {
    const codec_embedder *embedder;
    const taper_image *images;
    size_t n;
    float *codes;
    atomic_int status;
} embed_task;

/* Turn margins into bits, as the decoder of a binary model gets them; in an embedding model 0 and
 * 1. */
static void make_bits(const codec_embedder *e, float *codes, size_t n) {
    for (size_t i = 0; i < n; i++) codes[i] = (codes[i] > 0 ? 1.0f : 0.0f) - e->centre;
}

/* Compute codes[rows][units], with all units. */
static taper_status encode_rows(const codec_embedder *e, const taper_image *images, size_t rows,
                                float *codes) {
    const size_t inputs = e->network.inputs;
    codec_backend backend = e->backend; /* a copy, as the network's argument is not const */
    float *pixels = malloc(rows * inputs * sizeof *pixels);
    if (!pixels) return TAPER_ERR_NOMEM;
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < rows && !status; i++)
        status = read_window(e, &images[i], pixels + i * inputs);
    if (!status) status = codec_network_encode(&e->network, &backend, pixels, rows, codes);
    free(pixels);
    if (!status && e->is_binary && !e->keeps_margins) make_bits(e, codes, rows * e->network.units);
    return status;
}

/* The same, with the first `width` units of each. */
static taper_status encode_prefixes(const codec_embedder *e, const taper_image *images, size_t rows,
                                    float *codes) {
    const size_t units = e->network.units;
    if (e->width == units) return encode_rows(e, images, rows, codes);
    float *whole = malloc(rows * units * sizeof *whole);
    taper_status status = whole ? encode_rows(e, images, rows, whole) : TAPER_ERR_NOMEM;
    for (size_t i = 0; i < rows && !status; i++)
        memcpy(codes + i * e->width, whole + i * units, e->width * sizeof *codes);
    free(whole);
    return status;
}

static void embed_block(void *context, size_t block) {
    embed_task *t = context;
    const size_t first = block * ROWS, rows = formats_smaller(ROWS, t->n - first);
    const codec_embedder *e = t->embedder;
    float *codes = t->codes + first * e->width;
    if (!e->has_network) {
        for (size_t i = 0; i < rows; i++)
            codec_windows_read(e->window, &t->images[first + i], codes + i * e->width);
        return;
    }
    const taper_status status = encode_prefixes(e, t->images + first, rows, codes);
    if (status) atomic_store(&t->status, (int)status);
}

taper_status codec_embedder_codes(const codec_embedder *e, const taper_image *images, size_t n,
                                  float *codes, taper_error *error) {
    embed_task t = {.embedder = e, .images = images, .n = n, .codes = codes};
    codec_pool_run(e->pool, embed_block, &t, n / ROWS + (n % ROWS != 0));
    const taper_status status = (taper_status)atomic_load(&t.status);
    if (status) return formats_fail(error, status, "no memory to make codes");
    for (size_t i = 0; i < n * e->width; i++)
        if (!isfinite(codes[i]))
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "the model's weights overflow: image %zu has a code with a number "
                                "that is not finite",
                                i / e->width);
    return TAPER_OK;
}

/* --- the public interface -------------------------------------------------------------- */

static taper_status check_all(const codec_embedder *e, const taper_image *images, size_t n,
                              taper_error *error) {
    taper_error why = {.status = TAPER_OK};
    for (size_t i = 0; i < n; i++) {
        if (!formats_image_is_legal(&images[i]))
            return formats_fail(error, TAPER_ERR_ARG,
                                "image %zu has no pixels, no width or height, or is of an illegal "
                                "kind",
                                i);
        why.item = i + 1;
        if (codec_embedder_check(e, &images[i], &why))
            return formats_fail_as(error, TAPER_ERR_ARG, &why, "image %zu: %s", i, why.text);
    }
    return TAPER_OK;
}

static taper_status embed(const taper_model *model, const taper_image *images, size_t n,
                          unsigned threads, int keeps_margins, float *codes, taper_error *error) {
    TAPER_TRY(formats_need(model, "the model", error));
    TAPER_TRY(codec_model_need_whole(model, "a code of an image", error));
    TAPER_TRY(formats_need_array(images, n, sizeof *images, "the images", error));
    TAPER_TRY(formats_need_array(codes, n, model->network.units * sizeof *codes, "codes", error));
    codec_embedder e = {.window = model->window,
                        .scales = !codec_network_has_decoder(&model->network),
                        .has_network = 1};
    TAPER_TRY(check_all(&e, images, n, error));
    if (!n) return TAPER_OK;
    TAPER_TRY(codec_embedder_open(&e, model, threads, error));
    e.keeps_margins = keeps_margins;
    const taper_status status = codec_embedder_codes(&e, images, n, codes, error);
    codec_embedder_close(&e);
    return status;
}

taper_status taper_embed(const taper_model *model, const taper_image *images, size_t n,
                         unsigned threads, float *codes, taper_error *error) {
    return embed(model, images, n, threads, 0, codes, error);
}

taper_status taper_embed_margins(const taper_model *model, const taper_image *images, size_t n,
                                 unsigned threads, float *margins, taper_error *error) {
    return embed(model, images, n, threads, 1, margins, error);
}
