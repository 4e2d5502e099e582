/* pnm.c -- reader and writer of PBM, PGM, PPM and PAM; see pnm.h. */
#include "formats/images/pnm.h"
#include "formats/bytes.h"
#include "formats/image.h"
#include <stdio.h>
#include <string.h>

static int is_space(int c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\v' || c == '\f' || c == '\r';
}

int formats_pnm_detect(const void *bytes, size_t n) {
    const uint8_t *p = bytes;
    return n >= 3 && p[0] == 'P' && p[1] >= '1' && p[1] <= '7' && (is_space(p[2]) || p[2] == '#');
}

/* The next byte, which stays unread; -1 at the end. */
static int peek(const formats_cursor *c) { return formats_cursor_left(c) ? c->bytes[c->at] : -1; }

static void skip_line(formats_cursor *c) {
    while (formats_cursor_left(c) && formats_read_u8(c) != '\n') {
    }
}

static void skip_space_and_comments(formats_cursor *c) {
    for (int next = peek(c); next == '#' || is_space(next); next = peek(c)) {
        if (next == '#')
            skip_line(c);
        else
            c->at++;
    }
}

/* A decimal number behind white space and comments, 0..max. */
static taper_status read_number(formats_cursor *c, uint32_t max, uint32_t *value,
                                taper_error *error) {
    skip_space_and_comments(c);
    uint64_t v = 0;
    int next = peek(c);
    if (next < 0)
        return formats_fail(error, TAPER_ERR_TRUNCATED, "the PNM ends early, at byte %zu", c->at);
    if (next < '0' || next > '9')
        return formats_fail(error, TAPER_ERR_CORRUPT, "the PNM has no number at byte %zu", c->at);
    for (; next >= '0' && next <= '9'; next = peek(c)) {
        v = v * 10 + (uint64_t)(next - '0');
        if (v > max)
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "the PNM has a number above %u at byte %zu", max, c->at);
        c->at++;
    }
    *value = (uint32_t)v;
    return TAPER_OK;
}

/* The single white space between the last number of a header and a binary raster. */
static taper_status end_header(formats_cursor *c, taper_error *error) {
    int next = peek(c);
    if (next < 0)
        return formats_fail(error, TAPER_ERR_TRUNCATED, "the PNM ends early, in its header");
    if (!is_space(next))
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the PNM's header does not end in white space");
    c->at++;
    return TAPER_OK;
}

static taper_status read_pnm_header(formats_cursor *c, formats_pnm_header *h, taper_error *error) {
    static const uint8_t channels[7] = {0, 1, 1, 3, 1, 1, 3};
    TAPER_TRY(read_number(c, UINT32_MAX, &h->width, error));
    TAPER_TRY(read_number(c, UINT32_MAX, &h->height, error));
    h->maxval = 1;
    h->channels = channels[h->kind];
    if (h->kind != 1 && h->kind != 4) TAPER_TRY(read_number(c, 65535, &h->maxval, error));
    return end_header(c, error);
}

/* 1 if this word, followed by white space, is at the cursor; the word is then read. */
static int take_word(formats_cursor *c, const char *word) {
    size_t n = strlen(word);
    if (formats_cursor_left(c) <= n || memcmp(c->bytes + c->at, word, n) != 0) return 0;
    if (!is_space(c->bytes[c->at + n])) return 0;
    c->at += n;
    return 1;
}

/* Lines "WIDTH n", "HEIGHT n", "DEPTH n", "MAXVAL n", "TUPLTYPE text" in any order,
 * up to "ENDHDR". */
static taper_status read_pam_header(formats_cursor *c, formats_pnm_header *h, taper_error *error) {
    uint32_t channels = 0;
    for (;;) {
        skip_space_and_comments(c);
        if (take_word(c, "ENDHDR")) break;
        if (take_word(c, "WIDTH"))
            TAPER_TRY(read_number(c, UINT32_MAX, &h->width, error));
        else if (take_word(c, "HEIGHT"))
            TAPER_TRY(read_number(c, UINT32_MAX, &h->height, error));
        else if (take_word(c, "DEPTH"))
            TAPER_TRY(read_number(c, UINT32_MAX, &channels, error));
        else if (take_word(c, "MAXVAL"))
            TAPER_TRY(read_number(c, 65535, &h->maxval, error));
        else if (take_word(c, "TUPLTYPE"))
            skip_line(c);
        else if (formats_cursor_left(c) < sizeof "TUPLTYPE")
            return formats_fail(error, TAPER_ERR_TRUNCATED, "the PAM ends early, in its header");
        else
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "the PAM's header has an unknown line at byte %zu", c->at);
    }
    if (channels < 1 || channels > 4)
        return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                            "the PAM has %u channels; 1 to 4 can be read", channels);
    h->channels = (uint8_t)channels;
    return end_header(c, error);
}

