/* networks.c -- networks by settings, trained once.
 *
 * The trainer's own checkpoint is the store: resuming a finished run does no step and gives the
 * network as it was. Beside it lies a log, a line an epoch, with what a checkpoint does not hold.
 */
#include "bench/bench.h"
#include "bench/paper/paper.h"
#include "bench/paper/populations.h"
#include "formats/bytes.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- settings -------------------------------------------------------------------------- */

typedef struct recipe {
    train_nested_shape shape;
    train_nested_options options;
    char truncation[160];
    size_t images;
} recipe;

static void set_widths(recipe *r, const char *value) {
    r->shape.layers = 0;
    while (*value && r->shape.layers < TRAIN_NESTED_MAX_LAYERS) {
        char *end;
        r->shape.width[r->shape.layers++] = (uint32_t)strtoul(value, &end, 10);
        value = *end == '-' ? end + 1 : end;
        if (*end && *end != '-') figures_die("widths are written 16-32, not %s", value);
    }
}

static codec_activation activation(const char *value) {
    if (!strcmp(value, "relu")) return CODEC_RELU;
    if (!strcmp(value, "logistic")) return CODEC_LOGISTIC;
    if (strcmp(value, "linear") != 0) figures_die("no activation %s", value);
    return CODEC_LINEAR;
}

/* Keys whose value is a number. */
static int set_number(recipe *r, const char *key, double x) {
    train_nested_options *o = &r->options;
    if (!strcmp(key, "tied")) return r->shape.tied = x != 0, 1;
    if (!strcmp(key, "binary")) return r->shape.binary = x != 0, 1;
    if (!strcmp(key, "feedback")) return r->shape.feedback = x != 0, 1;
    if (!strcmp(key, "centre")) return r->shape.centre = (float)x, 1;
    if (!strcmp(key, "sweep")) return o->sweep.on = x != 0, 1;
    if (!strcmp(key, "sweep-check")) return o->sweep.check = (uint32_t)x, 1;
    if (!strcmp(key, "sweep-tolerance")) return o->sweep.tolerance = x, 1;
    if (!strcmp(key, "sweep-warmup")) return o->sweep.warmup = x, 1;
    if (!strcmp(key, "sweep-share")) return o->sweep.fraction = x, 1;
    if (!strcmp(key, "corruption")) return o->corruption = (float)x, 1;
    if (!strcmp(key, "dropout")) return o->dropout = (float)x, 1;
    if (!strcmp(key, "invariance")) return o->invariance = (float)x, 1;
    if (!strcmp(key, "perturbation")) return o->perturbation = (float)x, 1;
    if (!strcmp(key, "beta")) return o->beta = x, 1;
    if (!strcmp(key, "orthonormal")) return o->orthonormal = x != 0, 1;
    if (!strcmp(key, "straight-through")) return o->straight_through = x != 0, 1;
    if (!strcmp(key, "epochs")) return o->epochs = (uint32_t)x, 1;
    if (!strcmp(key, "batch")) return o->batch = (uint32_t)x, 1;
    if (!strcmp(key, "line-searches")) return o->line_searches = (uint32_t)x, 1;
    if (!strcmp(key, "rate")) return o->rate = (float)x, 1;
    if (!strcmp(key, "seed")) return o->seed = (uint64_t)x, 1;
    if (!strcmp(key, "max-validation")) return o->max_validation = (uint32_t)x, 1;
    if (!strcmp(key, "images")) return r->images = (size_t)x, 1;
    return 0;
}

static void set(recipe *r, const char *key, const char *value) {
    taper_error error = {0};
    char *end;
    double x = strtod(value, &end);
    if (!strcmp(key, "from")) return; /* for people, and the name's hash: see paper_train_from */
    if (!strcmp(key, "widths"))
        set_widths(r, value);
    else if (!strcmp(key, "hidden"))
        r->shape.hidden = activation(value);
    else if (!strcmp(key, "code"))
        r->shape.code = activation(value);
    else if (!strcmp(key, "truncation"))
        snprintf(r->truncation, sizeof r->truncation, "%s", value);
    else if (!strcmp(key, "regulariser"))
        figures_check(train_regulariser_parse(&r->options.regulariser, value, &error), value,
                      &error);
    else if (!strcmp(key, "optimiser"))
        r->options.optimiser = !strcmp(value, "cg") ? TRAIN_CG : TRAIN_ADAM;
    else if (*end || end == value || !set_number(r, key, x))
        figures_die("no setting %s=%s", key, value);
}

