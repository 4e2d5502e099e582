/* fit_contexts.h -- learning the contexts' weights: least squares for signed prediction, logistic
 * regression for the logits, counts for the bins' corrections. */
#ifndef TRAIN_FIT_CONTEXTS_H
#define TRAIN_FIT_CONTEXTS_H
#include "train/calibrate/sample_codes.h"

/* signed_weight: ridge regression of x / scale on the neighbours' first units at full precision. */
taper_status train_fit_signed(codec_code_tables *tables, const train_codes *codes);

/* weight, bias, prior, and causal_logit where passes have a causal template. One walk through the
 * order over the true codes collects a uniform sample of inputs and bits of each class. Then comes
 * regression, with the causal template's logit (fit_causal.h) as one more input. q: [units][group
 * stride] quantised codes. */
taper_status train_fit_contexts(codec_code_tables *tables, const train_codes *codes,
                                const int16_t *q, taper_error *error);

#endif
