/* open_decoder.h -- a decoder with a container of its own, for tests that need one decoder. */
#ifndef TESTS_OPEN_DECODER_H
#define TESTS_OPEN_DECODER_H
#include "codec/decoder/decoder.h"

/* Open a container and a decoder of it; free both with close_decoder. */
static inline taper_status open_decoder(taper_decoder **out, const taper_source *source,
                                        const taper_model *model, const taper_limits *limits,
                                        taper_error *error) {
    const taper_open_options options = {.size = sizeof options, .model = model, .limits = limits};
    taper_container *container;
    if (out) *out = NULL;
    TAPER_TRY(taper_container_open(&container, source, &options, error));
    const taper_status status = taper_decoder_new(out, container, NULL, error);
    if (status != TAPER_OK) taper_container_close(container);
    return status;
}

static inline taper_status stream_decoder(taper_decoder **out, const taper_model *model,
                                          const taper_limits *limits, taper_error *error) {
    const taper_open_options options = {.size = sizeof options, .model = model, .limits = limits};
    return taper_decoder_new_streaming(out, &options, error);
}

/* For decoders of both kinds. */
static inline void close_decoder(taper_decoder *decoder) {
    taper_container *container = NULL;
    if (decoder && decoder->feed == CODEC_FEED_SOURCE)
        container = (taper_container *)decoder->container;
    taper_decoder_free(decoder);
    taper_container_close(container);
}

#endif
