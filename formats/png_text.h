/* png_text.h -- the text of a PNG's text chunks, and the profiles that ImageMagick writes there.
 *
 * Safe on hostile input: no more than `room` bytes are made, whatever the chunk would expand to. */
#ifndef FORMATS_PNG_TEXT_H
#define FORMATS_PNG_TEXT_H
#include "formats/status.h"

/* The first bytes, up to room, of the text in the data of a chunk of this type (tEXt, zTXt, iTXt);
 * *got is how many, 0 when the chunk is damaged. TAPER_ERR_NOMEM */
taper_status formats_png_text(const char type[4], const uint8_t *chunk, size_t size, uint8_t *to,
                              size_t room, size_t *got, taper_error *error);

/* A "Raw profile": a name, a length, and hexadecimal digits, parted by ends of lines. Replaces n
 * bytes of text by the bytes that the digits mean, as far as they are there; returns how many. */
size_t formats_raw_profile(uint8_t *text, size_t n);

#endif
