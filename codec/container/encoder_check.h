/* encoder_check.h -- which images an encoder accepts. */
#ifndef CODEC_ENCODER_CHECK_H
#define CODEC_ENCODER_CHECK_H
#include "codec/container/encoder_state.h"

/* Check an image and its name, which may be NULL. The errors are those of taper_encoder_add after
 * which the encoder stays usable. */
taper_status codec_encoder_check_image(const taper_encoder *encoder, const taper_image *image,
                                       const char *name, taper_error *error);

#endif
