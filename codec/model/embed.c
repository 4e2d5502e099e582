/* embed.c -- taper_embedder_*: codes of images, one window each; see codec/taper_model.h. */
#include "codec/backend/pool.h"
#include "codec/model/model.h"
#include "codec/taper_quality.h"
#include "formats/image.h"
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { ROWS = 96, MOST_THREADS = 256 }; /* images in a block; codes do not depend on it */

struct taper_embedder {
    const taper_model *model;
    codec_network network; /* the model's, with an analysis matrix (pseudo_inverse.h) */
    float *analysis;       /* owned; NULL: the model has one */
    codec_backend backend; /* without a pool: one thread computes a block */
    codec_pool *pool;
};

taper_status taper_embedder_new(taper_embedder **out, const taper_model *model, unsigned threads,
                                taper_error *error) {
    TAPER_TRY(formats_need(out, "the embedder's place", error));
    *out = NULL;
    TAPER_TRY(formats_need(model, "the model", error));
    TAPER_TRY(codec_model_need_whole(model, "a code of an image", error));
    threads = threads ? (unsigned)formats_smaller(threads, MOST_THREADS) : codec_pool_cores();
    taper_embedder *e = calloc(1, sizeof *e);
    if (!e) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to make codes");
    e->model = model;
    codec_backend_cpu(&e->backend);
    taper_status status =
        codec_model_encoder(model, threads, "it has no codes", &e->network, &e->analysis, error);
    if (!status && threads > 1) status = codec_pool_create(&e->pool, threads);
    if (status == TAPER_ERR_NOMEM) formats_fail(error, status, "no memory to make codes");
    if (status)
        taper_embedder_free(e);
    else
        *out = e;
    return status;
}

void taper_embedder_free(taper_embedder *e) {
    if (!e) return;
    codec_pool_destroy(e->pool);
    free(e->analysis);
    free(e);
}

/* --- images ---------------------------------------------------------------------------- */

/* Embedding models take images of any size. */
static int scales(const taper_model *model) { return !codec_network_has_decoder(&model->network); }

/* Nonzero if the image is one window without scaling. Models that scale take samples of 8 bits, as
 * in training. */
static int fits(const taper_model *model, const taper_image *image) {
    return image->width == model->window.width && image->height == model->window.height &&
           (image->depth == 8 || !scales(model));
}

static taper_status read_gradients(const taper_model *model, const taper_image *image,
                                   float *inputs) {
    const size_t n = model->network.inputs;
    uint8_t *value = malloc(n);
    if (!value) return TAPER_ERR_NOMEM;
    const taper_status status = codec_gradients_of_image(model->window, model->cells, image, value);
    for (size_t i = 0; i < n && !status; i++) inputs[i] = value[i];
    free(value);
    return status;
}

/* Read the image as one window, or its gradients; it is scaled if necessary. */
static taper_status read_inputs(const taper_model *model, const taper_image *image, float *inputs) {
    taper_image scaled = {0};
    taper_status status = TAPER_OK;
    if (!fits(model, image)) {
        TAPER_TRY(
            taper_image_scale(image, model->window.width, model->window.height, &scaled, NULL));
        image = &scaled;
    }
    if (model->cells.across)
        status = read_gradients(model, image, inputs);
    else
        codec_windows_read(model->window, image, inputs);
    formats_image_free(&scaled);
    return status;
}

static taper_status check_image(const taper_model *model, const taper_image *image,
                                taper_error *error) {
    const codec_window w = model->window;
    if (image->channels != 1 && image->channels != 3)
        return formats_fail_fact(error, TAPER_ERR_UNSUPPORTED, TAPER_FACT_ALPHA, 0,
                                 "image has an alpha channel, which codes do not represent");
    if (image->channels == 3 && w.channels == 1)
        return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                            "image is in colour but the model is for grey images; use a colour "
                            "model, or make it grey");
    if (scales(model) || fits(model, image)) return TAPER_OK;
    return formats_fail_fact(error, TAPER_ERR_UNSUPPORTED, TAPER_FACT_IMAGE_SIZE, 0,
                             "image is %u x %u pixels but a code of the model is of %u x %u",
                             image->width, image->height, w.width, w.height);
}

