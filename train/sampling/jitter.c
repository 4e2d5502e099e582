/* jitter.c -- see jitter.h. */
#include "train/sampling/jitter.h"
#include "train/sampling/philox.h"
#include <string.h>

/* Where pixel (x, y) comes from: (a x + b y + dx, c x + d y + dy), from the middle. */
typedef struct motion {
    double a, b, c, d, dx, dy;
} motion;

/* 1 and the motion of example i, or 0: it stays. */
static int draw(const train_jitter *j, uint64_t seed, uint64_t step, uint64_t i, motion *m) {
    uint32_t word[8];
    double u[6];
    train_philox(seed, 2 * i, TRAIN_STREAM_JITTER + (step << 8), word);
    if (train_philox_uniform(word[0]) >= j->fraction) return 0;
    train_philox(seed, 2 * i + 1, TRAIN_STREAM_JITTER + (step << 8), word + 4);
    for (int k = 0; k < 6; k++) u[k] = 2.0 * (double)train_philox_uniform(word[k + 1]) - 1.0;
    m->dx = TRAIN_JITTER_SHIFT * u[0];
    m->dy = TRAIN_JITTER_SHIFT * u[1];
    m->a = 1.0 + TRAIN_JITTER_ZOOM * u[2];
    m->b = TRAIN_JITTER_TURN * u[3];
    m->c = TRAIN_JITTER_TURN * u[4];
    m->d = 1.0 + TRAIN_JITTER_ZOOM * u[5];
    return 1;
}

/* Into the window, and so that the neighbour to the right is in it too. */
static double clamp(double at, uint32_t size) {
    const double last = (double)size - 1.001;
    return at < 0.0 ? 0.0 : at > last ? last : at;
}

static void move_plane(const uint8_t *from, uint32_t width, uint32_t height, const motion *m,
                       uint8_t *to) {
    const double middle_x = 0.5 * (width - 1.0), middle_y = 0.5 * (height - 1.0);
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++) {
            double fx = x - middle_x, fy = y - middle_y;
            double sx = clamp(m->a * fx + m->b * fy + m->dx + middle_x, width),
                   sy = clamp(m->c * fx + m->d * fy + m->dy + middle_y, height);
            size_t ix = (size_t)sx, iy = (size_t)sy;
            float px = (float)(sx - (double)ix), py = (float)(sy - (double)iy);
            const uint8_t *p = from + iy * width + ix;
            float upper = (float)p[0] + px * ((float)p[1] - (float)p[0]);
            float lower = (float)p[width] + px * ((float)p[width + 1] - (float)p[width]);
            to[(size_t)y * width + x] = (uint8_t)(upper + py * (lower - upper) + 0.5f);
        }
}

void train_jitter_row(const train_jitter *j, const uint8_t *from, uint64_t seed, uint64_t step,
                      uint64_t i, uint8_t *to) {
    const size_t plane = (size_t)j->width * j->height;
    motion m;
    if (j->width < 2 || j->height < 2 || !draw(j, seed, step, i, &m)) {
        memcpy(to, from, plane * j->channels);
        return;
    }
    for (uint32_t c = 0; c < j->channels; c++)
        move_plane(from + c * plane, j->width, j->height, &m, to + c * plane);
}
