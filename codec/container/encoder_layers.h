/* encoder_layers.h -- choosing where the layers of a container end. */
#ifndef CODEC_ENCODER_LAYERS_H
#define CODEC_ENCODER_LAYERS_H
#include "codec/container/encoder_state.h"

enum { CODEC_GROUP_PIXELS = 1 << 20 }; /* pixels of a group, unless options say otherwise */

/* Choose layers by the nominal size of groups, unless they are chosen: a short first group must not
 * change the layers, as shards are merged later. is_last: no image follows. may_be_plain: also
 * choose layers of all passes. TAPER_ERR_NOMEM. */
taper_status codec_encoder_choose_layers(taper_encoder *encoder, int is_last, int may_be_plain);
/* Leave out the layers in which no image has a pass, as images with aims ended before. Call after
 * the last group. */
void codec_encoder_drop_layers(taper_encoder *encoder);
/* Encode at most this many passes. Call before the first image. */
void codec_encoder_limit_passes(taper_encoder *encoder, uint32_t passes);
/* Use these layers, layer_end[layers][rate_classes] as in formats_front, instead of the model's.
 * Call before the first image. TAPER_ERR_NOMEM. */
taper_status codec_encoder_take_layers(taper_encoder *encoder, const uint32_t *layer_end,
                                       uint32_t rate_classes, uint32_t layers);

/* Nonzero: an image of this size is analysed and encoded strip by strip. */
int codec_encoder_goes_by_strips(const taper_encoder *encoder, const taper_image *image);

#endif
