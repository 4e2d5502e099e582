/* encoder.h -- internal functions of the encoder for repack, which passes quantised codes. */
#ifndef CODEC_ENCODER_H
#define CODEC_ENCODER_H
#include "codec/taper.h"
#include "formats/account.h"
#include "formats/front.h"

/* Like taper_encoder_new, for an encoder that gets only codes. account: borrowed. It is charged
 * with the encoder's memory, also after the encoder is freed. NULL: an account of its own. */
taper_status codec_encoder_new_for_codes(taper_encoder **out, const taper_model *model,
                                         const taper_encode_options *options,
                                         formats_account *account, taper_error *error);
/* Like taper_encoder_add, with codes instead of pixels. image: the geometry; its pixels are NULL.
 * code: [windows][units] signed magnitudes at the finest step; the encoder owns it, also after a
 * failure. rate_class: 0, or a class of codec_encoder_take_layers. An encoder must not get both
 * codes and pixels. */
taper_status codec_encoder_add_codes(taper_encoder *encoder, const taper_image *image,
                                     int16_t *code, const char *name, int32_t label,
                                     uint32_t rate_class, taper_error *error);
/* Memory, in bytes, that writing the unfinished group of this rate class needs besides its codes.
 */
uint64_t codec_encoder_needs(const taper_encoder *encoder, uint32_t rate_class);
/* Encode at most this many passes. Call before the first image. */
void codec_encoder_limit_passes(taper_encoder *encoder, uint32_t passes);
/* Use these layers, layer_end[layers][rate_classes] as in formats_front, instead of the model's.
 * Call before the first image. TAPER_ERR_NOMEM. */
taper_status codec_encoder_take_layers(taper_encoder *encoder, const uint32_t *layer_end,
                                       uint32_t rate_classes, uint32_t layers);

/* Store the search codes of `front`, whose images were added one by one. Call after the last
 * image. */
taper_status codec_encoder_take_search_codes(taper_encoder *encoder, const formats_front *front,
                                             taper_error *error);

#endif