/* The least number of bytes the raster takes, after the geometry has been checked. */
static uint64_t least_raster_bytes(const formats_pnm_header *h) {
    uint64_t samples = (uint64_t)h->width * h->height * h->channels;
    switch (h->kind) {
    case 1: return samples;
    case 2:
    case 3: return samples * 2 - 1; /* a digit each, and white space between */
    case 4: return ((uint64_t)h->width + 7) / 8 * h->height;
    default: return h->depth == 16 ? samples * 2 : samples;
    }
}

taper_status formats_pnm_header_decode(const void *bytes, size_t n, const taper_limits *limits,
                                       formats_pnm_header *out, taper_error *error) {
    formats_cursor c = formats_cursor_over(bytes, n);
    formats_pnm_header h = {0};
    *out = h;
    if (n < 3) return formats_fail(error, TAPER_ERR_TRUNCATED, "the PNM ends early, in its header");
    if (!formats_pnm_detect(bytes, n))
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "this is not a PNM: its first bytes are not P1 to P7");
    h.kind = (uint8_t)(c.bytes[1] - '0');
    c.at = 2;
    TAPER_TRY(h.kind == 7 ? read_pam_header(&c, &h, error) : read_pnm_header(&c, &h, error));
    if (h.maxval < 1)
        return formats_fail(error, TAPER_ERR_CORRUPT, "the PNM's largest sample is 0");
    h.depth = h.maxval > 255 ? 16 : 8;
    TAPER_TRY(formats_image_check(h.width, h.height, h.channels, h.depth, limits, NULL, error));
    h.header_bytes = c.at;
    h.raster_bytes = least_raster_bytes(&h);
    *out = h;
    return TAPER_OK;
}

static taper_status sample_too_large(uint32_t value, uint32_t maxval, taper_error *error) {
    return formats_fail(error, TAPER_ERR_CORRUPT,
                        "the PNM has a sample of %u though its header says at most %u", value,
                        maxval);
}

/* Scale a sample from 0..maxval to the full range of the image's depth and store it. */
static taper_status put_sample(taper_image *image, size_t i, uint32_t value, uint32_t maxval,
                               taper_error *error) {
    if (value > maxval) return sample_too_large(value, maxval, error);
    uint32_t full = image->depth == 8 ? 255 : 65535;
    uint32_t scaled = maxval == full ? value : (value * full + maxval / 2) / maxval;
    if (image->depth == 8)
        ((uint8_t *)image->pixels)[i] = (uint8_t)scaled;
    else
        ((uint16_t *)image->pixels)[i] = (uint16_t)scaled;
    return TAPER_OK;
}

static taper_status read_plain_raster(formats_cursor *c, const formats_pnm_header *h,
                                      taper_image *image, taper_error *error) {
    size_t samples = formats_image_samples(image);
    for (size_t i = 0; i < samples; i++) {
        uint32_t value;
        TAPER_TRY(read_number(c, 65535, &value, error));
        TAPER_TRY(put_sample(image, i, value, h->maxval, error));
    }
    return TAPER_OK;
}

/* P1: digits 0 and 1, which need no white space between them; 1 is black. */
static taper_status read_plain_bits(formats_cursor *c, taper_image *image, taper_error *error) {
    uint8_t *pixels = image->pixels;
    size_t samples = formats_image_samples(image);
    for (size_t i = 0; i < samples; i++) {
        skip_space_and_comments(c);
        int next = peek(c);
        if (next < 0)
            return formats_fail(error, TAPER_ERR_TRUNCATED, "the PBM ends early, at byte %zu",
                                c->at);
        if (next != '0' && next != '1')
            return formats_fail(error, TAPER_ERR_CORRUPT, "the PBM has no 0 or 1 at byte %zu",
                                c->at);
        c->at++;
        pixels[i] = next == '1' ? 0 : 255;
    }
    return TAPER_OK;
}

/* P4: rows of bits, most significant first, padded to whole bytes; 1 is black. */
static void read_packed_bits(const uint8_t *raster, taper_image *image) {
    uint8_t *pixels = image->pixels;
    size_t stride = ((size_t)image->width + 7) / 8;
    for (uint32_t y = 0; y < image->height; y++)
        for (uint32_t x = 0; x < image->width; x++)
            *pixels++ = raster[y * stride + x / 8] >> (7 - x % 8) & 1 ? 0 : 255;
}

static taper_status read_samples(const uint8_t *raster, const formats_pnm_header *h,
                                 taper_image *image, taper_error *error) {
    size_t samples = formats_image_samples(image);
    if (h->maxval == 255) {
        memcpy(image->pixels, raster, samples);
        return TAPER_OK;
    }
    for (size_t i = 0; i < samples; i++) {
        uint32_t value = image->depth == 16 ? formats_get_u16be(raster + 2 * i) : raster[i];
        TAPER_TRY(put_sample(image, i, value, h->maxval, error));
    }
    return TAPER_OK;
}

