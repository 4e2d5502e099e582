/* labelling.h -- a network that names the classes of images, from few labels and many images: the
 * call behind `taper train --guess-labels` and `--start taught`.
 *
 * Labels spread over a graph of neighbours, and the surest of those guesses count as labels for a
 * teacher, which learns from all images. What it names is the guess. With a label for every image
 * there is nothing to guess, and the teacher's hidden layers are a start for others.
 *
 * The room train/labelling/: labels for images that have none.
 *   labelling          this call
 *   neighbour_graph    who is like whom
 *   label_spreading    labels along its edges
 *   teacher            a network that names classes: its passes over a batch
 *   teaching           how it learns; folding: as a plain network */
#ifndef TRAIN_LABELLING_H
#define TRAIN_LABELLING_H
#include "codec/backend/backend.h"
#include "train/labelling/teaching.h"

typedef struct train_labelling_options {
    train_teaching_options teaching;
    const uint32_t *hidden; /* [n_hidden] widths, at least 1 of them */
    uint32_t n_hidden;
    uint32_t classes; /* labels are below it */
    float surest;     /* default 0.7: the part of a class's guesses by neighbours that the teacher
                         takes for labels; 0: there are none, and no graph is made */
    unsigned threads; /* that seek neighbours; 0: one per online core */
} train_labelling_options;

train_labelling_options train_labelling_defaults(void);

/* Teach net, which is made here: an encoder of the widths, units the classes; the caller's to free,
 * after a failure, too. guess[n] (or NULL): of each row its label, or what the teacher names it.
 * *stopped: by the callback; guess is then not filled. TAPER_ERR_ARG with the remedy: what
 * train_teaching and train_neighbour_graph_make refuse; TAPER_ERR_NOMEM, TAPER_ERR_DEVICE. */
taper_status train_labelling(const train_labelling_options *options, const train_pixels *data,
                             codec_backend *be, train_device *device,
                             const train_teaching_callbacks *callbacks, codec_network *net,
                             uint32_t *guess, int *stopped, taper_error *error);

#endif
