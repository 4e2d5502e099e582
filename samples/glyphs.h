/* glyphs.h -- small colour images in ten classes: a sign in front of something, photographed. */
#ifndef SAMPLES_GLYPHS_H
#define SAMPLES_GLYPHS_H
#include "samples/canvas.h"

enum { SAMPLES_CLASSES = 10, SAMPLES_SMALL_SIDE = 32 };

/* Name of class k, 0 .. SAMPLES_CLASSES - 1, in alphabetical order: "arrow", ... */
const char *samples_class_name(int k);

/* The class of image index of a set: every class equally often, in shuffled order. */
int samples_small_class(uint64_t seed, uint64_t index);

/* Draw image index of the set `seed`; the canvas is 32 x 32. False when there is no memory. */
int samples_small_draw(samples_canvas *c, uint64_t seed, uint64_t index);

#endif
