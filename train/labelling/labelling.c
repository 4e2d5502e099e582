/* labelling.c -- see labelling.h. */
#include "train/labelling/labelling.h"
#include "formats/bytes.h"
#include "train/embedding/drawn_start.h"
#include "train/embedding/row_codes.h"
#include "train/labelling/label_spreading.h"
#include "train/optimise/run.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

train_labelling_options train_labelling_defaults(void) {
    return (train_labelling_options){
        .teaching = train_teaching_defaults(), .rounds = 3, .surest = 0.7f};
}

/* --- guesses by neighbours ---------------------------------------------------------------- */

static int by_sureness(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x < y) - (x > y);
}

/* Of guesses of one class the surest part stays, and all that are as sure; the others become
 * UINT32_MAX. Class by class: of all together some classes would have none. scratch[data->n]. */
static void keep_surest(const train_labelling_options *o, const train_pixels *data, uint32_t class,
                        double part, const float *sure, uint32_t *label, float *scratch) {
    size_t n = 0;
    for (size_t i = 0; i < data->n; i++)
        if (label[i] == class && data->label[i] >= o->classes) scratch[n++] = sure[i];
    qsort(scratch, n, sizeof *scratch, by_sureness);
    const size_t kept = (size_t)(part * (double)n);
    const float least = kept ? scratch[kept - 1] : 2.0f;
    for (size_t i = 0; i < data->n; i++)
        if (label[i] == class && data->label[i] >= o->classes && sure[i] < least)
            label[i] = UINT32_MAX;
}

/* label[n]: those of data, and that part of the guesses along the graph that is surest. */
static taper_status spread(const train_labelling_options *o, const train_pixels *data,
                           const train_neighbour_graph *graph, double part, uint32_t *label) {
    float *sure = malloc(2 * data->n * sizeof *sure);
    if (!sure) return TAPER_ERR_NOMEM;
    taper_status status = train_spread_labels(graph, data->label, o->classes, label, sure);
    for (uint32_t c = 0; c < o->classes && status == TAPER_OK; c++)
        keep_surest(o, data, c, part, sure, label, sure + data->n);
    free(sure);
    return status;
}

static int has_unlabelled(const train_labelling_options *o, const train_pixels *data) {
    for (size_t i = 0; i < data->n; i++)
        if (data->label[i] >= o->classes) return 1;
    return 0;
}

/* --- what the teacher makes of images ----------------------------------------------------- */

/* Names of classes, for rows without a label. */
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

/* What the last hidden layer sees, whose units are of variance 1 or so, as bytes. */
typedef struct seeing {
    size_t width;
    uint8_t *to;
} seeing;

static void take_sights(void *user, size_t first, size_t n, const float *code) {
    static const float scale = 60.0f;
    const seeing *s = user;
    uint8_t *to = s->to + first * s->width;
    for (size_t i = 0; i < n * s->width; i++)
        to[i] = (uint8_t)fminf(fmaxf(code[i], 0.0f) * scale, 255.0f);
}

/* Rows as the last hidden layer sees them; *memory is theirs, to be freed. */
static taper_status see(const codec_network *net, codec_backend *be, const train_pixels *data,
                        train_pixels *seen, uint8_t **memory) {
    codec_network front = *net; /* without its last layer */
    front.encoder.depth--;
    front.units = front.encoder.layer[front.encoder.depth - 1].outputs;
    *memory = malloc(data->n * (size_t)front.units);
    *seen = (train_pixels){.pixels = *memory, .n = data->n, .inputs = front.units};
    seeing s = {front.units, *memory};
    return *memory ? train_take_codes(&front, be, data, NULL, data->n, take_sights, &s)
                   : TAPER_ERR_NOMEM;
}

/* --- rounds ------------------------------------------------------------------------------- */

/* What the steps share. */
typedef struct job {
    const train_labelling_options *options;
    const train_pixels *data;
    codec_backend *be;
    train_device *device;
    const train_teaching_callbacks *callbacks;
    codec_network *net;
    uint32_t *label; /* [data->n] what the teacher learns from */
    int stopped;
} job;

/* A graph of the images, or of what the teacher of the round before sees; labels along it. */
static taper_status guess_by_neighbours(const job *j, uint32_t round, taper_error *error) {
    const train_labelling_options *o = j->options;
    const double part = fmin((double)o->surest + 0.1 * round, 1.0);
    train_neighbour_graph graph = {0};
    train_pixels seen = *j->data;
    uint8_t *memory = NULL;
    taper_status status = round ? see(j->net, j->be, j->data, &seen, &memory) : TAPER_OK;
    status = train_told(status, error, "what a teacher sees in %zu images", j->data->n);
    if (status == TAPER_OK)
        status = train_neighbour_graph_make(&graph, &seen, j->be, j->device, o->threads, error);
    free(memory);
    if (status == TAPER_OK)
        status = train_told(spread(o, j->data, &graph, part, j->label), error,
                            "guesses for %zu images", j->data->n);
    train_neighbour_graph_free(&graph);
    return status;
}

static taper_status teach_round(job *j, uint32_t round, uint32_t rounds, taper_error *error) {
    train_teaching_options o = j->options->teaching;
    train_pixels known = *j->data;
    known.label = j->label;
    o.round = round, o.rounds = rounds;
    train_drawn_start(j->net, o.seed + round);
    return train_teaching(&o, &known, j->device, j->net, j->callbacks, &j->stopped, error);
}

static taper_status teach(job *j, taper_error *error) {
    const train_labelling_options *o = j->options;
    const int guesses = o->surest > 0.0f && has_unlabelled(o, j->data);
    const uint32_t rounds = guesses ? (uint32_t)formats_larger(o->rounds, 1) : 1;
    memcpy(j->label, j->data->label, j->data->n * sizeof *j->label);
    for (uint32_t i = 0; i < rounds && !j->stopped; i++) {
        if (guesses) TAPER_TRY(guess_by_neighbours(j, i, error));
        TAPER_TRY(teach_round(j, i, rounds, error));
    }
    return TAPER_OK;
}

taper_status train_labelling(const train_labelling_options *o, const train_pixels *data,
                             codec_backend *be, train_device *device,
                             const train_teaching_callbacks *callbacks, codec_network *net,
                             uint32_t *guess, int *stopped, taper_error *error) {
    job j = {o, data, be, device, callbacks, net, NULL, 0};
    j.label = malloc(formats_larger(data->n, 1) * sizeof *j.label);
    taper_status status = j.label
                              ? codec_network_alloc(net, data->inputs, o->classes, CODEC_ENCODER,
                                                    o->hidden, o->n_hidden, NULL, 0)
                              : TAPER_ERR_NOMEM;
    status = train_told(status, error, "a teacher of %u classes", (unsigned)o->classes);
    if (status == TAPER_OK) status = teach(&j, error);
    *stopped = j.stopped;
    naming names = {net->units, data->label, guess};
    if (status == TAPER_OK && guess && !j.stopped)
        status = train_told(train_take_codes(net, be, data, NULL, data->n, take_names, &names),
                            error, "guesses for %zu images", data->n);
    free(j.label);
    return status;
}
