/* repack_exact.c -- see repack_exact.h. */
#include "codec/container/repack_exact.h"
#include "codec/container/encoder_layers.h"
#include "codec/container/encoder_set.h"
#include "formats/image.h"
#include <stdlib.h>

int codec_is_exact(const formats_front *f, const taper_source *from) {
    const uint32_t last = f->layers - 1;
    const uint64_t chunks = (uint64_t)f->layers * f->groups;
    if (formats_front_layer_kind(f, last) != FORMATS_LAYER_EXACT || f->tail ||
        from->size < f->front_size + f->chunk_at[chunks])
        return 0;
    for (uint64_t c = (uint64_t)last * f->groups; c < chunks; c++)
        if (f->chunk_at[c + 1] == f->chunk_at[c]) return 0;
    return 1;
}

/* Encode image i. */
static taper_status repack_image(taper_encoder *encoder, taper_decoder *decoder,
                                 const formats_front *front, uint32_t i, const taper_limits *limits,
                                 taper_error *error) {
    const formats_geometry *of = &front->geometry[i];
    const uint8_t channels = (uint8_t)(of->channels + (of->alpha != 0));
    taper_image image;
    taper_completeness done;
    TAPER_TRY(
        formats_image_make(&image, of->width, of->height, channels, of->depth, limits, error));
    taper_status status = taper_decoder_render(decoder, i, &image, &done, error);
    if (status == TAPER_OK && done.exact_rows < of->height)
        status = formats_fail(error, TAPER_ERR_CORRUPT,
                              "the exact layer of image %u ends early: fetch the file again", i);
    if (status == TAPER_OK)
        status = taper_encoder_add(encoder, &image, formats_front_name(front, i),
                                   front->label ? front->label[i] : -1, error);
    formats_image_free(&image);
    return status;
}

static taper_status repack_images(taper_encoder *encoder, const formats_front *front,
                                  const taper_source *from, const taper_model *model,
                                  const taper_limits *limits, taper_error *error) {
    const taper_open_options how = {.size = sizeof how, .model = model, .limits = limits};
    taper_container *container;
    taper_decoder *decoder = NULL;
    TAPER_TRY(taper_container_open(&container, from, &how, error));
    taper_status status = taper_decoder_new(&decoder, container, NULL, error);
    for (uint32_t i = 0; i < front->images && status == TAPER_OK; i++)
        status = repack_image(encoder, decoder, front, i, limits, error);
    taper_decoder_free(decoder);
    taper_container_close(container);
    return status;
}

taper_status codec_copy_classes(taper_encoder *encoder, const formats_front *front,
                                taper_error *error) {
    if (!front->label) return TAPER_OK;
    const char **name = malloc(((size_t)front->classes + 1) * sizeof *name);
    if (!name) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for class names");
    for (uint32_t k = 0; k < front->classes; k++) name[k] = formats_front_class_name(front, k);
    const taper_status status = taper_encoder_set_classes(encoder, name, front->classes, error);
    free(name);
    return status;
}

taper_status codec_repack_exact(const formats_front *front, const taper_source *from,
                                const taper_model *model, const taper_encode_options *options,
                                const taper_sink *to, taper_error *error) {
    taper_encode_options o = *options;
    taper_encoder *encoder;
    o.lossless = 1;
    if (front->rate_classes == 1) o.target_bytes_per_megapixel = UINT32_MAX; /* all passes */
    TAPER_TRY(taper_encoder_new(&encoder, model, &o, error));
    if (front->rate_classes == 1)
        codec_encoder_limit_passes(encoder, formats_front_layer_end(front, front->layers - 1, 0));
    taper_status status = codec_copy_classes(encoder, front, error);
    if (status == TAPER_OK)
        status = repack_images(encoder, front, from, model, options->limits, error);
    if (status == TAPER_OK) status = codec_encoder_take_search_codes(encoder, front, error);
    if (status == TAPER_OK) status = codec_encoder_take_names(encoder, front, error);
    if (status == TAPER_OK) status = codec_encoder_take_metadata(encoder, front, error);
    if (status == TAPER_OK) status = taper_encoder_finish(encoder, 0, to, error);
    taper_encoder_free(encoder);
    return status;
}
