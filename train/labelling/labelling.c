/* labelling.c -- see labelling.h. */
#include "train/labelling/labelling.h"
#include "formats/bytes.h"
#include "train/embedding/drawn_start.h"
#include "train/embedding/row_codes.h"
#include "train/labelling/label_spreading.h"
#include "train/optimise/run.h"
#include <stdlib.h>
#include <string.h>

train_labelling_options train_labelling_defaults(void) {
    return (train_labelling_options){.teaching = train_teaching_defaults(), .surest = 0.7f};
}

/* --- guesses from the graph --------------------------------------------------------------- */

static int by_sureness(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x < y) - (x > y);
}

/* Keeps the most certain part of a class's guesses, and equally certain ones; the others become
 * UINT32_MAX. It is done class by class, because otherwise some classes would have no guesses.
 * scratch[data->n]. */
static void keep_surest(const train_labelling_options *o, const train_pixels *data, uint32_t class,
                        const float *sure, uint32_t *label, float *scratch) {
    size_t n = 0;
    for (size_t i = 0; i < data->n; i++)
        if (label[i] == class && data->label[i] >= o->classes) scratch[n++] = sure[i];
    qsort(scratch, n, sizeof *scratch, by_sureness);
    const size_t kept = (size_t)((double)o->surest * (double)n);
    const float least = kept ? scratch[kept - 1] : 2.0f;
    for (size_t i = 0; i < data->n; i++)
        if (label[i] == class && data->label[i] >= o->classes && sure[i] < least)
            label[i] = UINT32_MAX;
}

/* label[n]: the known labels, and the most certain guesses from the graph. */
static taper_status spread(const train_labelling_options *o, const train_pixels *data,
                           const train_neighbour_graph *graph, uint32_t *label) {
    float *sure = malloc(2 * data->n * sizeof *sure);
    if (!sure) return TAPER_ERR_NOMEM;
    taper_status status = train_spread_labels(graph, data->label, o->classes, label, sure);
    for (uint32_t c = 0; c < o->classes && status == TAPER_OK; c++)
        keep_surest(o, data, c, sure, label, sure + data->n);
    free(sure);
    return status;
}

static int has_unlabelled(const train_labelling_options *o, const train_pixels *data) {
    for (size_t i = 0; i < data->n; i++)
        if (data->label[i] >= o->classes) return 1;
    return 0;
}

/* --- guesses of the teacher --------------------------------------------------------------- */

/* The teacher's classes for unlabelled rows. */
typedef struct naming {
    uint32_t classes;
    const uint32_t *label;
    uint32_t *guess;
} naming;

static void take_names(void *user, size_t first, size_t n, const float *code) {
    const naming *to = user;
    for (size_t i = 0; i < n; i++, code += to->classes) {
        uint32_t best = 0;
        for (uint32_t c = 1; c < to->classes; c++)
            if (code[c] > code[best]) best = c;
        const uint32_t label = to->label[first + i];
        to->guess[first + i] = label < to->classes ? label : best;
    }
}

/* --- all steps ---------------------------------------------------------------------------- */

/* The arguments of the steps. */
typedef struct job {
    const train_labelling_options *options;
    const train_pixels *data;
    codec_backend *be;
    train_device *device;
    codec_network *net;
    uint32_t *label;  /* [data->n] labels for training the teacher */
    uint8_t *guessed; /* [data->n] which of these are guesses */
    int stopped;
} job;

/* Guesses labels on a neighbour graph of the images. */
static taper_status guess_by_neighbours(const job *j, taper_error *error) {
    train_neighbour_graph graph = {0};
    taper_status status =
        train_neighbour_graph_make(&graph, j->data, j->be, j->device, j->options->threads, error);
    if (status == TAPER_OK)
        status = train_explain(spread(j->options, j->data, &graph, j->label), error,
                               "guesses for %zu images", j->data->n);
    train_neighbour_graph_free(&graph);
    return status;
}

static taper_status teach(job *j, taper_error *error) {
    const train_labelling_options *o = j->options;
    train_pixels known = *j->data;
    known.label = j->label, known.guessed = j->guessed;
    memcpy(j->label, j->data->label, known.n * sizeof *j->label);
    if (o->surest > 0.0f && has_unlabelled(o, j->data)) TAPER_TRY(guess_by_neighbours(j, error));
    for (size_t i = 0; i < known.n; i++)
        j->guessed[i] = j->label[i] < o->classes && j->data->label[i] >= o->classes;
    train_drawn_start(j->net, o->teaching.seed);
    return train_teaching(&o->teaching, &known, j->device, j->net, o->callbacks, &j->stopped,
                          error);
}

taper_status train_labelling(const train_labelling_options *o, const train_pixels *data,
                             codec_backend *be, train_device *device, codec_network *net,
                             uint32_t *guess, int *stopped, taper_error *error) {
    job j = {o, data, be, device, net, NULL, NULL, 0};
    j.label = malloc(formats_larger(data->n, 1) * sizeof *j.label);
    j.guessed = malloc(formats_larger(data->n, 1) * sizeof *j.guessed);
    taper_status status = j.label && j.guessed
                              ? codec_network_alloc(net, data->inputs, o->classes, CODEC_ENCODER,
                                                    o->hidden, o->n_hidden, NULL, 0)
                              : TAPER_ERR_NOMEM;
    status = train_explain(status, error, "a teacher of %u classes", (unsigned)o->classes);
    if (status == TAPER_OK) status = teach(&j, error);
    *stopped = j.stopped;
    naming names = {net->units, data->label, guess};
    if (status == TAPER_OK && guess && !j.stopped)
        status = train_explain(train_take_codes(net, be, data, NULL, data->n, take_names, &names),
                               error, "guesses for %zu images", data->n);
    free(j.label), free(j.guessed);
    return status;
}
