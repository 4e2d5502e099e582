/* public_metadata.c -- see public_metadata.h. */
#include "formats/metadata/public_metadata.h"
#include <string.h>

taper_metadata formats_metadata_public(const formats_metadata *m) {
    taper_metadata to = {.size = sizeof to,
                         .icc = m->icc.bytes,
                         .icc_size = m->icc.size,
                         .exif = m->exif.bytes,
                         .exif_size = m->exif.size,
                         .xmp = m->xmp.bytes,
                         .xmp_size = m->xmp.size,
                         .has_cicp = m->has_cicp,
                         .gamma = m->gamma,
                         .density_x = m->density_x,
                         .density_y = m->density_y,
                         .density_is_ratio = m->density_x && m->density_unit == 0,
                         .has_modified = m->has_modified,
                         .modified_ns = m->modified_ns};
    if (m->has_cicp) memcpy(to.cicp, m->cicp, sizeof to.cicp);
    memcpy(to.chromaticities, m->chromaticities, sizeof to.chromaticities);
    return to;
}

int formats_metadata_copy(const taper_metadata *from, formats_metadata *to) {
    *to = (formats_metadata){.has_cicp = from->has_cicp != 0,
                             .gamma = from->gamma,
                             .density_x = from->density_x,
                             .density_y = from->density_y,
                             .density_unit = !from->density_is_ratio,
                             .has_modified = from->has_modified != 0,
                             .modified_ns = from->modified_ns};
    memcpy(to->cicp, from->cicp, sizeof to->cicp);
    memcpy(to->chromaticities, from->chromaticities, sizeof to->chromaticities);
    if (formats_blob_set(&to->icc, from->icc, from->icc_size) &&
        formats_blob_set(&to->exif, from->exif, from->exif_size) &&
        formats_blob_set(&to->xmp, from->xmp, from->xmp_size))
        return 1;
    formats_metadata_free(to);
    return 0;
}
