/* verify.h -- rejecting damaged input before it is copied. taper_verify itself is in taper.h. */
#ifndef CODEC_VERIFY_H
#define CODEC_VERIFY_H
#include "formats/container.h"

/* Check the checksums over all chunks that begin before this byte of the source, or over those of
 * some groups: copied[groups], nonzero for these; NULL: all. TAPER_ERR_CORRUPT: one is wrong. (A
 * copy of the damaged bytes would get a valid checksum.) */
taper_status codec_refuse_damage(const formats_front *front, const taper_source *from,
                                 uint64_t before, const uint8_t *copied, taper_error *error);

#endif
