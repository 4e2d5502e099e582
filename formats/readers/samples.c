/* samples.c -- see samples.h. */
#include "formats/readers/samples.h"
#include "formats/image.h"
#include "formats/metadata/exif.h"
#include <stdlib.h>
#include <string.h>

static const char exif_name[6] = "Exif\0";

void formats_samples_keep_grey(taper_image *image) {
    const size_t pixels = (size_t)image->width * image->height, from = image->channels;
    const size_t bytes = image->depth / 8u;
    uint8_t *p = image->pixels, *to = p;
    if (from < 3) return;
    for (size_t i = 0; i < pixels; i++, p += from * bytes) {
        memmove(to, p, bytes);
        to += bytes;
        if (from < 4) continue;
        memmove(to, p + 3 * bytes, bytes);
        to += bytes;
    }
    image->channels -= 2;
}

static unsigned divided(unsigned colour, unsigned alpha, unsigned one) {
    if (!alpha) return 0;
    const uint64_t value = ((uint64_t)colour * one + alpha / 2) / alpha;
    return value < one ? (unsigned)value : one;
}

void formats_samples_unpremultiply(taper_image *image) {
    const size_t pixels = (size_t)image->width * image->height, n = image->channels;
    if (!formats_image_has_alpha(image)) return;
    for (size_t i = 0; i < pixels; i++)
        for (size_t c = 0; c + 1 < n; c++) {
            if (image->depth == 8) {
                uint8_t *p = (uint8_t *)image->pixels + i * n;
                p[c] = (uint8_t)divided(p[c], p[n - 1], 255);
            } else {
                uint16_t *p = (uint16_t *)image->pixels + i * n;
                p[c] = (uint16_t)divided(p[c], p[n - 1], 65535);
            }
        }
}

void formats_samples_widen(taper_image *image, unsigned bits) {
    const size_t n = formats_image_samples(image);
    const uint32_t most = (1u << bits) - 1;
    uint16_t *p = image->pixels;
    if (image->depth != 16 || bits >= 16) return;
    for (size_t i = 0; i < n; i++) {
        const uint32_t v = p[i] < most ? p[i] : most;
        p[i] = (uint16_t)((v * 65535u + most / 2) / most);
    }
}

taper_status formats_samples_check_room(uint32_t width, uint32_t height, unsigned each,
                                        const taper_limits *limits, taper_error *error) {
    const taper_limits l = formats_limits_or_default(limits);
    const uint64_t pixels = (uint64_t)width * height;
    const uint64_t bytes = pixels > UINT64_MAX / each ? UINT64_MAX / 2 : pixels * each;
    if (bytes <= l.max_memory) return TAPER_OK;
    return formats_fail_fact(
        error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY, formats_memory_needed(&l, bytes),
        "decoding %u x %u pixels takes %llu bytes, more than the limit of %llu", width, height,
        (unsigned long long)bytes, (unsigned long long)l.max_memory);
}

taper_status formats_samples_take(formats_metadata *m, unsigned kind, const void *bytes, size_t n,
                                  taper_error *error) {
    const uint8_t *from = bytes;
    formats_blob *to = kind == FORMATS_LEFT_ICC    ? &m->icc
                       : kind == FORMATS_LEFT_EXIF ? &m->exif
                                                   : &m->xmp;
    if (!from || !n || to->bytes) return TAPER_OK;
    const size_t skip = kind == FORMATS_LEFT_EXIF && n >= sizeof exif_name &&
                                !memcmp(from, exif_name, sizeof exif_name)
                            ? sizeof exif_name
                            : 0;
    from += skip, n -= skip;
    if (n > FORMATS_MOST_BLOB || (kind == FORMATS_LEFT_EXIF && !formats_exif_detect(from, n))) {
        m->left_out |= (uint8_t)kind;
        return TAPER_OK;
    }
    return formats_blob_set(to, from, n)
               ? TAPER_OK
               : formats_fail(error, TAPER_ERR_NOMEM, "no memory for metadata");
}
