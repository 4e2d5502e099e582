/* work.h -- what a model asks of a processor: multiply-adds for each pixel of its windows, by its
 * architecture alone, so that a model that would take hours is refused before an image is; and of
 * its memory. */
#ifndef CODEC_WORK_H
#define CODEC_WORK_H
#include "codec/model/model.h"

typedef struct codec_work {
    uint64_t usual; /* to decode with all passes (to encode, where there is no decoder), but for
                       what depends on the image: what the conditional model does where a
                       coefficient is not 0 */
    uint64_t most;  /* the same where none is 0 and all planes are raised, or to encode, whichever
                       is more */
} codec_work;

/* Of a model that is loaded; rounded up. */
codec_work codec_work_of(const taper_model *model);

/* TAPER_ERR_LIMIT: `most` is more than that. */
taper_status codec_work_check(const taper_model *model, uint64_t max_work, taper_error *error);

/* TAPER_ERR_LIMIT: so many weights, as floats, take more than max_model bytes. */
taper_status codec_weights_check(uint64_t weights, uint64_t max_model, taper_error *error);

#endif
