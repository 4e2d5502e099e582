/* conjugate_gradient.h -- nonlinear conjugate gradients over a learner's weights.
 *
 *     d = -g + beta d_before,   beta = max(0, g . (g - g_before) / g_before . g_before)
 *
 * (Polak & Ribiere 1969, with the restart that max(0, .) gives: Nocedal & Wright 2006, section
 * 5.2), stepping along d to a point that satisfies the strong Wolfe conditions (line_search.h): the
 * optimiser of Rippel et al. 2014, section 4. It begins anew with d = -g where d does not lead
 * down, after n steps, and after a line that ended without these conditions.
 *
 * Minibatches. When the next step is for other examples, their gradient g' takes g's place in d,
 * d + g - g', and beta stays: both of its gradients are of one minibatch, so that the noise between
 * batches is not taken for curvature. */
#ifndef TRAIN_CONJUGATE_GRADIENT_H
#define TRAIN_CONJUGATE_GRADIENT_H
#include "train/optimise/line_search.h"
#include "train/optimise/weights.h"
#include <stddef.h>

/* The objective at the weights' parameters, which it must not change: its value, and its gradient
 * into the weights' gradient, overwritten. The same parameters must give the same bits. Values that
 * are not finite are legal (see below). A status other than TAPER_OK ends the step. */
typedef taper_status train_cg_objective(void *user, double *value);

/* Between two steps the state is this and the weights' two vectors; a checkpoint holds them, and a
 * run goes on from them bit for bit. */
typedef struct train_cg_state {
    double value;           /* of the last step's objective at the parameters */
    double alpha, slope;    /* the last step's length, and its slope at the start; 0: none yet */
    uint64_t iterations;    /* steps taken; 0: direction, gradient and value mean nothing */
    uint64_t since_restart; /* steps since the last one along -g, that one included; 0: d is -g */
} train_cg_state;

typedef struct train_cg {
    train_stream *stream;   /* borrowed, as are the weights */
    train_weights *weights; /* m: d of the next step; v: gradient at the parameters, of the last
                               step's objective */
    train_cg_state state;
    /* on the device: parameters at the start of the line [n], what dot products give [1] */
    train_arena arena;
    float *start;
    double *sum;
} train_cg;

typedef struct train_cg_options {
    train_line_options line;
    double first_length; /* |alpha d| of the first try when there is no step before; above 0 */
    int same_objective;  /* 1: the objective is the last step's and the parameters are as that step
                            left them, so value and gradient at the start are known already */
} train_cg_options;

/* The line's defaults, first_length 1, another objective in each step. */
train_cg_options train_cg_defaults(void);

typedef struct train_cg_result {
    double value_before, value; /* of the objective at the start and at the end of the step */
    double slope_before, slope; /* along the direction, there and there */
    double alpha;               /* length in units of the direction; 0: the parameters stay */
    double gradient_norm;       /* L2, at the start */
    uint32_t evaluations;       /* of the objective, all of this step's */
    int wolfe;                  /* the end satisfies the strong Wolfe conditions */
    int restarted;              /* the direction was -g */
} train_cg_result;

/* For weights that have both vectors, which are to be 0. Takes 4 n bytes of the device.
 * TAPER_ERR_NOMEM; nothing is held then. */
taper_status train_cg_create(train_cg *cg, train_stream *stream, train_weights *weights);
void train_cg_free(train_cg *cg); /* leaves it zeroed; the weights stay; zeroed is fine */
/* As after create: the next step goes along -g. TAPER_ERR_DEVICE. */
taper_status train_cg_reset(train_cg *cg);

/* One step from the parameters along the direction, to the lowest point of the line that was found
 * (*result may be NULL). The parameters stay (alpha 0) where no point gains enough: the gradient
 * is 0 (wolfe is 1 then), or the gain is below rounding, which is where to stop. Parameters are
 * float32, so the line is met within rounding only. The host waits for the device at each point.
 *
 * TAPER_ERR_ARG: value or gradient at the start are not finite (training has diverged), or an
 * option is out of range. TAPER_ERR_DEVICE: all is undefined. Otherwise what the objective
 * returned. After any failure but a lost device the parameters are as they were; after one of the
 * objective's the state is as after train_cg_reset, otherwise unchanged. The weights' gradient is
 * undefined after a step. */
taper_status train_cg_step(train_cg *cg, train_cg_objective *objective, void *user,
                           const train_cg_options *options, train_cg_result *result);

#endif
