/* settle.c -- see settle.h. */
#include "formats/metadata/settle.h"
#include "formats/bytes.h"
#include "formats/metadata/exif.h"
#include "formats/metadata/icc.h"
#include "formats/metadata/xmp.h"
#include <string.h>

enum { PROFILE_HEADER = 132 };

/* Pixels of CMYK were converted by their profile, which has no further use. */
static int is_used(const formats_blob *icc) {
    return icc->size >= PROFILE_HEADER && memcmp(icc->bytes + 16, "CMYK", 4) == 0;
}

/* The profile's own size counts. 0: it is damaged, or not for these channels. */
static size_t size_of_profile(const formats_blob *icc, unsigned channels) {
    const uint8_t *p = icc->bytes;
    if (icc->size < PROFILE_HEADER || memcmp(p + 36, "acsp", 4) != 0) return 0;
    const size_t size = formats_get_u32be(p);
    if (size < PROFILE_HEADER || size > icc->size) return 0;
    return memcmp(p + 16, channels < 3 ? "GRAY" : "RGB ", 4) == 0 ? size : 0;
}

void formats_metadata_settle(formats_metadata *m, unsigned channels) {
    if (m->icc.bytes && is_used(&m->icc)) formats_blob_free(&m->icc);
    if (m->icc.bytes) {
        m->icc.size = size_of_profile(&m->icc, channels);
        if (!m->icc.size) formats_blob_free(&m->icc), m->left_out |= FORMATS_LEFT_ICC;
    }
    if (m->exif.bytes) m->exif.size = formats_exif_make_upright(m->exif.bytes, m->exif.size);
    if (m->xmp.bytes) formats_xmp_make_upright(m->xmp.bytes, m->xmp.size);
}

static int is_near(uint32_t a, uint32_t b, uint32_t most) {
    return a > b ? a - b <= most : b - a <= most;
}

/* Gamma 2.2 with the primaries of sRGB, or none: what programs assume without metadata. */
static int are_numbers_of_srgb(const formats_metadata *m) {
    static const uint32_t srgb[8] = {31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000};
    uint32_t any = 0;
    int same = 1;
    for (int i = 0; i < 8; i++) {
        any |= m->chromaticities[i];
        same &= is_near(m->chromaticities[i], srgb[i], 1000);
    }
    return (!any || same) && (!m->gamma || is_near(m->gamma, 45455, 500));
}

void formats_metadata_keep_look(formats_metadata *m) {
    static const uint8_t srgb[4] = {1, 13, 0, 1};
    formats_blob_free(&m->exif), formats_blob_free(&m->xmp);
    m->density_x = m->density_y = 0;
    m->density_unit = m->has_modified = 0;
    const int is_told = m->has_cicp || m->icc.bytes; /* then numbers do not count */
    if (m->has_cicp) formats_blob_free(&m->icc);
    if (m->icc.bytes && formats_icc_is_srgb(m->icc.bytes, m->icc.size)) formats_blob_free(&m->icc);
    if (m->has_cicp && !memcmp(m->cicp, srgb, sizeof srgb)) m->has_cicp = 0;
    if (!is_told && !are_numbers_of_srgb(m)) return;
    m->gamma = 0;
    memset(m->chromaticities, 0, sizeof m->chromaticities);
}
