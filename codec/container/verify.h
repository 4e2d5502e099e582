/* verify.h -- refusing damage before it is carried on. taper_verify itself is in taper.h. */
#ifndef CODEC_VERIFY_H
#define CODEC_VERIFY_H
#include "formats/container.h"

/* TAPER_ERR_CORRUPT: a checksum fails over chunks that begin before this byte of the source. To
 * carry such damage on would give it a fresh checksum. */
taper_status codec_refuse_damage(const formats_front *front, const taper_source *from,
                                 uint64_t before, taper_error *error);

#endif
