/* taught.c -- see taught.h. */
#include "train/supervised/taught.h"
#include "formats/bytes.h"
#include "train/embedding/embedding_errors.h"
#include "train/labelling/labelling.h"
#include "train/optimise/run.h"
#include <stdlib.h>
#include <string.h>

/* Sets the guessed labels of unlabelled rows. */
static void take_guesses(train_taught *t, const train_pixels *rows, const uint32_t *guess) {
    for (size_t i = 0; i < rows->n; i++) {
        t->guessed[i] = rows->label[i] == TRAIN_UNLABELLED;
        t->label[i] = t->guessed[i] ? guess[i] : rows->label[i];
    }
    t->pixels.label = t->label, t->pixels.guessed = t->guessed;
}

/* The arguments of the steps. */
typedef struct job {
    const train_embedding_choice *choice;
    codec_backend *be;
    train_device *device;
    const train_embedding_callbacks *callbacks;
} job;

/* Trains the teacher on the labels of training rows. */
static taper_status teach(const job *j, const train_pixels *known, uint32_t classes,
                          codec_network *teacher, uint32_t *guess, taper_error *error) {
    const train_embedding_choice *c = j->choice;
    const train_teaching_callbacks callbacks = {j->callbacks->user, j->callbacks->step,
                                                j->callbacks->say};
    train_labelling_options o = train_labelling_defaults();
    int stopped = 0;
    o.hidden = c->hidden, o.n_hidden = c->n_hidden, o.classes = classes;
    o.teaching = c->teaching;
    o.teaching.seed = c->training.seed, o.threads = c->training.threads;
    o.callbacks = &callbacks;
    if (!c->guess_labels) o.surest = 0.0f;
    TAPER_TRY(train_labelling(&o, known, j->be, j->device, teacher, guess, &stopped, error));
    if (!stopped) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_ARG,
                        "stopped while a teacher learned, before the embedding did");
}

static taper_status learn_labels(const job *j, const train_pixels *rows, uint32_t *label,
                                 uint32_t *guess, train_taught *t, taper_error *error) {
    train_pixels known = *rows;
    uint32_t classes = 0;
    known.label = label;
    TAPER_TRY(train_embedding_known(&j->choice->training, rows, label, &classes, error));
    TAPER_TRY(teach(j, &known, classes, &t->teacher, guess, error));
    if (j->choice->guess_labels) take_guesses(t, rows, guess);
    return TAPER_OK;
}

taper_status train_teach(const train_embedding_choice *c, const train_pixels *rows,
                         codec_backend *be, train_device *device,
                         const train_embedding_callbacks *callbacks, train_taught *t,
                         taper_error *error) {
    const job j = {c, be, device, callbacks};
    const size_t n = formats_larger(rows->n, 1);
    *t = (train_taught){.pixels = *rows};
    if (!c->n_hidden)
        return formats_fail(error, TAPER_ERR_ARG,
                            "a teacher is a network with hidden layers: give --hidden");
    uint32_t *guess = malloc(n * sizeof *guess), *label = malloc(n * sizeof *label);
    t->label = malloc(n * sizeof *t->label), t->guessed = calloc(n, sizeof *t->guessed);
    taper_status status = guess && label && t->label && t->guessed ? TAPER_OK : TAPER_ERR_NOMEM;
    status = train_explain(status, error, "labels of %zu images", n);
    if (status == TAPER_OK) status = learn_labels(&j, rows, label, guess, t, error);
    free(guess), free(label);
    return status;
}

void train_taught_start(const train_taught *t, codec_network *net) {
    const codec_stack *from = &t->teacher.encoder;
    for (uint32_t l = 0; l + 1 < from->depth; l++) {
        const codec_layer *a = &from->layer[l], *b = &net->encoder.layer[l];
        memcpy(b->weight, a->weight, (size_t)a->outputs * a->inputs * sizeof *b->weight);
        memcpy(b->bias, a->bias, a->outputs * sizeof *b->bias);
    }
}

void train_taught_free(train_taught *t) {
    codec_network_free(&t->teacher);
    free(t->label), free(t->guessed);
    *t = (train_taught){0};
}
