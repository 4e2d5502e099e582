/* learn.c -- see learn.h. */
#include "bench/paper-embedding/learn.h"
#include "bench/bench.h"
#include "bench/paper-embedding/baselines.h"
#include "bench/paper-embedding/metric_learning.h"
#include "bench/paper-embedding/settings.h"
#include "bench/paper-embedding/stacks.h"
#include "formats/bytes.h"
#include "train/embedding/drawn_start.h"
#include "train/embedding/linear_start.h"
#include "train/rbm/rbm_unroll.h"
#include "train/supervised/taught.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- starts ---------------------------------------------------------------------------- */

static void make_network(codec_network *net, uint32_t inputs, uint32_t units, const uint32_t *width,
                         uint32_t layers) {
    figures_check(codec_network_alloc(net, inputs, units, CODEC_ENCODER, width, layers, NULL, 0),
                  "network", NULL);
    net->hidden = CODEC_LOGISTIC;
}

/* The same with a decoder. */
static void make_autoencoder(codec_network *net, uint32_t inputs, uint32_t units,
                             const uint32_t *width, uint32_t layers) {
    uint32_t back[CODEC_MAX_LAYERS];
    for (uint32_t i = 0; i < layers; i++) back[i] = width[layers - 1 - i];
    figures_check(
        codec_network_alloc(net, inputs, units, CODEC_DIRECT, width, layers, back, layers),
        "network", NULL);
    net->hidden = CODEC_LOGISTIC;
}

static train_linear_kind start_of(const embedding_cell *cell) {
    if (cell->method->kind == EMBEDDING_LDA) return TRAIN_START_LDA;
    return strcmp(cell->method->variant, "pca") ? TRAIN_START_RANDOM : TRAIN_START_PCA;
}

/* One layer, as its training begins; discriminants are what they are. */
static void start_linear(embedding *e, const embedding_cell *cell, const embedding_settings *s,
                         const train_pixels *rows, codec_network *net) {
    train_linear_options options = {
        .kind = start_of(cell), .spread = s->spread, .seed = cell->seed};
    taper_error error = {0};
    make_network(net, rows->inputs, cell->dims, NULL, 0);
    figures_check(train_linear_start(&options, rows, &e->device.train, net, &error), cell->name,
                  &error);
}

/* --- training -------------------------------------------------------------------------- */

static void on_epoch(void *user, uint32_t epoch, const train_embedding_epoch *e) {
    const char *name = user;
    figures_say("  %s: epoch %u, %.0f s, loss %.5f, alpha %.3f", name, epoch, e->seconds, e->loss,
                e->alpha);
}

static void on_words(void *user, const char *words) {
    figures_say("  %s: %s", (const char *)user, words);
}

static void set_objective(const embedding_cell *cell, uint32_t free_units,
                          train_neighbour_objective *o) {
    const embedding_method *m = cell->method;
    o->loss = m->loss;
    o->all_pairs = m->loss == TRAIN_MCML;
    o->student = m->student;
    o->alpha = m->student ? (double)(cell->dims - free_units - 1) : 1.0;
    o->learns_alpha = m->learns_alpha;
}

/* Where the state of a cell's run lies. */
static char *state_of(const embedding *e, const embedding_cell *cell, const char *settings,
                      size_t rows) {
    uint32_t hash = formats_crc32c((uint32_t)rows, settings, strlen(settings));
    return figures_path(e->figures.work, "%s-%08x.check", cell->name, (unsigned)hash);
}

/* Square pictures move as a whole, by up to a fiftieth of a side at strength 1. */
static void set_jitter(uint32_t inputs, train_jitter *j) {
    const uint32_t side = (uint32_t)lround(sqrt(inputs));
    if (!(j->strength > 0.0f) || side * side != inputs) return;
    j->width = j->height = side, j->channels = 1, j->fraction = 1.0f;
    j->shift = j->strength * (float)side / 50.0f;
}

static void train(embedding *e, const embedding_cell *cell, const embedding_settings *s,
                  const train_pixels *rows, embedding_learned *out) {
    train_embedding_options options = s->training;
    train_embedding_result result;
    taper_error error = {0};
    char *state = state_of(e, cell, out->settings, rows->n), name[64];
    snprintf(name, sizeof name, "%s", cell->name);
    set_objective(cell, options.free_units, &options.objective);
    set_jitter(rows->inputs, &options.noise.jitter);
    options.validation_fraction = 0.0f; /* all rows; the last network is kept */
    options.seed = cell->seed;
    options.threads = e->threads;
    options.saving.path = state, options.saving.resume = 1;
    figures_check(train_embedding(&options, rows, &e->device.train, &out->net,
                                  &(train_embedding_callbacks){
                                      .user = name, .epoch = on_epoch, .say = on_words},
                                  &result, &error),
                  cell->name, &error);
    if (cell->method->student) out->alpha = result.alpha;
    free(state);
}

static int on_teacher(void *user, uint64_t step, uint64_t steps, double loss, double seconds_left) {
    if (step % 500 == 0 || step == steps)
        figures_say("  %s: teacher's step %llu of %llu, loss %.4f, %.0f s left", (const char *)user,
                    (unsigned long long)step, (unsigned long long)steps, loss, seconds_left);
    return 0;
}

