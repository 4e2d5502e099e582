/* fit_causal.h -- fits causal templates (codec/bitplane/causal.h): the weights of surrounding
 * windows by least squares, the logits of contexts by counts. */
#ifndef TRAIN_FIT_CAUSAL_H
#define TRAIN_FIT_CAUSAL_H
#include "train/calibrate/sample_codes.h"

/* Sets causal and causal_weight: a ridge regression for each of the first units, at full precision.
 * causal is 0 if no image has two windows. */
taper_status train_fit_causal(codec_code_tables *tables, const train_codes *codes,
                              taper_error *error);

/* The logit of a 1 in each context, from n bits. context[i] is below CODEC_CAUSAL_CONTEXTS, or any
 * other number for none. */
void train_causal_cells(const uint8_t *context, const uint8_t *bit, uint32_t n,
                        double logit[CODEC_CAUSAL_CONTEXTS]);

#endif
