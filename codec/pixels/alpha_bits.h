/* alpha_bits.h -- the lowest bits of soft alpha, whose upper bits are known. */
#ifndef CODEC_ALPHA_BITS_H
#define CODEC_ALPHA_BITS_H
#include "codec/pixels/colour_plane.h"

typedef struct codec_alpha_bits codec_alpha_bits;

uint64_t codec_alpha_bits_bytes(void);
/* TAPER_ERR_LIMIT, TAPER_ERR_NOMEM. */
taper_status codec_alpha_bits_open(codec_alpha_bits **out, formats_account *account);
void codec_alpha_bits_close(codec_alpha_bits *model); /* NULL is allowed */

/* Code the lowest `shift` bits of all known pixels of a plane, low[width * height]. Returns how
 * many pixels it has. */
uint64_t codec_alpha_bits_code(codec_alpha_bits *model, codec_pixel_bits *bits,
                               const codec_colour_plane *plane, int shift, uint16_t *low);

#endif
