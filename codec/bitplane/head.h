/* head.h -- the reconstruction head: it predicts what remains unknown of each unit from all that is
 * known of its window and the eight around it.
 *
 * It is a conditional model (conditional.h) of one kind. Its hidden layers have the same inputs,
 * for the stage that the complete passes have reached. Its output, read as a number, is the
 * expected rest of the unit as a fraction of its uncertainty:
 *     x(unit) += uncertainty (256 W(unit) h2 >> shift) / 4096
 * Uncertainty is half the threshold at the depth of the position, or the unit's scale where that is
 * less or nothing has been sent. Units deeper than at the head's `end` are left as they are. It is
 * trained on squared error (train/conditional/conditional_trainer.h). */
#ifndef CODEC_HEAD_H
#define CODEC_HEAD_H
#include "codec/bitplane/conditional.h"
#include "codec/bitplane/group.h"

/* Give a head to tables whose order is made. They own it from now on, also on failure
 * (TAPER_ERR_NOMEM). */
taper_status codec_head_attach(codec_code_tables *tables, codec_conditional *head);

/* codec_dequantise, plus the head's correction where the tables have one. */
void codec_head_dequantise(const codec_group *group, uint32_t first, uint32_t n, float *x);

/* The uncertainty of unit u at a depth, as a multiple of its step. */
float codec_head_uncertainty(const codec_code_tables *tables, uint32_t u, uint32_t depth);

#endif