taper_status taper_model_check_image(const taper_model *model, const taper_image *image,
                                     taper_error *error) {
    TAPER_TRY(formats_need(model, "the model", error));
    TAPER_TRY(formats_need(image, "the image", error));
    taper_image shape = *image;
    shape.pixels = &shape; /* they are not looked at */
    if (!formats_image_is_legal(&shape))
        return formats_fail(error, TAPER_ERR_ARG,
                            "the image has no width or height, or is of an illegal kind");
    return check_image(model, image, error);
}

static taper_status check_all(const taper_model *model, const taper_image *images, size_t n,
                              taper_error *error) {
    taper_error why = {.status = TAPER_OK};
    for (size_t i = 0; i < n; i++) {
        if (!formats_image_is_legal(&images[i]))
            return formats_fail(error, TAPER_ERR_ARG,
                                "image %zu has no pixels, no width or height, or is of an illegal "
                                "kind",
                                i);
        why.item = i + 1;
        if (check_image(model, &images[i], &why))
            return formats_fail_as(error, TAPER_ERR_ARG, &why, "image %zu: %s", i, why.text);
    }
    return TAPER_OK;
}

/* --- codes ----------------------------------------------------------------------------- */

typedef struct embed_task {
    const taper_embedder *embedder;
    const taper_image *images;
    size_t n;
    float *codes;
    int makes_bits;
    atomic_int status;
} embed_task;

/* Turn margins into bits, as the decoder of a binary model gets them; in an embedding model 0 and
 * 1. */
static void make_bits(float centre, float *codes, size_t n) {
    for (size_t i = 0; i < n; i++) codes[i] = (codes[i] > 0 ? 1.0f : 0.0f) - centre;
}

static taper_status encode_rows(const embed_task *t, size_t first, size_t rows) {
    const taper_embedder *e = t->embedder;
    const size_t n = e->network.inputs, units = e->network.units;
    float *codes = t->codes + first * units, *inputs = malloc(rows * n * sizeof *inputs);
    codec_backend backend = e->backend; /* a copy, as the network's argument is not const */
    if (!inputs) return TAPER_ERR_NOMEM;
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < rows && !status; i++)
        status = read_inputs(e->model, &t->images[first + i], inputs + i * n);
    if (!status) status = codec_network_encode(&e->network, &backend, inputs, rows, codes);
    free(inputs);
    if (!status && t->makes_bits) make_bits(e->model->tables.centre, codes, rows * units);
    return status;
}

static void embed_block(void *context, size_t block) {
    embed_task *t = context;
    const size_t first = block * ROWS;
    const taper_status status = encode_rows(t, first, formats_smaller(ROWS, t->n - first));
    if (status) atomic_store(&t->status, (int)status);
}

static taper_status embed(taper_embedder *e, const taper_image *images, size_t n, int makes_bits,
                          float *codes, taper_error *error) {
    TAPER_TRY(formats_need(e, "the embedder", error));
    const size_t units = e->network.units;
    TAPER_TRY(formats_need_array(images, n, sizeof *images, "the images", error));
    TAPER_TRY(formats_need_array(codes, n, units * sizeof *codes, "codes", error));
    TAPER_TRY(check_all(e->model, images, n, error));
    embed_task t = {e, images, n, codes, makes_bits && codec_model_is_binary(e->model), 0};
    codec_pool_run(e->pool, embed_block, &t, n / ROWS + (n % ROWS != 0));
    const taper_status status = (taper_status)atomic_load(&t.status);
    if (status) return formats_fail(error, status, "no memory to make codes");
    for (size_t i = 0; i < n * units; i++)
        if (!isfinite(codes[i]))
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "the model's weights overflow: image %zu has a code with a number "
                                "that is not finite",
                                i / units);
    return TAPER_OK;
}

taper_status taper_embedder_codes(taper_embedder *e, const taper_image *images, size_t n,
                                  float *codes, taper_error *error) {
    return embed(e, images, n, 1, codes, error);
}

taper_status taper_embedder_margins(taper_embedder *e, const taper_image *images, size_t n,
                                    float *margins, taper_error *error) {
    return embed(e, images, n, 0, margins, error);
}
