/* cascade_sample.h -- codes that are spread over an index, by which a search learns how the
 * neighbours of its query lie. They are copied, as they are read by each query: from all over the
 * index that would take as long as a search. */
#ifndef CODEC_CASCADE_SAMPLE_H
#define CODEC_CASCADE_SAMPLE_H
#include "codec/search/cascade.h"

enum {
    CODEC_CASCADE_SAMPLE = 4096,
    /* An index of so many codes and fewer needs none: exact searches are as fast. */
    CODEC_CASCADE_SMALL = 4 * CODEC_CASCADE_SAMPLE
};

typedef struct codec_cascade_sample {
    codec_ordered_index index; /* without a table */
    codec_cascade cascade;     /* of it */
    uint64_t *words;
    uint32_t *image;
} codec_cascade_sample;

/* A sample of cascade's codes, whose `sample` it becomes: it must outlive the cascade. Where that
 * is small there is none. TAPER_ERR_NOMEM: nothing is held. */
taper_status codec_cascade_sample_take(codec_cascade_sample *sample, codec_cascade *cascade);
void codec_cascade_sample_free(codec_cascade_sample *sample); /* a zeroed one is fine */

#endif