/* A word of settings at a time. */
static void parse(recipe *r, const char *settings) {
    char word[224];
    while (*(settings += strspn(settings, " "))) {
        size_t n = strcspn(settings, " ");
        if (n >= sizeof word) figures_die("a setting that is too long: %s", settings);
        memcpy(word, settings, n);
        word[n] = 0;
        settings += n;
        char *equals = strchr(word, '=');
        if (!equals) figures_die("a setting without '=': %s", word);
        *equals = 0;
        set(r, word, equals + 1);
    }
}

static recipe recipe_of(const char *settings) {
    recipe r = {.shape = {.layers = 1,
                          .width = {1024},
                          .hidden = CODEC_RELU,
                          .code = CODEC_LINEAR,
                          .tied = 1,
                          .binary = 1,
                          .centre = 0.5f},
                .options = train_nested_defaults(),
                .truncation = "none",
                .images = SIZE_MAX};
    r.options.max_validation = 500;
    parse(&r, settings);
    return r;
}

/* --- log ------------------------------------------------------------------------------- */

enum { TIMED = 4096 };
typedef struct training {
    paper_network *network;
    FILE *log;
    double before, seconds[TIMED]; /* time of the last step's end; of the epoch's steps */
    size_t timed;
    int pause; /* steps that are not timed: they hold validation or a save */
    int said;
} training;

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int on_step(void *user, uint64_t step, uint64_t steps, uint32_t frozen, double loss,
                   double seconds_left) {
    training *t = user;
    double at = bench_now();
    (void)step, (void)steps, (void)frozen, (void)loss, (void)seconds_left;
    if (t->pause)
        t->pause--;
    else if (t->timed < TIMED)
        t->seconds[t->timed++] = at - t->before;
    t->before = at;
    return 0;
}

static void on_epoch(void *user, uint32_t epoch, const train_nested_epoch *e) {
    training *t = user;
    t->pause = 2;
    if (!(e->seconds > 0.0)) return; /* told again after a resume: the log has it */
    qsort(t->seconds, t->timed, sizeof *t->seconds, by_size);
    double median = t->timed ? t->seconds[t->timed / 2] : 0.0;
    t->timed = 0;
    fprintf(t->log, "%u %.9g %.9g %.9g %.9g %.9g %u %.9g %.9g %.9g\n", epoch, e->loss, e->mse,
            e->invariance, e->validation_mse, e->full_mse, e->frozen, e->seconds, e->multiply_adds,
            median);
    fflush(t->log);
    figures_say("  %s: epoch %u of %u, %.0f s, training %.1f, validation %.1f (all units %.1f), "
                "%u frozen, %.1f ms a step",
                t->network->name, epoch, t->network->epochs, e->seconds, e->mse, e->validation_mse,
                e->full_mse, e->frozen, 1e3 * median);
}

static void read_log(paper_network *network, const char *path) {
    FILE *from = fopen(path, "r");
    network->log = figures_memory(network->epochs, sizeof *network->log);
    char line[512];
    while (from && fgets(line, sizeof line, from)) {
        double x[10];
        char *at = line;
        for (int i = 0; i < 10; i++) x[i] = strtod(at, &at);
        if (!(x[0] >= 1 && x[0] <= network->epochs)) continue;
        network->log[(size_t)x[0] - 1] = (struct paper_epoch){{.loss = x[1],
                                                               .mse = x[2],
                                                               .invariance = x[3],
                                                               .validation_mse = x[4],
                                                               .full_mse = x[5],
                                                               .frozen = (uint32_t)x[6],
                                                               .seconds = x[7],
                                                               .multiply_adds = x[8]},
                                                              x[9]};
    }
    if (from) fclose(from);
}

/* --- training -------------------------------------------------------------------------- */

