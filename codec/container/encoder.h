/* encoder.h -- the encoder's inner entrances, for repack: it is given codes that are quantised. */
#ifndef CODEC_ENCODER_H
#define CODEC_ENCODER_H
#include "codec/taper.h"
#include "formats/account.h"
#include "formats/front.h"

/* As taper_encoder_new, for an encoder that is given codes alone. account: borrowed; charged with
 * what it takes, which is not given back when it is freed. NULL: one of its own. */
taper_status codec_encoder_new_for_codes(taper_encoder **out, const taper_model *model,
                                         const taper_encode_options *options,
                                         formats_account *account, taper_error *error);
/* As taper_encoder_add, with codes for pixels. image: the geometry, pixels NULL. code:
 * [windows][units] signed magnitudes at the finest step, passes over also on failure. rate_class:
 * one that codec_encoder_take_layers gave, or 0. Not to be mixed with taper_encoder_add. */
taper_status codec_encoder_add_codes(taper_encoder *encoder, const taper_image *image,
                                     int16_t *code, const char *name, int32_t label,
                                     uint32_t rate_class, taper_error *error);
/* What the group that is filling in this rate class takes besides its codes while it is written. */
uint64_t codec_encoder_needs(const taper_encoder *encoder, uint32_t rate_class);
/* End the order after this many passes; before the first image. */
void codec_encoder_limit_passes(taper_encoder *encoder, uint32_t passes);
/* Use these layers, layer_end[layers][rate_classes] as in formats_front, instead of the model's;
 * before the first image. TAPER_ERR_NOMEM. */
taper_status codec_encoder_take_layers(taper_encoder *encoder, const uint32_t *layer_end,
                                       uint32_t rate_classes, uint32_t layers);

/* Those of a container that is encoded anew, image by image. Call after the last image. */
taper_status codec_encoder_take_search_codes(taper_encoder *encoder, const formats_front *front,
                                             taper_error *error);

#endif
