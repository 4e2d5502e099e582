/* holds.h -- choosing which cuts of a small set are drawn as shorter ones (formats/holds.h).
 *
 * Over many windows the gains of a pass's bits outweigh their losses. Of one small image they need
 * not: half of a pass may show less than none of it, and a coarse value may be nearer by chance
 * than a finer one. Where a cut shows less than a shorter one, a hold draws the shorter one
 * instead. A hold is chosen only where it costs next to nothing: no cut is drawn more than
 * CODEC_HOLD_LOSS_DB below what its bytes show. Where six holds do not suffice, deeper falls
 * remain. */
#ifndef CODEC_HOLDS_H
#define CODEC_HOLDS_H
#include "codec/container/cut_quality.h"

/* Below the 0.3 dB that are promised, since decoders may differ in the last place of a sum; further
 * below where only some cuts are known, since those between them may show more. */
#define CODEC_HOLD_LOSS_DB        0.25
#define CODEC_HOLD_SPARSE_LOSS_DB 0.2

/* Holds with the smallest falls that can be had, as the header stores them; 0: none is needed. The
 * same for the same curve. TAPER_ERR_NOMEM. */
taper_status codec_holds_choose(const codec_cut_quality *quality, uint64_t *holds);

/* Where the data should end: at the first cut of the highest PSNR, if the whole is more than 0.05
 * dB below it; else at the last. An index of the cuts. */
size_t codec_holds_end(const codec_cut_quality *quality);

#endif
