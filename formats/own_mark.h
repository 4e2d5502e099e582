/* own_mark.h -- what a picture says of itself: which program wrote it, and a hash of all its bytes,
 * so that the program knows a file that is as it wrote it from one that was changed since. */
#ifndef FORMATS_OWN_MARK_H
#define FORMATS_OWN_MARK_H
#include <stddef.h>
#include <stdint.h>

/* The text that formats_png_encode_by and formats_pnm_encode_by take for a program, whose name has
 * no digits: "taper decode" FORMATS_OWN_MARK_EMPTY */
#define FORMATS_OWN_MARK_EMPTY " 0000000000000000"

/* Put the hash into the mark of a PNG or PNM file of n bytes that has an empty one. */
void formats_own_mark_set(uint8_t *bytes, size_t n, const char *program);

/* Is the file as this program wrote it? Reads the descriptor, from its start to its end. Safe on
 * hostile input: anyone can make such a mark. */
int formats_own_mark_holds(int descriptor, const char *program);

#endif
