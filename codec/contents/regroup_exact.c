/* regroup_exact.c -- see regroup_exact.h. */
#include "codec/contents/regroup_exact.h"
#include "codec/exact/exact.h"
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

/* Decode image `before` as it was, and as the layers before the exact one show it now. */
static taper_status add_image(kept_images *k, const codec_exact_regrouping *r, uint32_t before,
                              uint32_t after, taper_error *error) {
    const formats_geometry *of = &k->of->front->geometry[before];
    taper_completeness done;
    const size_t i = k->n++;
    if (of->width > k->width) k->width = of->width;
    TAPER_TRY(take_pixels(k, of, &k->exact[i], error));
    TAPER_TRY(take_pixels(k, of, &k->lossy[i], error));
    TAPER_TRY(taper_decoder_render(r->lossy, after, &k->lossy[i], NULL, error));
    TAPER_TRY(taper_decoder_render(r->exact, before, &k->exact[i], &done, error));
    if (done.exact_rows == of->height) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_CORRUPT, "the exact layer of image %u ends early", before);
}

/* Places keep their order. */
static taper_status decode_kept(kept_images *k, const codec_exact_regrouping *r, uint32_t g,
                                uint32_t group, taper_error *error) {
    const formats_front *f = k->of->front;
    const uint32_t first = f->group_first[g], n = f->group_first[g + 1] - first;
    uint32_t place = r->result->group_first[group];
    k->exact = calloc(n, sizeof *k->exact), k->lossy = calloc(n, sizeof *k->lossy);
    if (!k->exact || !k->lossy)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a group");
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t before = formats_front_image(f, first + i);
        if (!k->of->keep[before]) continue;
        TAPER_TRY(add_image(k, r, before, formats_front_image(r->result, place++), error));
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

taper_status codec_regroup_exact(const codec_exact_regrouping *r, uint32_t g, uint32_t group,
                                 formats_buffer *out, taper_error *error) {
    kept_images kept = {.of = r->of, .width = 1};
    taper_status status = decode_kept(&kept, r, g, group, error);
    if (status == TAPER_OK) status = encode_kept(&kept, out, error);
    free_images(&kept);
    return status;
}

/* --- the containers ---------------------------------------------------------------------- */

static taper_status open_both(codec_exact_regrouping *r, const taper_source *made,
                              taper_error *error) {
    const taper_limits limits = {.size = sizeof limits, .max_memory = r->of->account->limit};
    const taper_open_options how = {.size = sizeof how, .model = r->of->model, .limits = &limits};
    TAPER_TRY(taper_container_open(&r->before, r->of->file, &how, error));
    TAPER_TRY(taper_container_open(&r->after, made, &how, error));
    TAPER_TRY(taper_decoder_new(&r->exact, r->before, NULL, error));
    return taper_decoder_new(&r->lossy, r->after, NULL, error);
}

taper_status codec_exact_regrouping_open(codec_exact_regrouping *out, const codec_regrouping *of,
                                         const formats_front *result, const taper_source *made,
                                         taper_error *error) {
    *out = (codec_exact_regrouping){.of = of, .result = result};
    const taper_status status = open_both(out, made, error);
    if (status != TAPER_OK) codec_exact_regrouping_close(out);
    return status;
}

void codec_exact_regrouping_close(codec_exact_regrouping *r) {
    taper_decoder_free(r->exact), taper_decoder_free(r->lossy);
    taper_container_close(r->before), taper_container_close(r->after);
    *r = (codec_exact_regrouping){0};
}
