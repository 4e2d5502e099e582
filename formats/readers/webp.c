/* webp.c -- WebP by libwebp, its animations and metadata by libwebpdemux. */
#include "formats/image.h"
#include "formats/metadata/exif.h"
#include "formats/readers/reader.h"
#include "formats/readers/samples.h"
#include "formats/readers/vp8_noise.h"
#include <stdlib.h>

#ifdef LATE_LIBRARY
#include <webp/decode.h>
#include <webp/demux.h>

/* clang-format off */
#define DECODER(ONE) ONE(WebPDecodeRGBInto) ONE(WebPDecodeRGBAInto)
#define DEMUXER(ONE) ONE(WebPDemuxInternal) ONE(WebPDemuxDelete) ONE(WebPDemuxGetI) \
    ONE(WebPDemuxGetFrame) ONE(WebPDemuxReleaseIterator) ONE(WebPDemuxGetChunk) \
    ONE(WebPDemuxReleaseChunkIterator) ONE(WebPAnimDecoderOptionsInitInternal) \
    ONE(WebPAnimDecoderNewInternal) ONE(WebPAnimDecoderGetNext) ONE(WebPAnimDecoderReset) \
    ONE(WebPAnimDecoderDelete)
/* clang-format on */
FORMATS_LATE_LIBRARY(lib, LATE_LIBRARY, DECODER);
FORMATS_LATE_LIBRARY(demux, LATE_LIBRARY_2, DEMUXER);
static const formats_late_library *const libraries[] = {&lib_library, &demux_library, NULL};

/* Bytes a pixel that libwebp works in: two canvases and the pixels of a lossless image. */
enum { WORKING_BYTES = 12 };

typedef struct webp_state {
    WebPDemuxer *parts;
    WebPAnimDecoder *frames; /* NULL: no frame of an animation was read yet */
    uint32_t next;           /* the frame that `frames` decodes next */
    uint32_t width, height;
    unsigned flags;
} webp_state;

static taper_status fail_damaged(taper_error *error) {
    return formats_fail(error, TAPER_ERR_CORRUPT,
                        "the WebP is damaged or ends early; fetch it anew");
}

static taper_status webp_open(formats_picture *p, taper_error *error) {
    const WebPData data = {p->bytes, p->size};
    webp_state *s = p->state = calloc(1, sizeof *s);
    if (!s) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to decode a WebP");
    s->parts = demux.WebPDemuxInternal(&data, 0, NULL, WEBP_DEMUX_ABI_VERSION);
    if (!s->parts) return fail_damaged(error);
    s->width = demux.WebPDemuxGetI(s->parts, WEBP_FF_CANVAS_WIDTH);
    s->height = demux.WebPDemuxGetI(s->parts, WEBP_FF_CANVAS_HEIGHT);
    s->flags = demux.WebPDemuxGetI(s->parts, WEBP_FF_FORMAT_FLAGS);
    p->frames = demux.WebPDemuxGetI(s->parts, WEBP_FF_FRAME_COUNT);
    if (!p->frames) return fail_damaged(error);
    TAPER_TRY(formats_image_check(s->width, s->height, 4, 8, &p->limits, NULL, error));
    return formats_samples_check_room(s->width, s->height, WORKING_BYTES, &p->limits, error);
}

static int has_alpha(const webp_state *s) {
    WebPIterator frame;
    if (!demux.WebPDemuxGetFrame(s->parts, 1, &frame)) return 0;
    const int has = frame.has_alpha;
    demux.WebPDemuxReleaseIterator(&frame);
    return has;
}

static taper_status read_still(const formats_picture *p, taper_image *out, taper_error *error) {
    const webp_state *s = p->state;
    const unsigned channels = has_alpha(s) ? 4 : 3;
    TAPER_TRY(formats_image_make(out, s->width, s->height, channels, 8, &p->limits, error));
    const size_t bytes = formats_image_bytes(out);
    const int stride = (int)(s->width * channels);
    const uint8_t *done =
        channels == 4 ? lib.WebPDecodeRGBAInto(p->bytes, p->size, out->pixels, bytes, stride)
                      : lib.WebPDecodeRGBInto(p->bytes, p->size, out->pixels, bytes, stride);
    return done ? TAPER_OK : fail_damaged(error);
}

/* The frame on its canvas, after those before it. */
static taper_status read_frame(const formats_picture *p, uint32_t number, taper_image *out,
                               taper_error *error) {
    const WebPData data = {p->bytes, p->size};
    webp_state *s = p->state;
    WebPAnimDecoderOptions how;
    uint8_t *canvas = NULL;
    int time;
    if (!s->frames && demux.WebPAnimDecoderOptionsInitInternal(&how, WEBP_DEMUX_ABI_VERSION)) {
        how.color_mode = MODE_RGBA;
        s->frames = demux.WebPAnimDecoderNewInternal(&data, &how, WEBP_DEMUX_ABI_VERSION);
    }
    if (!s->frames) return fail_damaged(error);
    if (number < s->next) {
        demux.WebPAnimDecoderReset(s->frames);
        s->next = 0;
    }
    for (; s->next <= number; s->next++)
        if (!demux.WebPAnimDecoderGetNext(s->frames, &canvas, &time)) return fail_damaged(error);
    TAPER_TRY(formats_image_make(out, s->width, s->height, 4, 8, &p->limits, error));
    uint8_t *to = out->pixels;
    for (size_t i = 0; i < formats_image_bytes(out); i++) to[i] = canvas[i];
    return TAPER_OK;
}

static taper_status take_chunk(const webp_state *s, const char *name, unsigned kind,
                               formats_metadata *m, taper_error *error) {
    WebPChunkIterator chunk;
    if (!demux.WebPDemuxGetChunk(s->parts, name, 1, &chunk)) return TAPER_OK;
    const taper_status status =
        formats_samples_take(m, kind, chunk.chunk.bytes, chunk.chunk.size, error);
    demux.WebPDemuxReleaseChunkIterator(&chunk);
    return status;
}

static taper_status webp_read(formats_picture *p, uint32_t frame, taper_image *out,
                              formats_metadata *metadata, taper_error *error) {
    const webp_state *s = p->state;
    TAPER_TRY(take_chunk(s, "ICCP", FORMATS_LEFT_ICC, metadata, error));
    TAPER_TRY(take_chunk(s, "EXIF", FORMATS_LEFT_EXIF, metadata, error));
    TAPER_TRY(take_chunk(s, "XMP ", FORMATS_LEFT_XMP, metadata, error));
    TAPER_TRY(s->flags & ANIMATION_FLAG ? read_frame(p, frame, out, error)
                                        : read_still(p, out, error));
    metadata->quantisation_mse =
        formats_webp_noise(p->bytes, p->size, (uint64_t)s->width * s->height);
    return formats_image_orient(out,
                                formats_exif_orientation(metadata->exif.bytes, metadata->exif.size),
                                &p->limits, error);
}

static void webp_close(formats_picture *p) {
    webp_state *s = p->state;
    if (!s) return;
    if (s->frames) demux.WebPAnimDecoderDelete(s->frames);
    if (s->parts) demux.WebPDemuxDelete(s->parts);
    free(s);
}
#endif

const formats_reader formats_webp_reader = {
    .name = "WebP",
    .package = "libwebp-dev",
#ifdef LATE_LIBRARY
    .is_sequential = 1,
    .libraries = libraries,
    .open = webp_open,
    .read = webp_read,
    .close = webp_close,
#endif
};
