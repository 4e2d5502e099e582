/* own_mark.h -- a mark in image files: the program that wrote the file, and a hash of all its
 * bytes. With it the program recognises a file that was not changed since. */
#ifndef FORMATS_OWN_MARK_H
#define FORMATS_OWN_MARK_H
#include <stddef.h>
#include <stdint.h>

/* Append this to the program name for the functions that write image files:
 * "taper decode" FORMATS_OWN_MARK_EMPTY. The name must have no digits. */
#define FORMATS_OWN_MARK_EMPTY " 0000000000000000"

/* Write the hash into the empty mark of a file of n bytes. */
void formats_own_mark_set(uint8_t *bytes, size_t n, const char *program);

/* The same for a file that was written in pieces; descriptor: open for reading and writing. Without
 * an empty mark nothing changes. Returns 0 if the file cannot be read or written. */
int formats_own_mark_set_in(int descriptor, const char *program);

/* 1 if the file is unchanged since this program wrote it. Reads the descriptor from start to end.
 * Safe on hostile input; but the mark is no proof of origin, because anyone can make one. */
int formats_own_mark_holds(int descriptor, const char *program);

#endif
