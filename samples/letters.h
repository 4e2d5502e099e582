/* letters.h -- a stroke alphabet of our own, A to Z, 0 to 9, a few marks: for pictures of text, and
 * for a labelled set of small images of one letter each. */
#ifndef SAMPLES_LETTERS_H
#define SAMPLES_LETTERS_H
#include "samples/canvas.h"

/* Add a character's strokes to the path with its lower left corner at (x, y); size: height of a
 * capital. Unknown characters (the space too) are blank. Returns how far to the right the next one
 * starts. */
float samples_letter(samples_path *p, char c, float x, float y, float size);

/* A pronounceable word of 2 to 9 capitals, or a number; to holds 12 characters. */
void samples_word(samples_random *r, char to[12]);

/* Small grey images of one capital each, turned, slanted, stretched and moved, by pens of several
 * widths, on paper that is not clean. */
enum { SAMPLES_LETTERS = 26, SAMPLES_LETTER_SIDE = 20 };

/* "A" .. "Z" for k of 0 .. SAMPLES_LETTERS - 1; image index of a set is of class index %
 * SAMPLES_LETTERS. */
const char *samples_letter_name(int k);

/* Draw image index of the set `seed`; the canvas has the side above. False when there is no memory.
 */
int samples_letter_draw(samples_canvas *c, uint64_t seed, uint64_t index);

#endif
