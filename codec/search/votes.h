/* votes.h -- labels by the votes of neighbours, and error rates. The interface of taper_vote and
 * taper_count_errors is codec/taper_search.h. */
#ifndef CODEC_VOTES_H
#define CODEC_VOTES_H
#include "codec/taper_search.h"

/* Wilson's 95 % interval of the rate wrong / tested, 0 <= wrong <= tested, tested 1... *low is 0 if
 * none is wrong, *high is 1 if all are. */
void codec_wilson(uint64_t wrong, uint64_t tested, double *low, double *high);

#endif
