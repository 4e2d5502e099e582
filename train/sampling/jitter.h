/* jitter.h -- small random motions of training examples, different in every step, against
 * overfitting.
 *
 * An example's values become
 *     y'(p) = y(M p + d),   coordinates relative to the middle of the window,
 * with M the identity plus a random matrix (zoom and shear) and d a shift. Values are interpolated
 * bilinearly; edge values are repeated outside. Interpolation blurs: do not use it if the finest
 * details matter. */
#ifndef TRAIN_JITTER_H
#define TRAIN_JITTER_H
#include "train/sampling/philox.h"

/* Maximum changes: of M's diagonal, of the other entries (0.1 is 5.7 degrees), and of d in
 * pixels. */
#define TRAIN_JITTER_ZOOM  0.05
#define TRAIN_JITTER_SHEAR 0.1
#define TRAIN_JITTER_SHIFT 0.5

typedef struct train_jitter {
    uint32_t width, height, channels; /* of a window, values channel-planar */
    /* 0 .. 1: fraction of the examples that are moved */
    float fraction;
    /* 0 .. 10: factor of the maximum changes; 0 means 1 */
    float strength;
    /* 0 .. 1: fraction of the moved examples that are mirrored, too */
    float mirror;
    /* Maximum shift; 0: TRAIN_JITTER_SHIFT times strength. */
    float shift;
    /* For the operation jitter (train/device/operations.h), on the device: the i of each row; NULL:
     * its number. */
    const uint32_t *position;
} train_jitter;

/* to[width height channels] = `from`, moved according to (seed, step, i): a pure function of the
 * arguments. Windows of less than 2 x 2 are copied. to must not overlap from. */
void train_jitter_row(const train_jitter *jitter, const uint8_t *from, uint64_t seed, uint64_t step,
                      uint64_t i, uint8_t *to);

/* --- scalar parts, also for kernels ------------------------------------------------------- */

/* The source of pixel (x, y): (a x + b y + dx, c x + d y + dy), relative to the middle. */
typedef struct train_motion {
    double a, b, c, d, dx, dy;
} train_motion;

/* Returns 1 and the motion of example i, or 0 if it is not moved. */
CODEC_INLINE int train_motion_of(const train_jitter *j, uint64_t seed, uint64_t step, uint64_t i,
                                 train_motion *m) {
    uint32_t word[8];
    double u[6];
    if (j->width < 2 || j->height < 2) return 0;
    train_philox(seed, 2 * i, TRAIN_STREAM_JITTER + (step << 8), word);
    if (train_philox_uniform(word[0]) >= j->fraction) return 0;
    train_philox(seed, 2 * i + 1, TRAIN_STREAM_JITTER + (step << 8), word + 4);
    for (int k = 0; k < 6; k++) u[k] = 2.0 * (double)train_philox_uniform(word[k + 1]) - 1.0;
    const double strength = j->strength > 0.0f ? (double)j->strength : 1.0;
    const double shift = j->shift > 0.0f ? (double)j->shift : TRAIN_JITTER_SHIFT * strength;
    m->dx = shift * u[0];
    m->dy = shift * u[1];
    m->a = 1.0 + TRAIN_JITTER_ZOOM * strength * u[2];
    m->b = TRAIN_JITTER_SHEAR * strength * u[3];
    m->c = TRAIN_JITTER_SHEAR * strength * u[4];
    m->d = 1.0 + TRAIN_JITTER_ZOOM * strength * u[5];
    if (train_philox_uniform(word[7]) < j->mirror) m->a = -m->a, m->c = -m->c;
    return 1;
}

/* Clamps a coordinate to the window such that its right neighbour is inside too. */
CODEC_INLINE double train_into_window(double at, uint32_t size) {
    const double last = (double)size - 1.001;
    return at < 0.0 ? 0.0 : at > last ? last : at;
}

/* A position between four pixels of a plane; `first` is the index of the upper left one. */
typedef struct train_place {
    size_t first;
    float right, down; /* 0 .. 1 */
} train_place;

/* The source of pixel (x, y) of a window of width x height. */
CODEC_INLINE train_place train_place_of(const train_motion *m, uint32_t x, uint32_t y,
                                        uint32_t width, uint32_t height) {
    const double middle_x = 0.5 * (width - 1.0), middle_y = 0.5 * (height - 1.0);
    double fx = x - middle_x, fy = y - middle_y;
    double sx = train_into_window(m->a * fx + m->b * fy + m->dx + middle_x, width),
           sy = train_into_window(m->c * fx + m->d * fy + m->dy + middle_y, height);
    size_t ix = (size_t)sx, iy = (size_t)sy;
    train_place place = {iy * width + ix, (float)(sx - (double)ix), (float)(sy - (double)iy)};
    return place;
}

CODEC_INLINE uint8_t train_pixel_at(const uint8_t *plane, uint32_t width, train_place place) {
    const uint8_t *p = plane + place.first;
    float upper = (float)p[0] + place.right * ((float)p[1] - (float)p[0]);
    float lower = (float)p[width] + place.right * ((float)p[width + 1] - (float)p[width]);
    return (uint8_t)(upper + place.down * (lower - upper) + 0.5f);
}

#endif
