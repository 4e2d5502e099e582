/* head.h -- the reconstruction head: what units are likely to be beyond what is known of them,
 * given all that is known of their window and the eight around it.
 *
 * A conditional model (conditional.h) of one kind: its hidden layers look at the same inputs, for
 * the stage that the complete passes have reached, and its output, read as a number, is the
 * rest of the unit that is to be expected, in parts of its uncertainty:
 *     x(unit) += uncertainty (256 W(unit) h2 >> shift) / 4096,
 * uncertainty = half the threshold at the depth of the position, or the unit's scale where that is
 * less or nothing has been sent. Units that have become deeper than at the head's `end` are left as
 * they are. Trained on squared error (train/conditional_trainer.h). */
#ifndef CODEC_HEAD_H
#define CODEC_HEAD_H
#include "codec/bitplane/conditional.h"
#include "codec/bitplane/group.h"

/* Give the tables, whose order is made, a head, which is theirs from now on, also on failure
 * (TAPER_ERR_NOMEM). */
taper_status codec_head_attach(codec_code_tables *tables, codec_conditional *head);

/* codec_dequantise, and what the head adds where the group's tables have one. */
void codec_head_dequantise(const codec_group *group, uint32_t first, uint32_t n, float *x);

/* The uncertainty of unit u at a depth, as a multiple of its step. */
float codec_head_uncertainty(const codec_code_tables *tables, uint32_t u, uint32_t depth);

#endif
