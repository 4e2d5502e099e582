/* head.h -- the reconstruction head: a network of the decoder that predicts the unknown part of
 * units. Its inputs are the known parts of the window and of the eight around it.
 *
 * It is a conditional model (conditional.h) with one kind of output. Its hidden layers have the
 * same inputs, for the stage of the last complete pass. Its output is the expected remainder of the
 * unit, as a fraction of the uncertainty:
 *     x(unit) += uncertainty (256 W(unit) h2 >> shift) / 4096
 * The uncertainty is half the threshold at the depth of the position, or the unit's scale if that
 * is smaller or nothing is known. Groups with `end` complete passes or more are not corrected. The
 * head is trained on squared error (train/conditional/conditional_trainer.h). */
#ifndef CODEC_HEAD_H
#define CODEC_HEAD_H
#include "codec/bitplane/conditional.h"
#include "codec/bitplane/group.h"

/* Attach a head to tables whose order is made. The tables own it, also after a failure
 * (TAPER_ERR_NOMEM). */
taper_status codec_head_attach(codec_code_tables *tables, codec_conditional *head);

/* codec_dequantise, plus the correction of the head if the tables have one. */
void codec_head_dequantise(const codec_group *group, uint32_t first, uint32_t n, float *x);

/* The uncertainty of unit u at a depth, as a multiple of its step. */
float codec_head_uncertainty(const codec_code_tables *tables, uint32_t u, uint32_t depth);

#endif
