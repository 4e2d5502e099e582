/* model_payload.h -- what model_write.c and model_read.c share: fields of a model's payload. The
 * numbers are those of SPEC.md, 6.2. */
#ifndef CODEC_MODEL_PAYLOAD_H
#define CODEC_MODEL_PAYLOAD_H
#include "codec/model/model.h"

enum { CODEC_MEAN_ONE = 64 }; /* means are stored in 1/64 */

/* The features of a payload. */
enum {
    CODEC_FLAG_TIED = 1,
    CODEC_FLAG_DIRECT = 2,
    CODEC_FLAG_BINARY = 4,
    CODEC_FLAG_TIED_STACKS = 8,
    CODEC_FLAG_CONDITIONAL = 16,
    CODEC_FLAG_HEAD = 32,
    CODEC_FLAG_LAPPED = 64,
    CODEC_FLAG_FEEDBACK = 128
};

/* info's lap, widths of networks, work and feedback, from what the model has. */
void codec_model_describe(taper_model *model);

#endif
