/* conjugate_gradient.h -- nonlinear conjugate gradients on a learner's weights.
 *
 *     d = -g + beta d_before,   beta = max(0, g . (g - g_before) / g_before . g_before)
 *
 * (Polak & Ribiere 1969; max(0, .) restarts it: Nocedal & Wright 2006, section 5.2.) A step goes
 * along d to a point that satisfies the strong Wolfe conditions (line_search.h). It is the
 * optimiser of Rippel et al. 2014, section 4. It restarts with d = -g if d is not a descent
 * direction, after n steps, and after a line search that did not reach these conditions.
 *
 * Minibatches. If the next step is for other examples, their gradient g' replaces g in d,
 * d + g - g'. beta is not changed: both of its gradients are of one minibatch, so that noise
 * between batches does not count as curvature. */
#ifndef TRAIN_CONJUGATE_GRADIENT_H
#define TRAIN_CONJUGATE_GRADIENT_H
#include "train/optimise/line_search.h"
#include "train/optimise/weights.h"
#include "train/parallel/ranks.h"
#include <stddef.h>

/* The objective at the weights' parameters, which it must not change. It returns its value in
 * *value, and overwrites the weights' gradient by its gradient. The same parameters must give the
 * same bits. Values that are not finite are legal (see below). A status other than TAPER_OK ends
 * the step. */
typedef taper_status train_cg_objective(void *user, double *value);

/* The state between two steps, with the weights' two vectors; a checkpoint contains them, and a
 * resumed run gives the same bits. */
typedef struct train_cg_state {
    /* Of the last step's objective at the parameters. */
    double value;
    /* The last step's length, and its slope at the start; 0: none yet. */
    double alpha, slope;
    /* Steps taken; 0: direction, gradient and value are undefined. */
    uint64_t iterations;
    /* Steps since the last restart, inclusive; 0: d is -g. */
    uint64_t since_restart;
} train_cg_state;

typedef struct train_cg {
    train_stream *stream; /* borrowed, as are the weights */
    /* m: direction d of the next step; v: gradient at the parameters, of the last step's
     * objective. */
    train_weights *weights;
    /* Ranks that take the same steps, by the first one's products; set after create. NULL: one. */
    train_ranks *ranks;
    train_cg_state state;
    /* on the device: parameters at the start of the line [n]; dot products [1] */
    train_arena arena;
    float *start;
    double *sum;
} train_cg;

typedef struct train_cg_options {
    train_line_options line;
    /* |alpha d| of the first trial if there is no previous step; above 0 */
    double first_length;
    /* 1: the objective is that of the last step, and the parameters have not changed since. Value
     * and gradient at the start are then known. */
    int same_objective;
} train_cg_options;

/* The defaults of the line search, first_length 1, another objective in each step. */
train_cg_options train_cg_defaults(void);

typedef struct train_cg_result {
    /* Of the objective at the start and at the end of the step. */
    double value_before, value;
    /* Along the direction, at these two points. */
    double slope_before, slope;
    /* Length in units of the direction; 0: parameters unchanged. */
    double alpha;
    double gradient_norm; /* L2, at the start */
    uint32_t evaluations; /* of the objective in this step */
    /* 1: the end satisfies the strong Wolfe conditions */
    int wolfe;
    int restarted; /* 1: the direction was -g */
} train_cg_result;

/* The weights must have m and v, and both must be 0. Takes 4 n bytes of the device.
 * TAPER_ERR_NOMEM: nothing is held. */
taper_status train_cg_create(train_cg *cg, train_stream *stream, train_weights *weights);
void train_cg_free(train_cg *cg); /* leaves it zeroed; the weights stay; zeroed is fine */
/* Resets to the state after create: the next step goes along -g. TAPER_ERR_DEVICE. */
taper_status train_cg_reset(train_cg *cg);

/* One step from the parameters along the direction, to the lowest point of the line that was found.
 * *result may be NULL. The parameters are unchanged (alpha 0) if no point gains enough: either the
 * gradient is 0 (wolfe is 1 then), or the gain is below rounding errors; stop then. Parameters are
 * float32, so points are on the line up to rounding. The host waits for the device at each point.
 *   TAPER_ERR_ARG      value or gradient at the start are not finite (training has diverged), or an
 *                      option is out of range
 *   TAPER_ERR_DEVICE   everything is undefined
 *   other errors       those of the objective; the state is then as after train_cg_reset
 * After any failure but TAPER_ERR_DEVICE the parameters are unchanged. The weights' gradient is
 * undefined after a step. */
taper_status train_cg_step(train_cg *cg, train_cg_objective *objective, void *user,
                           const train_cg_options *options, train_cg_result *result);

#endif
