/* lap.h -- overlapping windows: a filter across every edge between two windows, before the network
 * when encoding and after it when decoding. So the network's window reaches beyond its pixels, and
 * the errors of its code leave no visible edge.
 *
 * For two pixels at the same distance on either side of an edge, the mean is kept and the
 * difference d is mixed: d' = V d, where d[k] is the difference at distance k < reach. That is the
 * pre-filter; the post-filter applies the inverse of V. All rows of pixels are filtered, then all
 * columns. The edges of the image are not filtered.
 *
 * This is the time-domain lapped transform of Tran, Liang and Tu, "Lapped transform via time-domain
 * pre- and post-filtering" (IEEE Trans. Signal Processing 51(6), 2003), with the network instead of
 * the cosine transform. */
#ifndef CODEC_LAP_H
#define CODEC_LAP_H
#include "codec/transform/picture.h"

enum {
    CODEC_LAP_MOST = 16,  /* largest reach in pixels; also at most half the window's shorter side */
    CODEC_LAP_ONE = 4096, /* 1.0 in a stored matrix */
    CODEC_LAP_TOP = 16    /* the largest element of the inverse of a legal matrix */
};

typedef struct codec_lap {
    uint32_t reach;                                  /* 0: none */
    int16_t stored[CODEC_LAP_MOST * CODEC_LAP_MOST]; /* [reach][reach], 1/CODEC_LAP_ONE: V^-1 */
    /* (M - I) / 2, the change of one side of the edge. Pre-filter: M = V; post-filter: M = V^-1. */
    float prefilter[CODEC_LAP_MOST * CODEC_LAP_MOST], postfilter[CODEC_LAP_MOST * CODEC_LAP_MOST];
} codec_lap;

/* Set prefilter and postfilter from reach and stored. TAPER_ERR_CORRUPT: reach is above
 * CODEC_LAP_MOST, or the matrix has no inverse with elements up to CODEC_LAP_TOP. */
taper_status codec_lap_prepare(codec_lap *lap);

/* Filter windows [grid.rows * grid.columns][values] of one image in place. unfilter: the
 * post-filter in floats, to train. */
void codec_lap_prefilter(codec_window window, codec_grid grid, float *windows);
void codec_lap_unfilter(codec_window window, codec_grid grid, float *windows);

/* The pre-filter of the edges between a row of windows and the one below it; codec_lap_prefilter of
 * each row alone, as a grid of one row, comes before. */
void codec_lap_prefilter_below(codec_window window, uint32_t columns, float *above, float *below);

/* The post-filter of a picture, in integers: the columns' edges, then the rows'. For a and b at
 * distance k on either side of an edge, with all results clamped to 16 bits:
 *     d(k) = a(k) - b(k)
 *     c(k) = (sum over j of stored(k, j) d(j) - 4096 d(k) + 4096) >> 13, the sum modulo 2^32
 *     a(k) = a(k) + c(k),    b(k) = b(k) - c(k) */
void codec_lap_postfilter(codec_window window, const codec_picture *picture);

/* The same for a picture that grows downwards: its rows first .. end - 1 are new rows of windows,
 * those above are filtered already, the upper edge of `first` is not. The last `reach` rows of each
 * window above an edge change only with the row of windows below it. */
void codec_lap_postfilter_from(codec_window window, const codec_picture *picture, uint32_t first,
                               uint32_t end);

#endif