static taper_status read_raster(formats_cursor *c, const formats_pnm_header *h, taper_image *image,
                                taper_error *error) {
    if (h->kind == 1)
        TAPER_TRY(read_plain_bits(c, image, error));
    else if (h->kind <= 3)
        TAPER_TRY(read_plain_raster(c, h, image, error));
    if (h->kind <= 3) {
        while (is_space(peek(c))) c->at++;
        return TAPER_OK;
    }
    const uint8_t *raster = formats_read_bytes(c, (size_t)h->raster_bytes);
    if (h->kind != 4) return read_samples(raster, h, image, error);
    read_packed_bits(raster, image);
    return TAPER_OK;
}

taper_status formats_pnm_decode(const void *bytes, size_t n, const taper_limits *limits,
                                taper_image *out, size_t *consumed, taper_error *error) {
    *out = (taper_image){0};
    if (consumed) *consumed = 0;
    formats_pnm_header h;
    TAPER_TRY(formats_pnm_header_decode(bytes, n, limits, &h, error));
    if (h.raster_bytes > n - h.header_bytes)
        return formats_fail(
            error, TAPER_ERR_TRUNCATED,
            "the PNM ends early: %u x %u pixels take %llu bytes, %zu are there; fetch "
            "the file anew",
            h.width, h.height, (unsigned long long)h.raster_bytes, n - h.header_bytes);
    TAPER_TRY(formats_image_make(out, h.width, h.height, h.channels, h.depth, limits, error));
    formats_cursor c = formats_cursor_over(bytes, n);
    c.at = h.header_bytes;
    taper_status status = read_raster(&c, &h, out, error);
    if (status != TAPER_OK) {
        formats_image_free(out);
        return status;
    }
    formats_image_drop_opaque_alpha(out);
    if (consumed) *consumed = c.at;
    return TAPER_OK;
}

static taper_status encode_with_header(const taper_image *image, const char *header, uint8_t **out,
                                       size_t *n, taper_error *error) {
    *out = NULL;
    *n = 0;
    size_t bytes = formats_image_bytes(image), samples = formats_image_samples(image);
    formats_buffer buffer = formats_buffer_make(FORMATS_MOST_BYTES);
    formats_buffer_reserve(&buffer, strlen(header) + bytes);
    formats_write_bytes(&buffer, header, strlen(header));
    if (image->depth == 8)
        formats_write_bytes(&buffer, image->pixels, bytes);
    else
        for (size_t i = 0; i < samples; i++)
            formats_write_u16be(&buffer, ((const uint16_t *)image->pixels)[i]);
    taper_status status = buffer.status;
    if (status == TAPER_OK)
        *out = formats_buffer_take(&buffer, n);
    else
        formats_fail(error, status = TAPER_ERR_NOMEM, "no memory to encode a PNM");
    formats_buffer_free(&buffer);
    return status;
}

taper_status formats_pam_encode_by(const taper_image *image, const char *program, uint8_t **out,
                                   size_t *n, taper_error *error) {
    static const char *const kinds[5] = {"", "GRAYSCALE", "GRAYSCALE_ALPHA", "RGB", "RGB_ALPHA"};
    char header[192];
    snprintf(header, sizeof header,
             "P7\n%s%.40s%sWIDTH %u\nHEIGHT %u\nDEPTH %u\nMAXVAL %d\nTUPLTYPE %s\nENDHDR\n",
             program ? "# " : "", program ? program : "", program ? "\n" : "", image->width,
             image->height, image->channels, image->depth == 8 ? 255 : 65535,
             kinds[image->channels]);
    return encode_with_header(image, header, out, n, error);
}

taper_status formats_pnm_encode(const taper_image *image, uint8_t **out, size_t *n,
                                taper_error *error) {
    if (formats_image_has_alpha(image)) return formats_pam_encode(image, out, n, error);
    return formats_pnm_encode_by(image, NULL, out, n, error);
}

taper_status formats_pnm_encode_by(const taper_image *image, const char *program, uint8_t **out,
                                   size_t *n, taper_error *error) {
    char header[128];
    if (formats_image_has_alpha(image)) return formats_pam_encode_by(image, program, out, n, error);
    snprintf(header, sizeof header, "P%c\n%s%.40s%s%u %u\n%d\n", image->channels == 1 ? '5' : '6',
             program ? "# " : "", program ? program : "", program ? "\n" : "", image->width,
             image->height, image->depth == 8 ? 255 : 65535);
    return encode_with_header(image, header, out, n, error);
}

taper_status formats_pam_encode(const taper_image *image, uint8_t **out, size_t *n,
                                taper_error *error) {
    return formats_pam_encode_by(image, NULL, out, n, error);
}