/* Pixels' mean and scale: those of all training images, or of data of one's own. */
static void create(paper *p, const recipe *r, const train_pixels *data, int own,
                   paper_network *out) {
    train_nested_shape shape = r->shape;
    shape.inputs = data->inputs;
    float *mean = p->mean, scale = p->scale;
    if (own) {
        mean = figures_memory(data->inputs, sizeof *mean);
        train_nested_statistics(data, mean, &scale);
    }
    figures_check(train_nested_create(&out->net, &shape, &p->device, mean, scale, r->options.seed),
                  out->name, NULL);
    if (own) free(mean);
}

static void run(paper_network *out, const train_pixels *data, const char *log_path) {
    training t = {.network = out, .pause = 1, .log = fopen(log_path, "a")};
    if (!t.log) figures_die("cannot write %s", log_path);
    train_nested_callbacks callbacks = {.user = &t, .step = on_step, .epoch = on_epoch};
    taper_error error = {0};
    figures_check(train_nested(&out->options, data, &out->net, &callbacks, NULL, &error), out->name,
                  &error);
    fclose(t.log);
}

void paper_train(paper *p, const char *name, const char *settings, const train_pixels *data,
                 paper_network *out) {
    paper_train_from(p, name, settings, data, NULL, out);
}

void paper_train_from(paper *p, const char *name, const char *settings, const train_pixels *data,
                      const paper_network *start, paper_network *out) {
    taper_error error = {0};
    int own = data != NULL;
    *out = (paper_network){0};
    if (!own) paper_load(p);
    snprintf(out->name, sizeof out->name, "%s", name);
    int n = snprintf(out->settings, sizeof out->settings, "%s%s%s", settings,
                     own || !p->extra[0] ? "" : " ", own ? "" : p->extra);
    if (n < 0 || (size_t)n >= sizeof out->settings) figures_die("settings that are too long");
    recipe r = recipe_of(out->settings);
    train_pixels rows = own ? *data : paper_rows(&p->training, r.images);
    out->images = rows.n, out->options = r.options, out->epochs = r.options.epochs;
    create(p, &r, &rows, own, out);
    if (start)
        figures_check(train_copy(&out->net.stream, out->net.weights.parameter,
                                 start->net.weights.parameter, out->net.weights.n * sizeof(float)),
                      "the start", NULL);
    memcpy(out->truncation_name, r.truncation, sizeof r.truncation);
    if (strcmp(r.truncation, "none") != 0) {
        figures_check(paper_truncation(&out->truncation, r.truncation, out->net.units, &error),
                      r.truncation, &error);
        out->options.truncation = &out->truncation;
    }
    uint32_t hash = formats_crc32c((uint32_t)rows.n, out->settings, strlen(out->settings));
    if (p->generated && !own) hash = formats_crc32c(hash, "generated", 9);
    char *state = figures_path(p->figures.work, "%s-%08x.check", name, (unsigned)hash),
         *log = figures_path(p->figures.work, "%s-%08x.log", name, (unsigned)hash);
    out->options.saving.path = state, out->options.saving.resume = 1;
    figures_say("%s: %s", name, out->settings);
    run(out, &rows, log);
    read_log(out, log);
    out->options.saving.path = NULL;
    free(state);
    free(log);
}

/* --- looking at networks --------------------------------------------------------------- */

void paper_codes(paper_network *network, const train_pixels *rows, float *x) {
    train_nested_source source;
    figures_check(train_nested_source_open(&source, &network->net, rows, NULL, rows->n), "rows",
                  NULL);
    figures_check(train_nested_codes(&network->net, &source.data, 0, x), "codes", NULL);
    train_nested_source_close(&source);
}

void paper_errors(paper_network *network, const train_pixels *rows, paper_curve *curve) {
    train_nested_source source;
    figures_check(train_nested_source_open(&source, &network->net, rows, NULL, rows->n), "rows",
                  NULL);
    figures_check(
        train_nested_errors(&network->net, &source.data, curve->length, curve->n, curve->mse),
        "errors", NULL);
    train_nested_source_close(&source);
}

float *paper_fetch(paper_network *network, const float *from, size_t n) {
    float *to = figures_memory(n, sizeof *to);
    figures_check(train_download(&network->net.stream, to, from, n * sizeof *to), "weights", NULL);
    return to;
}

void paper_network_free(paper_network *network) {
    train_nested_free(&network->net);
    train_truncation_free(&network->truncation);
    free(network->log);
    *network = (paper_network){0};
}
