/* webp_writer.c -- WebP by libwebp, its metadata by libwebpmux; see writer.h. */
#include "formats/bytes.h"
#include "formats/image.h"
#include "formats/late/late_library.h"
#include "formats/writers/writer.h"
#include <stdlib.h>
#include <string.h>

#ifdef LATE_LIBRARY
#include <webp/encode.h>
#include <webp/mux.h>

/* clang-format off */
#define ENCODER(ONE) ONE(WebPConfigInitInternal) ONE(WebPValidateConfig) \
    ONE(WebPPictureInitInternal) ONE(WebPPictureImportRGB) ONE(WebPPictureImportRGBA) \
    ONE(WebPEncode) ONE(WebPPictureFree) ONE(WebPMemoryWriterInit) ONE(WebPMemoryWrite) \
    ONE(WebPMemoryWriterClear) ONE(WebPFree)
#define MUXER(ONE) ONE(WebPNewInternal) ONE(WebPMuxSetImage) ONE(WebPMuxSetChunk) \
    ONE(WebPMuxAssemble) ONE(WebPMuxDelete)
/* clang-format on */
FORMATS_LATE_LIBRARY(lib, LATE_LIBRARY, ENCODER);
FORMATS_LATE_LIBRARY(mux, LATE_LIBRARY_2, MUXER);

static taper_status no_memory(taper_error *error) {
    return formats_fail(error, TAPER_ERR_NOMEM, "no memory to encode a WebP");
}

/* Grey becomes RGB: [pixels][3 or 4] of an image of 1 or 2 channels. */
static uint8_t *to_colour(const taper_image *image) {
    const unsigned from = image->channels, to = from + 2;
    const size_t pixels = (size_t)image->width * image->height;
    const uint8_t *grey = image->pixels;
    uint8_t *colour = malloc(pixels * to);
    for (size_t i = 0; colour && i < pixels; i++) {
        memset(colour + i * to, grey[i * from], 3);
        if (to == 4) colour[i * to + 3] = grey[i * from + 1];
    }
    return colour;
}

static int import(WebPPicture *picture, const taper_image *image) {
    uint8_t *colour = image->channels < 3 ? to_colour(image) : NULL;
    if (image->channels < 3 && !colour) return 0;
    const int channels = image->channels % 2 ? 3 : 4, stride = (int)image->width * channels;
    const uint8_t *from = colour ? colour : image->pixels;
    const int done = channels == 3 ? lib.WebPPictureImportRGB(picture, from, stride)
                                   : lib.WebPPictureImportRGBA(picture, from, stride);
    free(colour);
    return done;
}

static taper_status encode(const formats_write_options *options, const taper_image *image,
                           WebPMemoryWriter *to, taper_error *error) {
    WebPConfig config;
    WebPPicture picture;
    if (!lib.WebPConfigInitInternal(&config, WEBP_PRESET_DEFAULT, (float)options->quality,
                                    WEBP_ENCODER_ABI_VERSION) ||
        !lib.WebPPictureInitInternal(&picture, WEBP_ENCODER_ABI_VERSION))
        return formats_fail(error, TAPER_ERR_UNSUPPORTED, "libwebp has another version");
    config.lossless = options->quality >= 100;
    picture.use_argb = config.lossless;
    picture.width = (int)image->width, picture.height = (int)image->height;
    picture.writer = lib.WebPMemoryWrite, picture.custom_ptr = to;
    const int done = import(&picture, image) && lib.WebPEncode(&config, &picture);
    const int is_memory = !done && (picture.error_code == VP8_ENC_OK ||
                                    picture.error_code == VP8_ENC_ERROR_OUT_OF_MEMORY);
    const int code = picture.error_code;
    lib.WebPPictureFree(&picture);
    if (is_memory) return no_memory(error);
    return done ? TAPER_OK
                : formats_fail(error, TAPER_ERR_UNSUPPORTED,
                               "libwebp refuses the image, with its error %d; write PNG", code);
}

static int set_chunk(WebPMux *file, const char *type, const uint8_t *bytes, size_t size) {
    const WebPData data = {bytes, size};
    return !size || mux.WebPMuxSetChunk(file, type, &data, 0) == WEBP_MUX_OK;
}

/* The chunks beside the image: metadata, and the program in one of its own. */
static int set_chunks(WebPMux *file, const formats_write_options *options) {
    const formats_metadata *m = options->metadata;
    const char *program = options->program;
    return (!m || (set_chunk(file, "ICCP", m->icc.bytes, m->icc.size) &&
                   set_chunk(file, "EXIF", m->exif.bytes, m->exif.size) &&
                   set_chunk(file, "XMP ", m->xmp.bytes, m->xmp.size))) &&
           (!program || set_chunk(file, "tpr ", (const uint8_t *)program, strlen(program)));
}

static taper_status assemble(const formats_write_options *options, const WebPMemoryWriter *image,
                             uint8_t **out, size_t *n, taper_error *error) {
    const WebPData pixels = {image->mem, image->size};
    WebPData whole = {NULL, 0};
    WebPMux *file = mux.WebPNewInternal(WEBP_MUX_ABI_VERSION);
    const int done = file && mux.WebPMuxSetImage(file, &pixels, 0) == WEBP_MUX_OK &&
                     set_chunks(file, options) && mux.WebPMuxAssemble(file, &whole) == WEBP_MUX_OK;
    if (file) mux.WebPMuxDelete(file);
    uint8_t *copy = done ? malloc(whole.size) : NULL;
    if (copy) memcpy(copy, whole.bytes, whole.size);
    if (copy) *out = copy, *n = whole.size;
    lib.WebPFree((void *)whole.bytes);
    return copy ? TAPER_OK : no_memory(error);
}

taper_status formats_write_webp(const formats_write_options *options, const taper_image *image,
                                uint8_t **out, size_t *n, taper_error *error) {
    WebPMemoryWriter bytes;
    TAPER_TRY(formats_late_library_load(&lib_library, error));
    TAPER_TRY(formats_late_library_load(&mux_library, error));
    lib.WebPMemoryWriterInit(&bytes);
    taper_status status = encode(options, image, &bytes, error);
    if (status == TAPER_OK) status = assemble(options, &bytes, out, n, error);
    lib.WebPMemoryWriterClear(&bytes);
    return status;
}

#else
taper_status formats_write_webp(const formats_write_options *options, const taper_image *image,
                                uint8_t **out, size_t *n, taper_error *error) {
    (void)options, (void)image, (void)out, (void)n;
    return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                        "WebP is not written: taper was built without libwebp-dev");
}
#endif
