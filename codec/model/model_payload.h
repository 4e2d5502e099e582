/* model_payload.h -- fields of a model's payload (SPEC.md, 6.2), shared by model_write.c and
 * model_read.c. */
#ifndef CODEC_MODEL_PAYLOAD_H
#define CODEC_MODEL_PAYLOAD_H
#include "codec/model/model.h"
#include <string.h>

enum { CODEC_MEAN_ONE = 64 }; /* means are stored in 1/64 */

/* Bits of the features of a payload. */
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

/* Read and write a binary32. */
static inline float codec_read_float(formats_cursor *in) {
    uint32_t bits = formats_read_u32le(in);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline void codec_write_float(formats_buffer *out, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    formats_write_u32le(out, bits);
}

/* Set lap, widths of networks, work, feedback and embedding of model->info from the model. */
void codec_model_describe(taper_model *model);

#endif
