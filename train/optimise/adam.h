/* adam.h -- Adam (Kingma & Ba 2015) over one vector of parameters, with gradient clipping. */
#ifndef TRAIN_ADAM_H
#define TRAIN_ADAM_H
#include "codec/backend/backend.h"

typedef struct train_adam {
    float beta1, beta2, epsilon; /* usually 0.9, 0.99, 1e-8 */
    uint64_t step;               /* steps taken */
    size_t n;
    float *m, *v; /* [n] first and second moments */
} train_adam;

/* Zeroed moments. TAPER_ERR_NOMEM; nothing is held then. */
taper_status train_adam_create(train_adam *adam, size_t n);
void train_adam_free(train_adam *adam); /* leaves it zeroed */

/* One step at learning rate `rate`. When the gradient's L2 norm is above max_norm (0: never) it is
 * scaled down to it. *norm (may be NULL) becomes the norm before that. A norm that is not finite
 * leaves parameters and moments as they were and returns TAPER_ERR_ARG: training has diverged. */
taper_status train_adam_step(train_adam *adam, codec_backend *be, float rate, float max_norm,
                             const float *gradient, float *parameter, double *norm);

/* Part of a vector. */
typedef struct train_range {
    size_t first, n;
} train_range;

/* The same for some parts of the vector; the others, moments included, stay as they are. The norm
 * is that of the parts. */
taper_status train_adam_step_ranges(train_adam *adam, codec_backend *be, float rate, float max_norm,
                                    const train_range *range, size_t ranges, const float *gradient,
                                    float *parameter, double *norm);

/* Learning rate at step t of `steps`: a linear rise over `warmup` steps times half a cosine from 1
 * to 0.001. */
float train_cosine_rate(float peak, uint64_t t, uint64_t steps, uint64_t warmup);

#endif
