/* parked_strips.h -- the state of a group packed while the group waits, and made again.
 *
 * Of a state of 7.2 MiB (a photograph of 768 x 512 and the model `photo`) decoding needs its levels
 * and little else that cannot be computed from them. While other groups are in work, the state is
 * parked: levels, known planes and the inputs of the conditional model are packed, and the rest is
 * freed. What stays as it is: adaptive probabilities, the progress, the coder of the string, the
 * windows' neighbours.
 *
 * A parked state is woken in two steps. For rendering it needs only its levels. To decode on, it
 * needs norms, sums of the conditional model and the contexts of the pass that has begun: these are
 * made from what was known before that pass, and its decoded positions are gone through again. The
 * state is then that of a group that was never parked.
 *
 * The directory codec/parking/: groups that wait for bytes while others are decoded.
 *   packed_rows    rows of levels in few bytes
 *   parked_strips  the state of a group packed, and made again
 *   awake_strips   which groups are packed, and when */
#ifndef CODEC_PARKED_STRIPS_H
#define CODEC_PARKED_STRIPS_H
#include "codec/bitplane/strips.h"

/* Pack the state and free what is packed. Cheap if it was only woken for reading. TAPER_ERR_NOMEM,
 * TAPER_ERR_LIMIT: it is as before. */
taper_status codec_strips_park(codec_strips *strips);

/* Make the state that a parked group needs for reading; or, unless codec_strips_end_coding came,
 * for decoding. Does nothing if it is there. TAPER_ERR_NOMEM, TAPER_ERR_LIMIT: it is as before. */
taper_status codec_strips_wake(codec_strips *strips, int for_coding);

/* The memory of the state as it is now; and what waking it for coding takes, at most. */
uint64_t codec_strips_held(const codec_strips *strips);
uint64_t codec_strips_missing(const codec_strips *strips);

#endif
