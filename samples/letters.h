/* letters.h -- a stroke alphabet of our own, for pictures of text: A to Z, 0 to 9, a few marks. */
#ifndef SAMPLES_LETTERS_H
#define SAMPLES_LETTERS_H
#include "samples/canvas.h"

/* Add a character's strokes to the path with its lower left corner at (x, y); size: height of a
 * capital. Unknown characters (the space too) are blank. Returns how far to the right the next one
 * starts. */
float samples_letter(samples_path *p, char c, float x, float y, float size);

/* A pronounceable word of 2 to 9 capitals, or a number; to holds 12 characters. */
void samples_word(samples_random *r, char to[12]);

#endif
