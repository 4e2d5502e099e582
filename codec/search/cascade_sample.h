/* cascade_sample.h -- a sample of the codes of an index, evenly spaced in their order. A search
 * measures the shares of its query (cascade.h) with it. The codes are copied, because reading them
 * at their places would take as long as a search. */
#ifndef CODEC_CASCADE_SAMPLE_H
#define CODEC_CASCADE_SAMPLE_H
#include "codec/search/cascade.h"

enum {
    CODEC_CASCADE_SAMPLE = 4096,
    /* An index of up to this number of codes needs no sample: exact searches are as fast. */
    CODEC_CASCADE_SMALL = 4 * CODEC_CASCADE_SAMPLE
};

typedef struct codec_cascade_sample {
    codec_ordered_index index; /* without a table */
    codec_cascade cascade;     /* of that index */
    uint64_t *words;
    uint32_t *image;
} codec_cascade_sample;

/* Take a sample of the codes of `cascade` and set cascade->sample. The sample must outlive the
 * cascade. Does nothing for a small index. TAPER_ERR_NOMEM: *sample is zeroed. */
taper_status codec_cascade_sample_take(codec_cascade_sample *sample, codec_cascade *cascade);
/* Safe on a zeroed struct. */
void codec_cascade_sample_free(codec_cascade_sample *sample);

#endif