/* A teacher's guesses and hidden layers, if they are wanted. */
static void teach(embedding *e, const embedding_cell *cell, const embedding_settings *s,
                  const train_pixels *rows, train_taught *taught) {
    char name[64];
    snprintf(name, sizeof name, "%s", cell->name);
    const train_embedding_callbacks callbacks = {name, on_teacher, NULL, on_words};
    train_embedding_choice choice = {.hidden = s->width,
                                     .n_hidden = s->layers,
                                     .training = s->training,
                                     .guess_labels = s->guess,
                                     .teaching = train_teaching_defaults()};
    choice.teaching.epochs = s->teacher_epochs;
    taper_error error = {0};
    *taught = (train_taught){.pixels = *rows};
    choice.training.validation_fraction = 0.0f;
    choice.training.seed = cell->seed, choice.training.threads = e->threads;
    if (s->guess || s->pretraining == EMBEDDING_TAUGHT)
        figures_check(
            train_teach(&choice, rows, &e->be, &e->device.train, &callbacks, taught, &error),
            cell->name, &error);
}

/* Pretrained layers by layers, a teacher's, or random weights. */
static void learn_deep(embedding *e, const embedding_cell *cell, const train_pixels *known,
                       embedding_learned *out) {
    embedding_settings s = embedding_settings_of(out->settings);
    train_taught taught;
    teach(e, cell, &s, known, &taught);
    const train_pixels *rows = &taught.pixels;
    if (s.training.reconstruct > 0.0)
        make_autoencoder(&out->net, rows->inputs, cell->dims, s.width, s.layers);
    else
        make_network(&out->net, rows->inputs, cell->dims, s.width, s.layers);
    if (s.pretraining >= EMBEDDING_TAUGHT) {
        train_drawn_start(&out->net, cell->seed);
        if (s.pretraining == EMBEDDING_TAUGHT) train_taught_start(&taught, &out->net);
    } else {
        train_rbm_stack stack;
        taper_error error = {0};
        embedding_stack(e, cell, &s, rows, &stack);
        figures_check(train_rbm_unroll(&stack, &out->net, &error), cell->name, &error);
        train_rbm_stack_free(&stack);
    }
    train(e, cell, &s, rows, out);
    train_taught_free(&taught);
}

static int on_step(void *user, const embedding_metric_step *at) {
    if (at->step % 10 == 0)
        figures_say("  %s: step %u, loss %.5f, rank %u", (const char *)user, at->step, at->loss,
                    at->rank);
    return 0;
}

/* Linear MCML; its epochs are steps. Distances are those of the metric's leading directions. */
static void learn_metric(embedding *e, const embedding_cell *cell, const train_pixels *rows,
                         embedding_learned *out) {
    embedding_settings s = embedding_settings_of(out->settings);
    embedding_metric_options options = embedding_metric_defaults();
    train_labelled_rows labelled = train_labelled_pixels(rows);
    embedding_metric metric;
    taper_error error = {0};
    char name[64];
    snprintf(name, sizeof name, "%s", cell->name);
    options.steps = s.training.epochs, options.step = on_step, options.user = name;
    figures_check(embedding_metric_learn(&options, &labelled, &e->device.train, &metric, &error),
                  cell->name, &error);
    make_network(&out->net, rows->inputs, cell->dims, NULL, 0);
    codec_layer *layer = &out->net.encoder.layer[0];
    figures_check(embedding_metric_map(&metric, layer, &error), cell->name, &error);
    for (size_t i = 0; i < (size_t)layer->outputs * layer->inputs; i++) layer->weight[i] /= 255.0f;
    embedding_metric_free(&metric);
}

static void learn_linear(embedding *e, const embedding_cell *cell, const train_pixels *rows,
                         embedding_learned *out) {
    embedding_settings s = embedding_settings_of(out->settings);
    start_linear(e, cell, &s, rows, &out->net);
    if (cell->method->kind == EMBEDDING_LINEAR) train(e, cell, &s, rows, out);
}

void embedding_learn(embedding *e, const embedding_cell *cell, const train_pixels *rows,
                     embedding_learned *out) {
    double start = bench_now();
    *out = (embedding_learned){0};
    embedding_settings_words(e, cell, out->settings, sizeof out->settings);
    switch (cell->method->kind) {
    case EMBEDDING_PIXELS: break;
    case EMBEDDING_PCA: embedding_pca(e, rows, cell->dims, &out->net); break;
    case EMBEDDING_LDA:
    case EMBEDDING_LINEAR: learn_linear(e, cell, rows, out); break;
    case EMBEDDING_DEEP: learn_deep(e, cell, rows, out); break;
    case EMBEDDING_METRIC: learn_metric(e, cell, rows, out); break;
    }
    out->minutes = (bench_now() - start) / 60.0;
}

void embedding_learned_free(embedding_learned *learned) {
    codec_network_free(&learned->net);
    *learned = (embedding_learned){0};
}
