/* fit_contexts.h -- fits the contexts' weights: least squares for signed prediction, logistic
 * regression for the logits, counts for the corrections of bins. */
#ifndef TRAIN_FIT_CONTEXTS_H
#define TRAIN_FIT_CONTEXTS_H
#include "train/calibrate/sample_codes.h"

/* Sets signed_weight: ridge regression of x / scale on the neighbours' first units at full
 * precision. */
taper_status train_fit_signed(codec_code_tables *tables, const train_codes *codes);

/* Sets weight, bias and prior, and causal_logit if passes have a causal template. One pass over the
 * order with the true codes collects a uniform sample of inputs and bits of each class. Then
 * regression uses these and the causal template's logit (fit_causal.h). q: [units][group stride]
 * quantised codes. */
taper_status train_fit_contexts(codec_code_tables *tables, const train_codes *codes,
                                const int16_t *q, taper_error *error);

#endif
