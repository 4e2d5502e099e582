/* objective.h -- what training minimises: one interface, a file for each.
 *
 * A network makes codes of a batch of examples; each of its objectives says what they cost, and how
 * that changes with them. All arrays are on the device. An objective may have numbers of its own
 * that are trained: they lie in the network's vector, behind the others, and begin at 0.
 *
 * The room train/objectives/: what training minimises.
 *   objective          this interface
 *   reconstruction     squared error of what a decoder makes of codes at a cut
 *   rate               the price of the bits before the cut
 *   neighbours         NCA and MCML: codes whose nearest neighbours share their label
 *   prefixes           the same of each prefix of a code
 *   decoding           cross-entropy of the pixels that a decoder makes of whole codes
 *   stack              fully connected layers forward and back, which encoders and decoders share
 */
#ifndef TRAIN_OBJECTIVE_H
#define TRAIN_OBJECTIVE_H
#include "train/device/operations.h"

/* A batch of examples as objectives see it. */
typedef struct train_examples {
    size_t rows;
    uint32_t units;
    const float *code;     /* [rows][units] x */
    const train_cut *cut;  /* [rows] what is left of each code; thresholds in units of `scale` x */
    float scale;           /* of the network: codes are the model's, divided by it */
    const float *target;   /* [rows][inputs] what was encoded */
    const uint32_t *label; /* [rows] class, or TRAIN_UNLABELLED; NULL: none has one */
} train_examples;

/* An objective's functions. They return what a device's operations return. The first three are for
 * what it needs on the device, and may be NULL. */
typedef struct train_objective {
    const char *name; /* "reconstruction" */
    /* Its arrays for batches of so many codes (train_arena in device.h: called twice). */
    void (*lay_out)(void *self, train_arena *arena, uint32_t units, size_t batch);
    /* How many numbers of its own are trained ... */
    size_t (*numbers)(void *self, uint32_t units);
    /* ... and where they and their gradient are. */
    void (*place)(void *self, const float *parameter, float *gradient);
    /* Add its loss of each row to loss[rows]. *figure: a number for people, summed over rows. What
     * the way back needs is kept. */
    taper_status (*loss)(void *self, train_stream *stream, const train_examples *examples,
                         double *loss, double *figure);
    /* The gradient of the mean over rows of the loss just computed: what there is by way of the
     * codes is added to code_gradient[rows][units], that of its own numbers overwrites them. */
    taper_status (*gradient)(void *self, train_stream *stream, const train_examples *examples,
                             float *code_gradient);
} train_objective;

/* An objective and whom it works for. */
typedef struct train_objective_use {
    const train_objective *objective;
    void *self;
} train_objective_use;

#endif
