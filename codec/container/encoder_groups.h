/* encoder_groups.h -- the steps between taper_encoder_add and taper_encoder_finish: images
 * to rate classes, rate classes to groups, groups to chunks in the spool. */
#ifndef CODEC_ENCODER_GROUPS_H
#define CODEC_ENCODER_GROUPS_H
#include "codec/container/encoder_state.h"

/* Add image `number`, which was recorded, to the group of its rate class. Its pixels are NULL if
 * there are only codes; code is NULL if it is not computed yet, and of indexed images. Both must be
 * charged; the encoder owns them, also after a failure. codec_encoder_allocate chooses the rate
 * class by the allocation. It defers this until there are enough images. */
taper_status codec_encoder_place(taper_encoder *encoder, taper_image image, int16_t *code,
                                 size_t number, uint32_t rate_class);
taper_status codec_encoder_allocate(taper_encoder *encoder, taper_image image, size_t number);
/* Place the images that wait now, before an image that does not. */
taper_status codec_encoder_end_waiting(taper_encoder *encoder);

/* Add large image `number`, alone in its group. strips: owned, also after a failure. */
taper_status codec_encoder_place_strips(taper_encoder *encoder, taper_image image,
                                        codec_strip_codes *strips, size_t number,
                                        uint32_t rate_class);
/* The file that codes of strips wait in: the spool. */
codec_waiting_bytes codec_encoder_waiting_bytes(taper_encoder *encoder);

/* Encode all deferred images and unfinished groups. */
taper_status codec_encoder_submit_all(taper_encoder *encoder);

/* A job of the queue: encode a codec_encode_job and store its chunks in the spool. Only one job at
 * a time writes to the spool. Frees the job. */
void codec_encode_job_run(void *job);
/* NULL is allowed. */
void codec_encode_job_free(codec_encode_job *job);

/* Memory, in bytes, that writing the unfinished group of this rate class needs besides its codes.
 */
uint64_t codec_encoder_needs(const taper_encoder *encoder, uint32_t rate_class);

#endif
