/* windows.h -- images to windows and back: the grid of equal windows that covers an image.
 *
 * Windows run row by row from the top left. Where the last column or row reaches over the edge, the
 * edge pixel is repeated; it is cropped on the way back. A window is width * height * channels
 * floats on the 8-bit scale, channel-planar (network.h). 16-bit samples are divided by 257. */
#ifndef CODEC_WINDOWS_H
#define CODEC_WINDOWS_H
#include "codec/window.h"
#include "formats/status.h"

codec_grid codec_windows_grid(codec_window window, uint32_t width, uint32_t height);

/* to: [columns * rows][values], as the network sees them. Grey images fill all channels of a colour
 * window. image->channels is 1, or 3 with a colour window. */
void codec_windows_read(codec_window window, const taper_image *image, float *to);

/* The windows' values into the image's samples, rounded and clamped. */
void codec_windows_store(codec_window window, const float *windows, taper_image *image);

/* Undo the lap, then store. image: geometry, channels (1 or 3), depth and pixels given. A grey
 * image from colour windows takes the mean of the channels. TAPER_ERR_NOMEM: windows that lap need
 * as much again as `from`. */
taper_status codec_windows_write(codec_window window, const float *from, taper_image *image);

#endif
