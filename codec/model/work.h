/* work.h -- the computing time and memory of a model: multiply-adds per pixel of its windows, which
 * depend only on its architecture. So a model that would take hours is rejected before it decodes
 * an image. */
#ifndef CODEC_WORK_H
#define CODEC_WORK_H
#include "codec/model/model.h"

typedef struct codec_work {
    /* To decode with all passes; or to encode, if there is no decoder. Without the work that
     * depends on the image: that of the conditional model for nonzero coefficients. */
    uint64_t usual;
    /* The larger of: the same if no coefficient is 0 and all planes are raised; to encode. */
    uint64_t most;
} codec_work;

/* The work of a loaded model; rounded up. */
codec_work codec_work_of(const taper_model *model);

/* TAPER_ERR_LIMIT: `most` exceeds max_work. */
taper_status codec_work_check(const taper_model *model, uint64_t max_work, taper_error *error);

/* TAPER_ERR_LIMIT: this number of weights, as floats, exceeds max_model bytes. */
taper_status codec_weights_check(uint64_t weights, uint64_t max_model, taper_error *error);

#endif
