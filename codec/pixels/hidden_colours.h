/* hidden_colours.h -- colours under full transparency, which nobody sees: an encoder chooses what
 * costs it least. */
#ifndef CODEC_HIDDEN_COLOURS_H
#define CODEC_HIDDEN_COLOURS_H
#include "formats/taper_types.h"

/* Replace the colours of pixels whose alpha is 0 by what continues those around them. The image has
 * alpha. TAPER_ERR_NOMEM. */
taper_status codec_hide_colours(taper_image *image);
/* The memory that it takes meanwhile. */
uint64_t codec_hide_colours_bytes(const taper_image *image);

#endif
