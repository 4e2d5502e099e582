/* window.h -- the shape of windows, and the grid of windows over an image. */
#ifndef CODEC_WINDOW_H
#define CODEC_WINDOW_H
#include <stdint.h>

enum { CODEC_MAX_WINDOW_SIDE = 256, CODEC_MAX_INPUTS = 65536 };

struct codec_lap;

typedef struct codec_window {
    uint32_t width, height, channels; /* channels 1 or 3 */
    const struct codec_lap *lap;      /* borrowed; NULL: windows do not overlap (lap.h) */
} codec_window;

/* The grid of windows of one image. */
typedef struct codec_grid {
    uint32_t columns, rows;
} codec_grid;

/* The neighbours of a window in its grid. */
enum { CODEC_LEFT, CODEC_RIGHT, CODEC_UP, CODEC_DOWN };

static inline uint32_t codec_window_values(codec_window w) {
    return w.width * w.height * w.channels;
}

#endif
