/* read_payloads.h -- metadata of JPEG and PNG files: colour profile, cICP, gamma, chromaticities,
 * density, EXIF, XMP. The files are read without libjpeg and libpng.
 *
 * Safe on hostile input: time is linear in n; payloads are bounded by FORMATS_MOST_BLOB before they
 * are unpacked. Payloads that are damaged or larger are noted in left_out; other damaged metadata
 * count as missing. Of several payloads of a kind the first counts. */
#ifndef FORMATS_READ_PAYLOADS_H
#define FORMATS_READ_PAYLOADS_H
#include "formats/metadata/picture_metadata.h"
#include "formats/status.h"

/* The caller frees *out. TAPER_ERR_NOMEM: *out is zeroed. */
taper_status formats_jpeg_metadata(const void *bytes, size_t n, formats_metadata *out,
                                   taper_error *error);
taper_status formats_png_metadata(const void *bytes, size_t n, formats_metadata *out,
                                  taper_error *error);

#endif
