/* objective.h -- the interface of the objectives that training minimises.
 *
 * A network computes the codes of a batch of examples. Each objective computes their loss and its
 * gradient by the codes. All arrays are on the device. An objective may have trained parameters of
 * its own; they lie behind the network's in the same vector and start at 0.
 *
 * Directory train/objectives/: what training minimises.
 *   objective          this interface
 *   reconstruction     squared error of the decoder's output at a cut
 *   shared_weights     the weights of its errors in a batch that several ranks share
 *   rate               bits before the cut
 *   neighbours         NCA and MCML: codes whose nearest neighbours have the same label
 *   prefixes           the same for each prefix of a code
 *   decoding           cross-entropy of the pixels that a decoder computes from whole codes
 *   stack              layers, forward and backward, for encoders and decoders; convolutions: those
 *                      of them that are convolutional
 */
#ifndef TRAIN_OBJECTIVE_H
#define TRAIN_OBJECTIVE_H
#include "train/device/operations.h"

/* A batch of examples. */
typedef struct train_examples {
    size_t rows;
    uint32_t units;
    const float *code; /* [rows][units] x */
    /* [rows] the cut of each code; thresholds are in units of `scale` x */
    const train_cut *cut;
    /* Of the network: a code here is the model's code divided by it. */
    float scale;
    const float *target; /* [rows][inputs] the encoded values */
    /* [rows] class, or TRAIN_UNLABELLED; NULL: no row has a label */
    const uint32_t *label;
} train_examples;

/* An objective's functions. They return the status of the device's operations. The first three
 * set up arrays and parameters on the device and may be NULL. */
typedef struct train_objective {
    const char *name; /* "reconstruction" */
    /* Lays out its arrays for batches of `batch` codes (train_arena in device.h: called twice). */
    void (*lay_out)(void *self, train_arena *arena, uint32_t units, size_t batch);
    /* Returns the number of its own trained parameters. */
    size_t (*numbers)(void *self, uint32_t units);
    /* Sets the addresses of these parameters and of their gradient. */
    void (*place)(void *self, const float *parameter, float *gradient);
    /* Adds the loss of each row to loss[rows]. *figure: a value to report, summed over rows. Keeps
     * what `gradient` needs. */
    taper_status (*loss)(void *self, train_stream *stream, const train_examples *examples,
                         double *loss, double *figure);
    /* The gradient of the mean over rows of the loss just computed. The part by the codes is added
     * to code_gradient[rows][units]; the part by its own parameters is overwritten. */
    taper_status (*gradient)(void *self, train_stream *stream, const train_examples *examples,
                             float *code_gradient);
} train_objective;

/* An objective with its state. */
typedef struct train_objective_use {
    const train_objective *objective;
    void *self;
} train_objective_use;

#endif
