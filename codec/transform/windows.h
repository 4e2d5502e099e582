/* windows.h -- images to windows and back: the grid of equal windows that covers an image.
 *
 * Windows are numbered row by row from the top left. If the last column or row extends beyond the
 * image, the pixel at the edge is repeated; it is cropped on the way back. A window is width *
 * height * channels floats on the 8-bit scale, channel-planar (network.h). 16-bit samples are
 * divided by 257. */
#ifndef CODEC_WINDOWS_H
#define CODEC_WINDOWS_H
#include "codec/window.h"
#include "formats/status.h"

codec_grid codec_windows_grid(codec_window window, uint32_t width, uint32_t height);

/* Read an image into to[columns * rows][values], the network's input. Grey images fill all channels
 * of a colour window. image->channels must be 1, or 3 for a colour window. */
void codec_windows_read(codec_window window, const taper_image *image, float *to);

/* Undo the lap of windows on the 8-bit scale, and write them to the image (picture.h). For
 * training; the decoder never has floats of a linear model. TAPER_ERR_NOMEM. */
taper_status codec_windows_write(codec_window window, const float *from, taper_image *image);

#endif
