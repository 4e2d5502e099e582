/* exact_decode.c -- making coders, and decoding the exact layer; see exact.h. */
#include "codec/bitplane/chunk_coder.h"
#include "codec/exact/exact_coder.h"
#include <stdlib.h>

enum { CHANNELS = CODEC_EXACT_CHANNELS };

static void lay_out(codec_exact *exact, uint32_t width, uint32_t channels, formats_layout *at) {
    codec_exact_rows_lay_out(&exact->rows, width, channels, at);
    codec_exact_model_lay_out(&exact->model, at);
}

uint64_t codec_exact_bytes(uint32_t width, uint32_t channels) {
    codec_exact none;
    formats_layout at = {0};
    lay_out(&none, width, channels, &at);
    return at.used + sizeof none;
}

taper_status codec_exact_open(codec_exact **out, uint32_t width, uint32_t channels,
                              formats_account *account) {
    *out = NULL;
    codec_exact *exact = calloc(1, sizeof *exact);
    if (!exact) return TAPER_ERR_NOMEM;
    formats_layout at = {0};
    lay_out(exact, width, channels, &at);
    const taper_status status = formats_block_take_unset(&exact->block, &at, account);
    if (status) {
        free(exact);
        return status;
    }
    lay_out(exact, width, channels, &at);
    *out = exact;
    return TAPER_OK;
}

void codec_exact_close(codec_exact *exact) {
    if (!exact) return;
    formats_block_free(&exact->block);
    free(exact);
}

void codec_exact_decode_begin(codec_exact *exact, const uint8_t *bytes, size_t size, int whole) {
    codec_rc_decoder_init(&exact->from, bytes, size, whole);
    exact->bits = (codec_pixel_bits){.from = &exact->from, .most = UINT64_MAX};
    if (whole)
        exact->bits.most = (size + (uint64_t)CODEC_CHUNK_TRIMMED) * CODEC_CHUNK_BITS_PER_BYTE;
    codec_exact_begin(exact, 0);
}

uint32_t codec_exact_decode(codec_exact *exact, taper_image *image) {
    codec_exact_rows *rows = &exact->rows;
    uint8_t same[CHANNELS] = {0};
    if (exact->bits.starved) return 0;
    codec_exact_rows_begin(rows, image, 0);
    const int all = codec_exact_code_same(exact, same);
    if (exact->bits.starved) return 0;
    if (all) return image->height;
    const uint32_t band = codec_exact_band_rows(image->width);
    for (uint32_t y = 0; y < image->height; y++) {
        if (y % band == 0 && !exact->is_plain) codec_exact_code_renewal(exact, 0);
        if (!codec_exact_code_row(exact, same, NULL, image)) return y;
        if (y + 1 < image->height) codec_exact_rows_next(rows, image);
    }
    return image->height;
}
