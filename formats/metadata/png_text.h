/* png_text.h -- the text of PNG text chunks, and the profiles that ImageMagick stores in them.
 *
 * Safe on hostile input: a chunk is expanded to at most `room` bytes. */
#ifndef FORMATS_PNG_TEXT_H
#define FORMATS_PNG_TEXT_H
#include "formats/status.h"

/* The first bytes, at most `room`, of the text of a chunk of type tEXt, zTXt or iTXt. *got: their
 * number; 0 if the chunk is damaged. TAPER_ERR_NOMEM. */
taper_status formats_png_text(const char type[4], const uint8_t *chunk, size_t size, uint8_t *to,
                              size_t room, size_t *got, taper_error *error);

/* Decode a "Raw profile" in place: a name, a length and hexadecimal digits, on separate lines.
 * Returns the number of bytes; fewer than the length if digits are missing. */
size_t formats_raw_profile(uint8_t *text, size_t n);

#endif
