/* cascade_measure.h -- calibration of cascade.h on the codes of an index: the shares of the first
 * layers, and the recall for each effort. */
#ifndef CODEC_CASCADE_MEASURE_H
#define CODEC_CASCADE_MEASURE_H
#include "codec/search/cascade.h"

enum { CODEC_CASCADE_EFFORTS = FORMATS_INDEX_EFFORTS };
/* The effort of recall[e]. */
static inline float codec_cascade_effort(size_t e) { return 0.5f * (float)e; }
/* The share of a normal distribution within +-effort standard deviations. A layer drops only those
 * above, half of the rest; several layers drop more. */
extern const float codec_cascade_normal[CODEC_CASCADE_EFFORTS];
/* The smallest effort with at least this recall, 0..1, or CODEC_CASCADE_EXACT. */
float codec_cascade_effort_for(const float recall[CODEC_CASCADE_EFFORTS], double wanted);

/* Measure share[layers][2], and the recall of the ten nearest at each effort. The queries are a
 * hundred of the codes; a code is not its own neighbour. TAPER_ERR_NOMEM. */
taper_status codec_cascade_measure(const codec_cascade *cascade, codec_pool *pool, float *share,
                                   float recall[CODEC_CASCADE_EFFORTS]);

#endif
