/* fuzz_model.c -- any bytes as a model file (first byte even; with 2 its header gets the right
 * checksum) or as the payload of one, in an envelope that is right; with 4 a file that may lack
 * stages. What loads must encode and decode a picture, or, without a
 * decoder, make codes. */
#include "../dct_model.h"
#include "codec/taper.h"
#include "formats/model_file.h"
#include "tests/infos.h"
#include <zstd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum { ENVELOPE = FORMATS_MODEL_HEADER + FORMATS_MODEL_ENTRY /* of one stage */ };

static void must(int holds) {
    if (!holds) abort();
}

/* Set the checksum of the header, if it is there. */
static void seal(uint8_t *h, size_t size) {
    size_t header = FORMATS_MODEL_HEADER + FORMATS_MODEL_ENTRY * (size_t)formats_get_u16le(h + 10);
    formats_set_u32le(h + 12, 0);
    if (header <= size) formats_set_u32le(h + 12, formats_crc32c(0, h, header));
}

/* The payload in an envelope; malloc'd. */
static uint8_t *wrap(const uint8_t *payload, size_t n, size_t *size) {
    size_t bound = ZSTD_compressBound(n);
    uint8_t *file = calloc(1, ENVELOPE + bound);
    must(file != NULL);
    size_t packed = ZSTD_compress(file + ENVELOPE, bound, payload, n, 1);
    must(!ZSTD_isError(packed));
    memcpy(file, "\x89TPM\r\n\x1a\n", 8);
    file[8] = FORMATS_MODEL_VERSION;
    formats_set_u16le(file + 10, 1);
    formats_set_u64le(file + FORMATS_MODEL_ID_AT, formats_model_id(payload, n));
    formats_set_u64le(file + 24, packed);
    formats_set_u64le(file + 32, n);
    formats_set_u32le(file + 40, formats_crc32c(0, file + ENVELOPE, packed));
    seal(file, ENVELOPE);
    *size = ENVELOPE + packed;
    return file;
}

/* The codes of a window, and no container. */
static void embed(const taper_model *model) {
    const codec_network *net = &model->network;
    taper_encoder *encoder;
    codec_backend backend;
    codec_backend_cpu(&backend);
    must(taper_encoder_new(&encoder, model, NULL, NULL) == TAPER_ERR_ARG);
    float *pixels = calloc(net->inputs, sizeof *pixels), *codes = calloc(net->units, sizeof *codes);
    must(pixels && codes);
    must(codec_network_encode(net, &backend, pixels, 1, codes) == TAPER_OK);
    free(pixels), free(codes);
    codec_backend_close(&backend);
}

static void use(const taper_model *model) {
    taper_model_info info = info_of_model(model);
    must(info.units > 0 && info.window_width > 0 && info.channels > 0);
    must((info.passes > 0) == !info.embedding);
    if (info.embedding) {
        embed(model);
        return;
    }
    taper_limits limits = {.size = sizeof(taper_limits), .max_memory = 1 << 24};
    taper_encode_options options = {
        .size = sizeof options, .limits = &limits, .layout = TAPER_LAYOUT_IMAGE};
    taper_encoder *encoder;
    if (taper_encoder_new(&encoder, model, &options, NULL) != TAPER_OK) return; /* no inverse */
    taper_image image = dct_picture(9, 7, info.channels, 3);
    formats_buffer out = formats_buffer_make(1 << 24), pixels = formats_buffer_make(1 << 24);
    taper_sink sink = dct_sink(&out);
    if (taper_encoder_add(encoder, &image, NULL, -1, NULL) == TAPER_OK) {
        must(taper_encoder_finish(encoder, 0, &sink, NULL) == TAPER_OK);
        must(dct_pull(out.data, out.size, model, &pixels, NULL) == TAPER_OK);
        must(pixels.size == formats_image_bytes(&image));
    }
    taper_encoder_free(encoder);
    formats_image_free(&image);
    formats_buffer_free(&out), formats_buffer_free(&pixels);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    const taper_limits limits = {.size = sizeof(taper_limits), .max_model_bytes = 1 << 17};
    if (n < 1) return 0;
    size_t size = n - 1;
    uint8_t *file;
    if (bytes[0] & 1) {
        file = wrap(bytes + 1, n - 1, &size);
    } else {
        file = malloc(n);
        must(file != NULL);
        memcpy(file, bytes + 1, n - 1);
        if (size >= FORMATS_MODEL_HEADER && bytes[0] & 2) seal(file, size);
    }
    taper_model *model;
    taper_error error = {0};
    taper_status status = bytes[0] & 4
                              ? taper_model_load_stages(&model, file, size, &limits, &error)
                              : taper_model_load(&model, file, size, &limits, &error);
    must(status == error.status && (status == TAPER_OK) == (model != NULL));
    if (model) use(model);
    taper_model_free(model);
    free(file);
    return 0;
}
