/* jitter.h -- training examples moved a little, differently in every step. A network that has seen
 * each image in many places learns what images of this kind have in common, not these images.
 *
 * An example's values become
 *     y'(p) = y(M p + d),   coordinates from the middle of the window,
 * with M = 1 + (zoom or shear of each entry) and d a shift, interpolated bilinearly; what lies
 * outside repeats the edge. Interpolation softens: do not use it where the finest grain of detail
 * counts. */
#ifndef TRAIN_JITTER_H
#define TRAIN_JITTER_H
#include <stdint.h>

/* Most that an example is moved: on M's diagonal, off it (0.1 is 5.7 degrees), pixels. */
#define TRAIN_JITTER_ZOOM  0.05
#define TRAIN_JITTER_TURN  0.1
#define TRAIN_JITTER_SHIFT 0.5

typedef struct train_jitter {
    uint32_t width, height, channels; /* of a window, values channel-planar */
    float fraction; /* 0 .. 1 of the examples are moved; the others stay as they are */
} train_jitter;

/* to[width height channels] becomes `from`, moved as (seed, step, i) say: a pure function of the
 * arguments. Windows of less than 2 x 2 stay as they are. to must not overlap from. */
void train_jitter_row(const train_jitter *jitter, const uint8_t *from, uint64_t seed, uint64_t step,
                      uint64_t i, uint8_t *to);

#endif
