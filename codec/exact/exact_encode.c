/* exact_encode.c -- encoding of the exact layer; see exact.h. */
#include "codec/exact/exact_coder.h"
#include "codec/exact/exact_fit.h"
#include "formats/image.h"

enum { CHANNELS = CODEC_EXACT_CHANNELS };

static void compare(const codec_exact_rows *rows, const taper_image *original,
                    const taper_image *lossy, uint8_t *same) {
    const size_t pixels = (size_t)rows->width * rows->height;
    for (uint32_t c = 0; c < rows->channels; c++) {
        size_t i = 0, at = rows->place[c];
        while (i < pixels && codec_exact_sample(original, at) == codec_exact_sample(lossy, at))
            i++, at += rows->channels;
        same[c] = i == pixels;
    }
}

/* What the encoder knows beside the coder. */
typedef struct encoding {
    codec_exact *exact;
    codec_exact_fit *fit;
    const taper_image *original, *lossy; /* [n] */
    size_t n;
    uint64_t since; /* pixels since the last weights */
    int has;        /* there were weights for images of this kind */
} encoding;

/* Fit weights to image i from row y on, and to images behind it. */
static void fit_band(encoding *e, size_t i, uint32_t y) {
    const taper_image *first = &e->lossy[i];
    uint64_t pixels = 0;
    codec_exact_fit_begin(e->fit, first->channels);
    for (; i < e->n && pixels < CODEC_EXACT_BAND_PIXELS; i++, y = 0) {
        const taper_image *lossy = &e->lossy[i];
        if (lossy->channels != first->channels || lossy->depth != first->depth) break;
        const uint32_t left = lossy->height - y, most = codec_exact_band_rows(lossy->width);
        const uint32_t rows = left < most ? left : most;
        codec_exact_fit_add(e->fit, &e->original[i], lossy, y, y + rows);
        pixels += (uint64_t)rows * lossy->width;
        if (rows < left) break;
    }
    codec_exact_fit_solve(e->fit, &e->exact->weights);
}

/* Decide on weights at the beginning of a band: row y of image i. */
static void encode_renewal(encoding *e, size_t i, uint32_t y) {
    codec_exact *exact = e->exact;
    const taper_image *lossy = &e->lossy[i];
    const int changed = i > 0 && (lossy->channels != e->lossy[i - 1].channels ||
                                  lossy->depth != e->lossy[i - 1].depth);
    const int renew = !e->has || changed || e->since >= CODEC_EXACT_BAND_PIXELS;
    if (renew) {
        fit_band(e, i, y);
        e->since = 0;
        e->has = 1;
    }
    codec_exact_code_renewal(exact, renew);
}

static void encode_image(encoding *e, size_t i) {
    codec_exact *exact = e->exact;
    const taper_image *lossy = &e->lossy[i];
    uint8_t same[CHANNELS];
    codec_exact_rows_begin(&exact->rows, lossy, 0);
    compare(&exact->rows, &e->original[i], lossy, same);
    if (codec_exact_code_same(exact, same)) return;
    const uint32_t band = codec_exact_band_rows(lossy->width);
    for (uint32_t y = 0; y < lossy->height; y++) {
        if (y % band == 0 && !exact->is_plain) encode_renewal(e, i, y);
        codec_exact_code_row(exact, same, &e->original[i], NULL);
        if (y + 1 < lossy->height) codec_exact_rows_next(&exact->rows, lossy);
        e->since += lossy->width;
    }
}

/* Append the string to `out`. */
static void encode_all(encoding *e, int is_plain, formats_buffer *out) {
    codec_rc_encoder to;
    codec_rc_encoder_init(&to, out);
    e->exact->bits = (codec_pixel_bits){.to = &to};
    e->since = 0, e->has = 0;
    codec_exact_begin(e->exact, is_plain);
    for (size_t i = 0; i < e->n; i++) encode_image(e, i);
    codec_rc_encoder_finish(&to);
}

taper_status codec_exact_encode(codec_exact *exact, const taper_image *original,
                                const taper_image *lossy, size_t n, formats_buffer *out) {
    encoding e = {.exact = exact, .original = original, .lossy = lossy, .n = n};
    uint32_t width = 1, channels = 1;
    uint64_t plain = 0;
    const size_t start = out->size;
    for (size_t i = 0; i < n; i++) {
        if (lossy[i].width > width) width = lossy[i].width;
        if (lossy[i].channels > channels) channels = lossy[i].channels;
        plain += formats_image_bytes(&lossy[i]);
    }
    TAPER_TRY(codec_exact_fit_open(&e.fit, width, channels, exact->block.account));
    encode_all(&e, 0, out);
    if (out->status == TAPER_OK && out->size - start > plain) {
        out->size = start;
        encode_all(&e, 1, out);
    }
    codec_exact_fit_close(e.fit);
    return out->status;
}
