/* circles.h -- the data of the guide's figure, and of section 4 of Goldberger et al. 2004: classes
 * that are concentric circles, beside noise that is louder than they are. */
#ifndef BENCH_CIRCLES_H
#define BENCH_CIRCLES_H
#include <stddef.h>
#include <stdint.h>

enum { CIRCLES_CLASSES = 5, CIRCLES_INPUTS = 3 };

/* The third number's deviation, for a variance of 25: that of each of the others is 5.5. Of 0.1
 * principal components find the circles. */
#define CIRCLES_NOISE 5.0f

/* rows[n][CIRCLES_INPUTS], label[n]. Row i is of class i % CIRCLES_CLASSES: on the circle of radius
 * class + 1 about 0, at an angle drawn evenly; its third number is normal, of mean 0 and this
 * deviation. A row depends on the seed and i alone. */
void circles_draw(uint64_t seed, size_t n, float deviation, float *rows, uint32_t *label);

#endif
