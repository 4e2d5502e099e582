/* labelling.h -- trains a classifier from few labels and many images: the function behind `taper
 * train-labels --guess-labels` and `--start taught`.
 *
 * Labels are spread over a neighbour graph, and the most certain guesses count as labels for a
 * teacher network, which is trained on all images. The teacher's class is the final guess. If every
 * image has a label, nothing is guessed, and the teacher's hidden layers initialise other networks.
 *
 * Directory train/labelling/: labels for unlabelled images.
 *   labelling          this function
 *   neighbour_graph    the graph of nearest neighbours
 *   label_spreading    labels along its edges
 *   teacher            a classifier: forward and backward passes of a batch
 *   teaching           its training; folding: its conversion to a plain network */
#ifndef TRAIN_LABELLING_H
#define TRAIN_LABELLING_H
#include "codec/backend/backend.h"
#include "train/labelling/teaching.h"

typedef struct train_labelling_options {
    train_teaching_options teaching;
    const uint32_t *hidden; /* [n_hidden] widths, at least one */
    uint32_t n_hidden;
    uint32_t classes; /* labels are below it */
    /* Default 0.7: fraction of each class's guesses from the graph, the most certain ones, that the
     * teacher uses as labels; 0: none, and no graph is made. */
    float surest;
    /* Of the search for neighbours; 0: one per online core. */
    unsigned threads;
    const train_teaching_callbacks *callbacks; /* NULL: none */
} train_labelling_options;

train_labelling_options train_labelling_defaults(void);

/* Trains net, which is created here: an encoder of the given widths with a unit per class. The
 * caller frees it, after a failure too. guess[n] (or NULL): the label of each row, or the teacher's
 * class. *stopped: by the callback; guess is then not filled. TAPER_ERR_ARG with the remedy: errors
 * of train_teaching and train_neighbour_graph_make; TAPER_ERR_NOMEM, TAPER_ERR_DEVICE. */
taper_status train_labelling(const train_labelling_options *options, const train_pixels *data,
                             codec_backend *be, train_device *device, codec_network *net,
                             uint32_t *guess, int *stopped, taper_error *error);

#endif
