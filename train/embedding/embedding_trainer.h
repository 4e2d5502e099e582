/* embedding_trainer.h -- the training loop of supervised embeddings: an encoder whose codes'
 * nearest neighbours share their label.
 *
 *     codec_network net; // direct; its encoder is the start, pretrained or not
 *     train_embedding_options options = train_embedding_defaults();
 *     TAPER_TRY(train_embedding(&options, &data, &device, &net, &callbacks, &result, error));
 *
 * Deterministic: the same options, data, network and kind of device give the same weights bit for
 * bit, for any number of threads, interrupted and resumed or not.
 *
 * The room train/embedding/: supervised embeddings.
 *   embedding_trainer    what its loop is given; embedding_options: what may be asked of it
 *   embedding_rows       which rows are learned from, and which are held out
 *   embedding_errors     how well neighbours tell the labels of held-out rows
 *   row_codes            codes of rows, by the processor
 *   embedder             the encoder forward and back, before its objective
 *   linear_start         identity, random, principal components, discriminants: where linear
 *                        encoders begin; labelled_rows: what they are learned from
 *   drawn_start          random first weights of those with hidden layers
 *   metric_learning      linear MCML by projected gradient; metric_loss: its loss by the metric */
#ifndef TRAIN_EMBEDDING_TRAINER_H
#define TRAIN_EMBEDDING_TRAINER_H
#include "train/embedding/embedding_options.h"

/* One epoch's entry of the learning curve. */
typedef struct train_embedding_epoch {
    double loss, objective; /* means over the epoch's rows; `objective` without l2 */
    double error;           /* k-NN error on held-out rows, 0..1; NaN: none are held out */
    double alpha;           /* of Student's kernel */
    double seconds;         /* since this process began; 0: before a resume */
} train_embedding_epoch;

typedef struct train_embedding_callbacks {
    void *user;
    /* After every step, maybe some of them late, in a row; loss: mean of the epoch so far. Return
     * nonzero to stop: the state is saved, and the best network so far is kept. */
    int (*step)(void *user, uint64_t step, uint64_t steps, double loss, double seconds_left);
    /* After every epoch, from 1; also those before a resume. */
    void (*epoch)(void *user, uint32_t epoch, const train_embedding_epoch *entry);
    /* A sentence on how the run goes about it: classes of one member, images that are streamed. */
    void (*say)(void *user, const char *words);
} train_embedding_callbacks;

typedef struct train_embedding_result {
    size_t rows, held_out, classes; /* labelled rows learned from and held out, and their classes */
    size_t guessed;                 /* of rows: labels that are guesses (train_pixels) */
    double start_error, best_error; /* on those held out, 0..1; NaN: none are */
    uint32_t best_epoch;            /* whose network it is, from 1; 0: the start */
    uint32_t epochs, stopped;       /* finished; 1: by the step callback */
    double loss;                    /* of the last epoch */
    double alpha;                   /* of the network that is kept */
    double seconds;
} train_embedding_result;

/* Train net's encoder in place, and its decoder where options.reconstruct is above 0: its last
 * layer then gives 255 (1/2 + a / 4) of logits a (embedder.h); else it is not touched. callbacks
 * (and its members), result and error may be NULL. On failure net is its start. TAPER_ERR_ARG, with
 * the remedy: options out of range or that do not fit the network; no labels, one class alone,
 * fewer than two rows a class on average; a checkpoint of another run; training diverged, or alpha
 * fell below TRAIN_LEAST_ALPHA: the last good checkpoint stays. TAPER_ERR_NOMEM, TAPER_ERR_DEVICE;
 * TAPER_ERR_IO, TAPER_ERR_CORRUPT: the checkpoint (checkpoint.h). */
taper_status train_embedding(const train_embedding_options *options, const train_pixels *data,
                             train_device *device, codec_network *net,
                             const train_embedding_callbacks *callbacks,
                             train_embedding_result *result, taper_error *error);

#endif
