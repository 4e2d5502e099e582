/* encoder_set.h -- the list of images that an encoder has, and the codes for search. */
#ifndef CODEC_ENCODER_SET_H
#define CODEC_ENCODER_SET_H
#include "codec/container/encoder_state.h"

/* Append an image's geometry, name and label. TAPER_ERR_LIMIT, TAPER_ERR_NOMEM. */
taper_status codec_encoder_record(taper_encoder *encoder, const taper_image *image, int is_indexed,
                                  const char *name, int32_t label);

/* Store the search codes of `front`, whose images were added one by one. Call after the last
 * image. */
taper_status codec_encoder_take_search_codes(taper_encoder *encoder, const formats_front *front,
                                             taper_error *error);

/* Store the further names of `front`, whose images were added one by one. */
taper_status codec_encoder_take_names(taper_encoder *encoder, const formats_front *front,
                                      taper_error *error);

/* Store the metadata of `front`, whose images were added one by one. Call after the last image. */
taper_status codec_encoder_take_metadata(taper_encoder *encoder, const formats_front *front,
                                         taper_error *error);

#endif
