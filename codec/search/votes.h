/* votes.h -- labels by the votes of neighbours, and how often labels are wrong; the manual of
 * taper_vote and taper_count_errors, which votes.c defines, is codec/taper_search.h. */
#ifndef CODEC_VOTES_H
#define CODEC_VOTES_H
#include "codec/taper_search.h"

/* The 95 % interval of a rate of which `wrong` of `tested` trials tell, 0 <= wrong <= tested,
 * tested 1..: Wilson's. *low is 0 where none is wrong, *high 1 where all are. */
void codec_wilson(uint64_t wrong, uint64_t tested, double *low, double *high);

#endif
