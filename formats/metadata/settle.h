/* settle.h -- makes the metadata of a file those of an image whose pixels are upright, and drops
 * what is not wanted. */
#ifndef FORMATS_SETTLE_H
#define FORMATS_SETTLE_H
#include "formats/metadata/picture_metadata.h"

/* For an image of 1 to 4 channels, grey or in colour, that was turned upright: set orientations to
 * 1, remove the thumbnail of EXIF, and leave out a profile that is damaged or of other colours.
 * Safe on hostile input. */
void formats_metadata_settle(formats_metadata *metadata, unsigned channels);

/* Keep only what changes the look: profile, cICP, gamma, chromaticities; and of these only what
 * counts and does not mean sRGB. */
void formats_metadata_keep_look(formats_metadata *metadata);

#endif
