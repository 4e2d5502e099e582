/* embedding_trainer.h -- the training loop of supervised embeddings: encoders such that the nearest
 * neighbours of a code have the same label.
 *
 *     codec_network net; // direct; its encoder is the start, pretrained or not
 *     train_embedding_options options = train_embedding_defaults();
 *     TAPER_TRY(train_embedding(&options, &data, &device, &net, &callbacks, &result, error));
 *
 * Deterministic: the same options, data, network and kind of device give the same weights bit for
 * bit, for any number of threads, interrupted and resumed or not.
 *
 * Several ranks (train_pixels.ranks) each compute the rows that they have, with the random numbers
 * of one rank, and all pairs of codes (embedder.h).
 *
 * Directory train/embedding/: supervised embeddings.
 *   embedding_trainer    the loop; embedding_options: its options
 *   embedding_rows       the split of rows into training and held-out ones
 *   embedding_errors     the nearest-neighbour error on held-out rows
 *   class_tally          errors counted by class
 *   row_codes            codes of rows, by the processor
 *   embedder             the encoder with its objective, forward and backward
 *   linear_start         initial linear encoders: identity, random, principal components,
 *                        discriminants; labelled_rows: the data that they are computed from
 *   drawn_start          random initial weights for networks with hidden layers */
#ifndef TRAIN_EMBEDDING_TRAINER_H
#define TRAIN_EMBEDDING_TRAINER_H
#include "train/embedding/embedding_options.h"

/* One epoch's entry of the learning curve. */
typedef struct train_embedding_epoch {
    /* Means over the epoch's rows; `objective` without l2. */
    double loss, objective;
    /* k-NN error on held-out rows, 0..1; NaN: none are held out */
    double error;
    double alpha; /* of Student's kernel */
    /* Since the start of this process; 0: before a resume. */
    double seconds;
} train_embedding_epoch;

typedef struct train_embedding_callbacks {
    void *user;
    /* Called for every step, possibly later and for several steps in a row. loss: mean of the epoch
     * so far. Return nonzero to stop: the state is saved, and the best network so far is kept. */
    int (*step)(void *user, uint64_t step, uint64_t steps, double loss, double seconds_left);
    /* Called after every epoch, from 1, including those before a resume. */
    void (*epoch)(void *user, uint32_t epoch, const train_embedding_epoch *entry);
    /* A message about the run: classes with one member, images that are streamed. */
    void (*say)(void *user, const char *words);
} train_embedding_callbacks;

typedef struct train_embedding_result {
    /* Labelled rows, trained on and held out, and their classes. */
    size_t rows, held_out, classes;
    /* Of rows: those with guessed labels (train_pixels). */
    size_t guessed;
    double start_error, best_error; /* on held-out rows, 0..1; NaN: none */
    /* Of the returned network, from 1; 0: the start. */
    uint32_t best_epoch;
    /* The first epoch with so few errors, among equals; 0: the start, or none are held out. */
    uint32_t first_best;
    uint32_t epochs, stopped; /* finished; 1: by the step callback */
    double loss;              /* of the last epoch */
    double alpha;             /* of the returned network */
    double seconds;
} train_embedding_result;

/* Trains net's encoder in place, and its decoder if options.reconstruct is above 0: the decoder's
 * last layer then gives 255 (1/2 + a / 4) for logits a (embedder.h); otherwise it is not changed.
 * callbacks (and its members), result and error may be NULL. After a failure net is its start.
 *   TAPER_ERR_ARG      with the remedy: options out of range or that do not fit the network; no
 *                      labels, only one class, fewer than two rows per class on average; a
 *                      checkpoint of another run; divergence, or alpha fell below
 *                      TRAIN_LEAST_ALPHA (the last checkpoint is kept)
 *   TAPER_ERR_NOMEM, TAPER_ERR_DEVICE
 *   TAPER_ERR_IO, TAPER_ERR_CORRUPT      of the checkpoint (checkpoint.h) */
taper_status train_embedding(const train_embedding_options *options, const train_pixels *data,
                             train_device *device, codec_network *net,
                             const train_embedding_callbacks *callbacks,
                             train_embedding_result *result, taper_error *error);

#endif
