/* regroup_exact.c -- see regroup_exact.h. */
#include "codec/contents/regroup_exact.h"
#include "codec/chunks/checked_blocks.h"
#include "codec/decoder/open_container.h"
#include "codec/exact/exact.h"
#include "codec/taper.h"
#include "formats/image.h"
#include <stdlib.h>

/* The images that stay, exact and lossy. */
typedef struct kept_images {
    const codec_regrouping *of;
    taper_image *exact, *lossy; /* [n] */
    size_t n;
    uint32_t width;
    uint64_t charged;
} kept_images;

static void free_images(kept_images *k) {
    for (size_t i = 0; i < k->n; i++) free(k->exact[i].pixels), free(k->lossy[i].pixels);
    free(k->exact), free(k->lossy);
    formats_account_give(k->of->account, k->charged);
}

static taper_status take_pixels(kept_images *k, const formats_geometry *of, taper_image *to,
                                taper_error *error) {
    *to = (taper_image){of->width, of->height, (uint8_t)(of->channels + (of->alpha != 0)),
                        of->depth, NULL};
    const uint64_t bytes = formats_image_bytes(to);
    if (formats_account_take(k->of->account, bytes) != TAPER_OK)
        return formats_fail_fact(error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY,
                                 formats_account_step(k->of->account, bytes),
                                 "coding exact images again takes more memory than is left");
    k->charged += bytes;
    to->pixels = malloc((size_t)bytes);
    return to->pixels ? TAPER_OK : formats_fail(error, TAPER_ERR_NOMEM, "no memory for an image");
}

/* Decode image `number` both ways. */
static taper_status add_image(kept_images *k, uint32_t number, taper_decoder *exact,
                              taper_decoder *lossy, taper_error *error) {
    const formats_geometry *of = &k->of->front->geometry[number];
    taper_completeness done;
    const size_t i = k->n++;
    if (of->width > k->width) k->width = of->width;
    TAPER_TRY(take_pixels(k, of, &k->exact[i], error));
    TAPER_TRY(take_pixels(k, of, &k->lossy[i], error));
    TAPER_TRY(taper_decoder_render(lossy, number, &k->lossy[i], NULL, error));
    TAPER_TRY(taper_decoder_render(exact, number, &k->exact[i], &done, error));
    if (done.exact_rows == of->height) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_CORRUPT, "the exact layer of image %u ends early", number);
}

static taper_status decode_kept(kept_images *k, uint32_t g, taper_decoder *exact,
                                taper_decoder *lossy, taper_error *error) {
    const formats_front *f = k->of->front;
    const uint32_t first = f->group_first[g], n = f->group_first[g + 1] - first;
    k->exact = calloc(n, sizeof *k->exact), k->lossy = calloc(n, sizeof *k->lossy);
    if (!k->exact || !k->lossy)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a group");
    codec_decoder_leave_out_exact(lossy);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t number = formats_front_image(f, first + i);
        if (k->of->keep[number]) TAPER_TRY(add_image(k, number, exact, lossy, error));
    }
    return TAPER_OK;
}

static taper_status encode_kept(const kept_images *k, formats_buffer *out, taper_error *error) {
    codec_exact *coder;
    const size_t start = out->size;
    taper_status status = codec_exact_open(&coder, k->width, 4, k->of->account);
    if (status == TAPER_OK) {
        status = codec_exact_encode(coder, k->exact, k->lossy, k->n, out);
        codec_exact_close(coder);
    }
    if (status == TAPER_OK && out->size == start) status = formats_write_u8(out, 0);
    return status == TAPER_OK ? status
                              : formats_fail(error, status, "no memory to code exact images again");
}

taper_status codec_regroup_exact(const codec_regrouping *of, uint32_t g, formats_buffer *out,
                                 taper_error *error) {
    const formats_front *f = of->front;
    const taper_limits limits = {.size = sizeof limits, .max_memory = of->account->limit};
    const taper_open_options how = {.size = sizeof how, .model = of->model, .limits = &limits};
    kept_images kept = {.of = of, .width = 1};
    taper_container *container;
    taper_decoder *exact = NULL, *lossy = NULL;
    if (codec_chunk_is_cut(f, f->layers - 1, g))
        return formats_fail(
            error, TAPER_ERR_UNSUPPORTED,
            "images that share an exact part that was cut cannot be separated; cut "
            "the container to %llu bytes before, where that part begins",
            (unsigned long long)(f->front_size +
                                 f->chunk_at[(f->layers - 1) * (uint64_t)f->groups] +
                                 (of->whole->size - of->source->size)));
    TAPER_TRY(taper_container_open(&container, of->whole, &how, error));
    taper_status status = taper_decoder_new(&exact, container, NULL, error);
    if (status == TAPER_OK) status = taper_decoder_new(&lossy, container, NULL, error);
    if (status == TAPER_OK) status = decode_kept(&kept, g, exact, lossy, error);
    if (status == TAPER_OK) status = encode_kept(&kept, out, error);
    free_images(&kept);
    taper_decoder_free(exact), taper_decoder_free(lossy);
    taper_container_close(container);
    return status;
}
