/* cascade_measure.h -- how far a search by cascade.h may trust first layers: measured on the codes
 * themselves, and the recall that this brings. */
#ifndef CODEC_CASCADE_MEASURE_H
#define CODEC_CASCADE_MEASURE_H
#include "codec/search/cascade.h"

enum { CODEC_CASCADE_EFFORTS = FORMATS_INDEX_EFFORTS };
/* The effort that recall[e] is measured at. */
static inline float codec_cascade_effort(size_t e) { return 0.5f * (float)e; }
/* The share of normal numbers that lie within an effort of 0, to either side. Those beyond it on
 * one side alone are lost after a layer, half as many; after several layers more are. */
extern const float codec_cascade_normal[CODEC_CASCADE_EFFORTS];
/* The least effort that has so much recall, 0..1, or CODEC_CASCADE_EXACT. */
float codec_cascade_effort_for(const float recall[CODEC_CASCADE_EFFORTS], double wanted);

/* Measure share[layers][2], and the recall of the ten nearest at each effort, on a hundred of the
 * codes, each without itself. TAPER_ERR_NOMEM. */
taper_status codec_cascade_measure(const codec_cascade *cascade, codec_pool *pool, float *share,
                                   float recall[CODEC_CASCADE_EFFORTS]);

#endif
