/* holds.h -- choosing the cuts of a small set that are rendered as shorter ones (formats/holds.h).
 *
 * Over many windows each bit of a pass improves the result. For one small image this need not hold:
 * half of a pass may be worse than none of it, and a coarse value may be closer by chance than a
 * finer one. If a longer cut has a lower PSNR than a shorter one, a HOLD renders the shorter one
 * instead. A hold must not make any cut more than CODEC_HOLD_LOSS_DB worse than its own bytes would
 * be. If more than six holds are needed, the largest falls of the PSNR that remain are larger. */
#ifndef CODEC_HOLDS_H
#define CODEC_HOLDS_H
#include "codec/container/cut_quality.h"

/* Less than the promised 0.3 dB, as decoders may differ in the last digit of a sum. The second is
 * used if only some cuts were measured: a cut between them may have a higher PSNR. */
#define CODEC_HOLD_LOSS_DB        0.25
#define CODEC_HOLD_SPARSE_LOSS_DB 0.2

/* Choose the holds that minimise the largest fall of the PSNR, as the header stores them; 0: none
 * is needed. Deterministic. TAPER_ERR_NOMEM. */
taper_status codec_holds_choose(const codec_cut_quality *quality, uint64_t *holds);

/* The index of the cut where the data should end: the first cut of the highest PSNR, if the
 * complete data are more than 0.05 dB below it; otherwise the last cut. */
size_t codec_holds_end(const codec_cut_quality *quality);

#endif
