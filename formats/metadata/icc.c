/* icc.c -- reads the tags of an ICC profile that distinguish sRGB; see icc.h. */
#include "formats/metadata/icc.h"
#include "formats/bytes.h"
#include <math.h>
#include <string.h>

enum { TAGS_AT = 128, TAG_BYTES = 12 };

/* The data of a tag; NULL if there is none, or if it is outside the profile. */
static const uint8_t *find_tag(const uint8_t *p, size_t n, const char *name, size_t *size) {
    size_t tags = formats_get_u32be(p + TAGS_AT), there = (n - TAGS_AT - 4) / TAG_BYTES;
    const uint8_t *tag = p + TAGS_AT + 4;
    for (size_t i = 0; i < tags && i < there; i++, tag += TAG_BYTES) {
        if (memcmp(tag, name, 4) != 0) continue;
        size_t at = formats_get_u32be(tag + 4);
        *size = formats_get_u32be(tag + 8);
        return at <= n && *size <= n - at && *size >= 8 ? p + at : NULL;
    }
    return NULL;
}

/* A fixed-point number, 16.16. */
static double fixed(const uint8_t *p) {
    uint32_t bits = formats_get_u32be(p);
    return (bits < 0x80000000u ? (double)bits : (double)bits - 4294967296.0) / 65536;
}

static int is_colour(const uint8_t *p, size_t n, const char *name, const double xyz[3]) {
    size_t size;
    const uint8_t *tag = find_tag(p, n, name, &size);
    if (!tag || size < 20 || memcmp(tag, "XYZ ", 4) != 0) return 0;
    for (int i = 0; i < 3; i++)
        if (!(fabs(fixed(tag + 8 + 4 * i) - xyz[i]) < 0.01)) return 0;
    return 1;
}

/* Value of a sampled curve at one half; -1: invalid. */
static double sampled_middle(const uint8_t *tag, size_t size) {
    if (size < 12) return -1;
    size_t count = formats_get_u32be(tag + 8);
    if (count > (size - 12) / 2) return -1;
    if (count == 0) return 0.5;
    if (count == 1) return pow(0.5, formats_get_u16be(tag + 12) / 256.0);
    size_t below = (count - 1) / 2, above = count / 2; /* both are equal if count is odd */
    return (formats_get_u16be(tag + 12 + 2 * below) + formats_get_u16be(tag + 12 + 2 * above)) /
           2.0 / 65535;
}

/* The same of a parametric curve: (a x + b) ^ g + e. Some of its five types omit parameters. */
static double formula_middle(const uint8_t *tag, size_t size) {
    static const unsigned numbers[5] = {1, 3, 4, 5, 7};
    unsigned kind = size >= 12 ? formats_get_u16be(tag + 8) : 5;
    if (kind > 4 || size < 12 + 4 * (size_t)numbers[kind]) return -1;
    const uint8_t *number = tag + 12;
    double a = 1, b = 0, e = 0;
    if (kind > 0) a = fixed(number + 4), b = fixed(number + 8);
    if (kind == 2) e = fixed(number + 12);
    if (kind == 4) e = fixed(number + 20);
    return pow(a * 0.5 + b, fixed(number)) + e;
}

static int is_curve(const uint8_t *p, size_t n, const char *name) {
    size_t size;
    const uint8_t *tag = find_tag(p, n, name, &size);
    double middle = -1;
    if (tag && memcmp(tag, "curv", 4) == 0) middle = sampled_middle(tag, size);
    if (tag && memcmp(tag, "para", 4) == 0) middle = formula_middle(tag, size);
    return fabs(middle - 0.214) < 0.008; /* a gamma of 2.2 gives 0.2176; NaN is no curve */
}

int formats_icc_is_srgb(const void *bytes, size_t n) {
    static const double red[3] = {0.4361, 0.2225, 0.0139}, green[3] = {0.3851, 0.7169, 0.0971},
                        blue[3] = {0.1431, 0.0606, 0.7141}; /* adapted to D50, as in the profile */
    const uint8_t *p = bytes;
    if (n < TAGS_AT + 4 || memcmp(p + 36, "acsp", 4) != 0) return 0;
    if (memcmp(p + 16, "GRAY", 4) == 0) return is_curve(p, n, "kTRC");
    return memcmp(p + 16, "RGB ", 4) == 0 && is_colour(p, n, "rXYZ", red) &&
           is_colour(p, n, "gXYZ", green) && is_colour(p, n, "bXYZ", blue) &&
           is_curve(p, n, "rTRC") && is_curve(p, n, "gTRC") && is_curve(p, n, "bTRC");
}
