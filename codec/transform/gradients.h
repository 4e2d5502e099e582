/* gradients.h -- gradient orientations of a window: the fixed first layer of models of family
 * `gradients`.
 *
 * A window is divided into cells. Each cell has a histogram of the orientations of its gradients,
 * normalised by the contrast around it, and its mean colour. So inputs with equal shapes are alike,
 * whatever their brightness and contrast. The definition is that of P. F. Felzenszwalb, R. B.
 * Girshick, D. McAllester & D. Ramanan, "Object detection with discriminatively trained part-based
 * models", PAMI 32, 2010, section 6.1 (after N. Dalal & B. Triggs, "Histograms of oriented
 * gradients for human detection", CVPR 2005), in integers, with two changes: a gradient is
 * decomposed into the two directions beside it, and the mean colour is added. SPEC.md, 6.10,
 * defines every value.
 *
 * The values of a window, bytes, are planes of down x across cells, row by row:
 *   18   signed orientations, 20 degrees apart
 *    9   orientations without sign
 *    4   the sum of the signed ones, by the contrast of each of the four blocks at a cell
 *    c   the mean of each channel */
#ifndef CODEC_GRADIENTS_H
#define CODEC_GRADIENTS_H
#include "codec/transform/cells.h"
#include "codec/window.h"
#include "formats/taper_types.h"
#include <stddef.h>

/* Nonzero if windows of this size may have these cells. */
int codec_cells_are_legal(codec_window window, codec_cells cells);
/* The number of values of a window. */
uint32_t codec_gradients_count(codec_window window, codec_cells cells);

/* Compute values[n][codec_gradients_count] of pixels[n][width * height * channels], channel-planar
 * windows. The cells must be legal. All arithmetic is in integers: the result is the same on every
 * machine. Several threads may call it. TAPER_ERR_NOMEM. */
taper_status codec_gradients(codec_window window, codec_cells cells, size_t n,
                             const uint8_t *pixels, uint8_t *values);
/* The same of an image of the window's size, with samples of 8 bits. */
taper_status codec_gradients_of_image(codec_window window, codec_cells cells,
                                      const taper_image *image, uint8_t *values);

#endif
