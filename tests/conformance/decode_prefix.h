/* decode_prefix.h -- what the library makes of the first bytes of a file: one line of the manifest.
 * For the program that writes the manifest and the test that reads it. */
#ifndef TESTS_CONFORMANCE_DECODE_PREFIX_H
#define TESTS_CONFORMANCE_DECODE_PREFIX_H
#include "tests/open_decoder.h"
#include "codec/decoder/levels.h"
#include "codec/taper.h"
#include "formats/file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PICTURES = 40 };

typedef struct prefix_result {
    const char *outcome; /* a word of the manifest */
    uint32_t levels;     /* CRC32C of the text of codec/decoder/levels.h */
    uint32_t pictures;
    uint32_t pixels[MOST_PICTURES]; /* CRC32C of each image's samples */
    uint8_t depth[MOST_PICTURES];
    size_t end[MOST_PICTURES]; /* of each image's, in: */
    formats_buffer samples;    /* of all: 16 bits most significant byte first */
} prefix_result;

static inline const char *outcome_of(taper_status status) {
    return status == TAPER_OK                                               ? "ok"
           : status == TAPER_ERR_TRUNCATED                                  ? "incomplete"
           : status == TAPER_ERR_CORRUPT                                    ? "corrupt"
           : status == TAPER_ERR_MODEL                                      ? "other-model"
           : status == TAPER_ERR_VERSION || status == TAPER_ERR_UNSUPPORTED ? "unknown"
                                                                            : "fault";
}

static inline taper_status sum_text(void *user, const void *text, size_t n) {
    *(uint32_t *)user = formats_crc32c(*(uint32_t *)user, text, n);
    return TAPER_OK;
}

/* Image i: its samples and their checksum. */
static inline taper_status take_picture(taper_decoder *decoder, uint32_t i, prefix_result *r) {
    taper_image_info info = {.size = sizeof info};
    if (taper_container_get_image(taper_decoder_container(decoder), i, &info, NULL) != TAPER_OK)
        abort();
    taper_image out = {.pixels = malloc((size_t)info.bytes)};
    if (!out.pixels) abort();
    taper_status status = taper_decoder_render(decoder, i, &out, NULL, NULL);
    size_t samples = (size_t)info.width * info.height * info.channels, start = r->samples.size;
    for (size_t k = 0; k < samples; k++)
        if (info.depth == 16)
            formats_write_u16be(&r->samples, ((const uint16_t *)out.pixels)[k]);
        else
            formats_write_u8(&r->samples, ((const uint8_t *)out.pixels)[k]);
    r->depth[i] = info.depth, r->end[i] = r->samples.size;
    r->pixels[i] = formats_crc32c(0, r->samples.data + start, r->samples.size - start);
    free(out.pixels);
    return status;
}

static inline taper_status take_pictures(taper_decoder *decoder, prefix_result *r) {
    taper_container_info info = {.size = sizeof info};
    taper_status worst = taper_container_get_info(taper_decoder_container(decoder), &info, NULL);
    if (worst == TAPER_OK && info.images > MOST_PICTURES) abort();
    for (uint32_t i = 0; worst != TAPER_ERR_TRUNCATED && i < info.images; i++, r->pictures++) {
        taper_status status = take_picture(decoder, i, r);
        if (status != TAPER_OK) worst = status;
    }
    return worst;
}

static inline taper_status take_levels(const taper_source *source, const taper_model *model,
                                       prefix_result *r) {
    const taper_sink sink = {&r->levels, sum_text};
    const taper_open_options options = {.size = sizeof options, .model = model};
    taper_container *container;
    TAPER_TRY(taper_container_open(&container, source, &options, NULL));
    const taper_status status = codec_levels_write(container, UINT64_MAX, &sink, NULL);
    taper_container_close(container);
    return status;
}

/* The first n bytes of a container; model NULL: its own. Free samples. */
static inline prefix_result decode_prefix(const uint8_t *bytes, size_t n,
                                          const taper_model *model) {
    prefix_result r = {.samples = formats_buffer_make(1 << 24)};
    formats_memory memory = {bytes, n};
    taper_source source = formats_memory_source(&memory);
    taper_decoder *decoder;
    taper_status status = open_decoder(&decoder, &source, model, NULL, NULL);
    r.outcome = outcome_of(status);
    taper_status levels = take_levels(&source, model, &r);
    if (status == TAPER_OK) {
        taper_status pictures = take_pictures(decoder, &r);
        r.outcome = pictures == TAPER_ERR_CORRUPT && levels == pictures ? "damaged"
                    : pictures == levels                                ? outcome_of(pictures)
                                                                        : "fault";
    }
    close_decoder(decoder);
    return r;
}

/* The same pushed, a byte at a time or all at once; levels are not looked at. */
static inline prefix_result push_prefix(const uint8_t *bytes, size_t n, size_t step,
                                        const taper_model *model) {
    prefix_result r = {.samples = formats_buffer_make(1 << 24)};
    taper_decoder *decoder;
    if (stream_decoder(&decoder, model, NULL, NULL) != TAPER_OK) abort();
    taper_status status = TAPER_OK;
    for (size_t at = 0; at < n && status == TAPER_OK; at += step)
        status = taper_decoder_push(decoder, bytes + at, n - at < step ? n - at : step, NULL);
    if (status == TAPER_OK && taper_decoder_bytes_needed(decoder)) status = TAPER_ERR_TRUNCATED;
    r.outcome = outcome_of(status);
    if (status == TAPER_OK) {
        status = take_pictures(decoder, &r);
        r.outcome = status == TAPER_ERR_CORRUPT ? "damaged" : outcome_of(status);
    }
    close_decoder(decoder);
    return r;
}

/* "incomplete" and the like for a model file. */
static inline const char *model_outcome(const uint8_t *bytes, size_t n) {
    taper_model *model;
    taper_status status = taper_model_load(&model, bytes, n, NULL, NULL);
    taper_model_free(model);
    return outcome_of(status);
}

#endif
