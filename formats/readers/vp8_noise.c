/* vp8_noise.c -- see vp8_noise.h. The header is read as RFC 6386 describes it (sections 7, 9). */
#include "formats/readers/vp8_noise.h"
#include "formats/bytes.h"
#include <math.h>
#include <string.h>

enum { SEGMENTS = 4, HEADER = 10, LAST_INDEX = 127 };

/* --- the arithmetic decoder ------------------------------------------------------------ */

typedef struct bit_reader {
    const uint8_t *p, *end;
    unsigned value, range; /* value: two bytes, of which the upper is compared */
    int shifted;           /* bits since the last byte was taken */
} bit_reader;

static unsigned next_byte(bit_reader *r) { return r->p < r->end ? *r->p++ : 0; }

static bit_reader begin(const uint8_t *bytes, size_t n) {
    bit_reader r = {.p = bytes, .end = bytes + n, .range = 255};
    r.value = next_byte(&r) << 8;
    r.value |= next_byte(&r);
    return r;
}

/* A bit that is 0 and 1 equally often. */
static unsigned read_bit(bit_reader *r) {
    const unsigned split = 1 + (r->range - 1) / 2;
    const unsigned bit = r->value >= split << 8;
    r->range = bit ? r->range - split : split;
    r->value -= bit ? split << 8 : 0;
    for (; r->range < 128; r->range <<= 1) {
        r->value <<= 1;
        if (++r->shifted < 8) continue;
        r->shifted = 0;
        r->value |= next_byte(r);
    }
    return bit;
}

static unsigned read_number(bit_reader *r, int bits) {
    unsigned value = 0;
    while (bits-- > 0) value = 2 * value + read_bit(r);
    return value;
}

/* A magnitude and a sign, or 0 if a bit says that none follows. */
static int read_optional(bit_reader *r, int bits) {
    if (!read_bit(r)) return 0;
    const int value = (int)read_number(r, bits);
    return read_bit(r) ? -value : value;
}

/* --- the header ------------------------------------------------------------------------ */

typedef struct quantisers {
    int index[SEGMENTS], are_absolute;
    double share[SEGMENTS]; /* of the macroblocks */
} quantisers;

/* Segments, from the bit that says whether there are any. */
static quantisers read_segments(bit_reader *r) {
    quantisers q = {.share = {1}};
    double first[3] = {1, 1, 1}; /* shares of the left branches of the tree */
    if (!read_bit(r)) return q;
    const unsigned has_map = read_bit(r), has_values = read_bit(r);
    if (has_values) {
        q.are_absolute = (int)read_bit(r);
        for (int i = 0; i < SEGMENTS; i++) q.index[i] = read_optional(r, 7);
        for (int i = 0; i < SEGMENTS; i++) (void)read_optional(r, 6); /* loop filter */
    }
    for (int i = 0; has_map && i < 3; i++)
        first[i] = read_bit(r) ? read_number(r, 8) / 256.0 : 255 / 256.0;
    if (!has_map) return q;
    q.share[0] = first[0] * first[1], q.share[1] = first[0] * (1 - first[1]);
    q.share[2] = (1 - first[0]) * first[2], q.share[3] = (1 - first[0]) * (1 - first[2]);
    return q;
}

/* The step of coefficients other than the first of a block. */
static double step_of(int index) {
    static const uint16_t above[] = {
        60,  62,  64,  66,  68,  70,  72,  74,  76,  78,  80,  82,  84,  86,  88,
        90,  92,  94,  96,  98,  100, 102, 104, 106, 108, 110, 112, 114, 116, 119,
        122, 125, 128, 131, 134, 137, 140, 143, 146, 149, 152, 155, 158, 161, 164,
        167, 170, 173, 177, 181, 185, 189, 193, 197, 201, 205, 209, 213, 217, 221,
        225, 229, 234, 239, 245, 249, 254, 259, 264, 269, 274, 279, 284};
    enum { EVEN = LAST_INDEX + 1 - (int)(sizeof above / sizeof above[0]) }; /* 4, 5, 6, ... */
    const int i = index < 0 ? 0 : index > LAST_INDEX ? LAST_INDEX : index;
    return i < EVEN ? 4 + i : above[i - EVEN];
}

/* The mean square of the steps of a picture; 0: it is no key frame. */
static double mean_square(const uint8_t *bytes, size_t n) {
    static const uint8_t start[3] = {0x9D, 0x01, 0x2A};
    if (n < HEADER || (bytes[0] & 1) || memcmp(bytes + 3, start, sizeof start) != 0) return 0;
    bit_reader r = begin(bytes + HEADER, n - HEADER);
    (void)read_number(&r, 2); /* colour space, clamping */
    const quantisers q = read_segments(&r);
    (void)read_number(&r, 10); /* loop filter */
    if (read_bit(&r) && read_bit(&r))
        for (int i = 0; i < 8; i++) (void)read_optional(&r, 6);
    (void)read_number(&r, 2); /* partitions */
    const int base = (int)read_number(&r, 7);
    double sum = 0;
    for (int i = 0; i < SEGMENTS; i++) {
        const double step = step_of(q.are_absolute ? q.index[i] : base + q.index[i]);
        sum += q.share[i] * step * step;
    }
    return sum;
}

double formats_webp_noise(const void *bytes, size_t n, uint64_t pixels) {
    enum { RIFF = 12, AROUND = 8 };
    const uint8_t *p = bytes;
    if (!pixels) return 0;
    for (size_t at = RIFF; at <= n && n - at >= AROUND;) {
        const size_t size = formats_get_u32le(p + at + 4);
        if (size > n - at - AROUND || !memcmp(p + at, "ANIM", 4)) return 0;
        if (!memcmp(p + at, "VP8 ", 4)) {
            const double square = mean_square(p + at + AROUND, size);
            const double bits = 8.0 * (double)size / (double)pixels;
            return square > 0 ? 0.0698 * pow(square, 0.8675) * pow(bits, 0.742) : 0;
        }
        at += AROUND + size + (size & 1);
    }
    return 0;
}
