/* background.h -- the background of a colour plane, which encoders choose. */
#ifndef CODEC_BACKGROUND_H
#define CODEC_BACKGROUND_H
#include "codec/pixels/colour_plane.h"

/* The most frequent colour, which costs least. But if its mean squared error is above that of what
 * is shown without a background (grey, or opaque), the plane's colour with the least error, or if
 * that is worse, too, what is shown. So no cut shows less than a shorter one. Of colours with alpha
 * the error is that of alpha, and of the others times alpha. */
uint32_t codec_choose_background(const codec_colour_plane *plane);

#endif
