/* encoder.h -- the encoder of repack, which passes quantised codes; see also encoder_layers.h,
 * encoder_groups.h and encoder_set.h.
 *
 * The directory codec/container/: images to containers, and containers to other containers.
 *   encoder          the functions taper_encoder_*: encoder_check: which images it accepts;
 *                    encoder_set: the list of images; encoder_layers: where layers end;
 *                    encoder_groups: images to groups to chunks; encoder_finish: the container;
 *                    encoder_state: what all of these share
 *   small_set        the last step for a small set: where its data end; holds: cuts that are
 *                    rendered as shorter ones; cut_quality: the PSNR of each cut
 *   recut            truncate and repack; kept_codes: codes that need not be decoded again;
 *                    repack_exact: repack of lossless containers
 *   merge            several containers to one; merge_layers: their layers and rate classes;
 *                    merge_chunks: their chunks and checksums */
#ifndef CODEC_ENCODER_H
#define CODEC_ENCODER_H
#include "codec/taper.h"
#include "formats/account.h"

/* Like taper_encoder_new, for an encoder that gets only codes. account: borrowed. It is charged
 * with the encoder's memory, also after the encoder is freed. NULL: an account of its own. */
taper_status codec_encoder_new_for_codes(taper_encoder **out, const taper_model *model,
                                         const taper_encode_options *options,
                                         formats_account *account, taper_error *error);
/* Like taper_encoder_add, with codes instead of pixels. image: the geometry. Its pixels are NULL,
 * unless it has alpha or is indexed: then they are allocated, and have that at least. code:
 * [windows][units] signed magnitudes at the finest step; NULL: an indexed image. The encoder owns
 * pixels and code, also after a failure. rate_class: 0, or a class of codec_encoder_take_layers. An
 * encoder must not get both codes and pixels of other images. */
taper_status codec_encoder_add_codes(taper_encoder *encoder, const taper_image *image,
                                     int16_t *code, const char *name, int32_t label,
                                     uint32_t rate_class, taper_error *error);

#endif
