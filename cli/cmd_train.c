/* cmd_train.c -- `taper train`: images in, a model out. */
#include "../codec/taper.h"
#include "../formats/imageset.h"
#include "../train/train.h"
#include "json.h"
#include "options.h"
#include "plot.h"
#include "progress.h"
#include "signals.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct settings {
    cli_common common;
    const char *output, *window, *filelist, *labels, *checkpoint, *log, *plot;
    int family, alpha, resume;
    int64_t units, epochs, batch, seed, set_images, patience;
    double rate, rho, truncated, lambda, weight_error;
    cli_numbers hidden;
} settings;

static const char *const families[] = {"pca", "dense", NULL};
static const char *const alphas[] = {"refuse", "drop", NULL};

static const cli_option options[] = {
    {"output", 'o', CLI_STRING, "MODEL", offsetof(settings, output),
     .help = "write the model here"},
    {"family", 0, CLI_CHOICE, "NAME", offsetof(settings, family), .choices = families,
     .initial = "pca", .help = "kind of model"},
    {"window", 'w', CLI_STRING, "W", offsetof(settings, window), .initial = "auto",
     .help = "side of the square a code covers, 'whole' image, or 'auto'"},
    {"units", 'k', CLI_INT, "N", offsetof(settings, units), .min = 0, .max = 65535, .initial = "0",
     .help = "length of a code; 0: all values of the window, at most 4096"},
    {"set-images", 0, CLI_INT, "N", offsetof(settings, set_images), .min = 0, .max = 1e15,
     .initial = "0", .help = "choose the window for sets of so many images; 0: as many as given"},
    {"weight-error", 0, CLI_DOUBLE, "MSE", offsetof(settings, weight_error), .min = 1e-4,
     .max = 100, .initial = "0.25", .help = "squared error that rounding the weights may add"},
    {"epochs", 'e', CLI_INT, "N", offsetof(settings, epochs), .min = 1, .max = 100000,
     .initial = "40", .help = "dense: passes over the images"},
    {"hidden", 0, CLI_NUMBERS, "N,N", offsetof(settings, hidden), .min = 1, .max = 65536,
     .help = "dense: widths of the hidden layers, from the pixels inwards (512,512)"},
    {"batch", 0, CLI_INT, "N", offsetof(settings, batch), .min = 1, .max = 65536, .initial = "256",
     .help = "dense: windows in a step"},
    {"rate", 0, CLI_DOUBLE, "R", offsetof(settings, rate), .min = 1e-8, .max = 1,
     .initial = "0.001", .help = "dense: peak learning rate"},
    {"lambda", 0, CLI_DOUBLE, "L", offsetof(settings, lambda), .min = 0, .max = 100,
     .initial = "0.2", .help = "dense: weight of bits against squared error"},
    {"rho", 0, CLI_DOUBLE, "R", offsetof(settings, rho), .min = 1e-6, .max = 0.999999,
     .initial = "0.95", .help = "dense: geometric truncation over units"},
    {"truncated", 0, CLI_DOUBLE, "S", offsetof(settings, truncated), .min = 0, .max = 1,
     .initial = "0", .help = "dense: share of the examples truncated so; the others by threshold"},
    {"patience", 0, CLI_INT, "N", offsetof(settings, patience), .min = 0, .max = 100000,
     .initial = "0", .help = "dense: stop after so many epochs without gain; 0: never"},
    {"seed", 0, CLI_INT, "N", offsetof(settings, seed), .min = 0, .max = 9e15, .initial = "1",
     .help = "random numbers repeat with the seed"},
    {"checkpoint", 0, CLI_STRING, "FILE", offsetof(settings, checkpoint),
     .help = "dense: save the run here"},
    {"resume", 0, CLI_FLAG, .offset = offsetof(settings, resume),
     .help = "dense: go on from the checkpoint"},
    {"log", 0, CLI_STRING, "FILE", offsetof(settings, log),
     .help = "dense: learning curve as JSON lines"},
    {"plot", 0, CLI_STRING, "STEM", offsetof(settings, plot),
     .help = "curves as STEM.png, STEM.svg, STEM.csv"},
    {"filelist", 0, CLI_STRING, "FILE", offsetof(settings, filelist),
     .help = "inputs, one path a line"},
    {"labels", 0, CLI_STRING, "FILE", offsetof(settings, labels),
     .help = "class labels: IDX or CSV"},
    {"alpha", 0, CLI_CHOICE, "HOW", offsetof(settings, alpha), .choices = alphas,
     .initial = "refuse", .help = "images with alpha: refuse, or drop it"},
    CLI_OUTPUT_OPTIONS(settings),
    CLI_TALK_OPTIONS(settings),
    CLI_JSON_OPTION(settings),
    CLI_WORK_OPTIONS(settings),
    CLI_LIMIT_OPTIONS(settings),
    {0}};

const cli_verb cli_verb_train = {
    .name = "train",
    .run = cmd_train,
    .what = "learn a model from images",
    .synopsis = "[options] -o MODEL INPUT...",
    .options = options,
    .about = "Learns how images of this kind are best cut into ordered codes. One image in sixteen "
             "is held "
             "out; choices are made on these.\n\n"
             "Family pca is linear and closed form: seconds. Family dense trains an autoencoder by "
             "nested "
             "dropout, started from pca, and keeps it only where it gains.\n\n",
    .examples = "taper train -o cats.tpm cats/    # a folder of PNG files\n"
                "taper train -o digits.tpm --family dense --window whole -k 64 "
                "train-images-idx3-ubyte.gz\n"};

/* --- words while it works -------------------------------------------------------------- */

typedef struct talk {
    const settings *s;
    cli_progress progress;
    const char *stage;
    size_t skipped;
    FILE *log;
    double *epoch, *loss, *validation; /* learning curve */
    size_t epochs, room;
} talk;

static void say_skip(void *user, const char *path, const taper_error *why) {
    ((talk *)user)->skipped++;
    cli_warning("train", path, "%s", why->text);
}

static void say_read(void *user, uint64_t done, uint64_t total) {
    (void)total;
    cli_progress_set(&((talk *)user)->progress, done);
}

static void say_stage(void *user, const char *stage, double part) {
    talk *t = user;
    if (!t->stage || strcmp(t->stage, stage)) {
        if (t->stage) cli_progress_end(&t->progress);
        cli_progress_start(&t->progress, &t->s->common, stage, part < 0 ? 0 : 100, "%");
        t->stage = stage;
    }
    if (part >= 0) cli_progress_set(&t->progress, (uint64_t)(part * 100));
}

static int say_step(void *user, const train_progress *p) {
    talk *t = user;
    if (!t->stage || strcmp(t->stage, "steps")) {
        if (t->stage) cli_progress_end(&t->progress);
        cli_progress_start(&t->progress, &t->s->common, "training", p->steps, "steps");
        t->stage = "steps";
    }
    cli_progress_set(&t->progress, p->step);
    cli_progress_say(&t->progress, "epoch %u, loss %.4g, validation %.4g", p->epoch, p->loss,
                     p->validation_loss);
    return 0;
}

static void keep_epoch(talk *t, uint32_t epoch, const train_history *entry) {
    if (t->epochs == t->room) {
        size_t room = t->room ? 2 * t->room : 64;
        double *a = realloc(t->epoch, room * sizeof *a);
        if (a) t->epoch = a;
        double *b = realloc(t->loss, room * sizeof *b);
        if (b) t->loss = b;
        double *c = realloc(t->validation, room * sizeof *c);
        if (c) t->validation = c;
        if (!a || !b || !c) return;
        t->room = room;
    }
    t->epoch[t->epochs] = epoch;
    t->loss[t->epochs] = entry->loss;
    t->validation[t->epochs++] = entry->validation_loss;
}

static void say_epoch(void *user, uint32_t epoch, const train_history *entry, double seconds) {
    talk *t = user;
    keep_epoch(t, epoch, entry);
    if (!t->log) return;
    cli_json j;
    cli_json_begin(&j, t->log);
    cli_json_uint(&j, "epoch", epoch);
    cli_json_number(&j, "loss", entry->loss);
    cli_json_number(&j, "validation_loss", entry->validation_loss);
    cli_json_number(&j, "distortion_mse", entry->distortion);
    cli_json_number(&j, "bits", entry->bits);
    cli_json_number(&j, "rate", entry->rate);
    cli_json_number(&j, "seconds", seconds);
    cli_json_end(&j);
}

/* --- the verb -------------------------------------------------------------------------- */

static int parse_window(const char *text, uint32_t *window) {
    int64_t side;
    if (!strcmp(text, "auto"))
        *window = TRAIN_WINDOW_AUTO;
    else if (!strcmp(text, "whole"))
        *window = TRAIN_WINDOW_WHOLE;
    else if (cli_parse_int(text, &side) && side >= 2 && side <= 64)
        *window = (uint32_t)side;
    else
        return 0;
    return 1;
}

static train_options options_of(const settings *s, uint32_t *hidden) {
    train_options o = {.family = s->family ? TAPER_FAMILY_DENSE : TAPER_FAMILY_PCA,
                       .units = (uint32_t)s->units,
                       .linear_mse = s->weight_error,
                       .set_images = (uint64_t)s->set_images,
                       .dense = train_dense_defaults()};
    o.dense.epochs = (uint32_t)s->epochs;
    o.dense.batch = (uint32_t)s->batch;
    o.dense.rate = (float)s->rate;
    o.dense.lambda = (float)s->lambda;
    o.dense.rho = (float)s->rho;
    o.dense.truncated_share = (float)s->truncated;
    o.dense.patience = (uint32_t)s->patience;
    o.dense.seed = (uint64_t)s->seed;
    o.dense.checkpoint = s->checkpoint;
    o.dense.resume = s->resume;
    for (size_t i = 0; i < s->hidden.count && i < CODEC_MAX_LAYERS; i++)
        hidden[i] = (uint32_t)s->hidden.item[i];
    o.n_hidden = (uint32_t)s->hidden.count;
    if (s->hidden.count) o.hidden = hidden;
    return o;
}

static void report(const settings *s, const train_report *r, size_t skipped) {
    if (s->common.json) {
        cli_json j;
        cli_json_begin(&j, stdout);
        cli_json_string(&j, "model", s->output);
        cli_json_uint(&j, "images", r->images);
        cli_json_uint(&j, "validation_images", r->validation_images);
        cli_json_uint(&j, "skipped", skipped);
        cli_json_uint(&j, "window_width", r->window.width);
        cli_json_uint(&j, "window_height", r->window.height);
        cli_json_uint(&j, "units", r->units);
        cli_json_uint(&j, "model_bytes", r->model_bytes);
        cli_json_bool(&j, "kept_linear", r->used_linear);
        cli_json_open(&j, "validation", '[');
        for (uint32_t i = 0; i < r->validation.n; i++) {
            cli_json_open(&j, NULL, '{');
            cli_json_number(&j, "bytes_per_image", r->validation.point[i].bytes_per_image);
            cli_json_number(&j, "psnr_db", r->validation.point[i].psnr_db);
            cli_json_close(&j);
        }
        cli_json_close(&j);
        cli_json_end(&j);
        return;
    }
    char size[16];
    cli_note(&s->common, "train", "%s: %zu images, window %ux%u, %u units, %s", s->output,
             r->images, r->window.width, r->window.height, r->units,
             cli_show_size(r->model_bytes, size));
    if (r->used_linear)
        cli_note(&s->common, "train",
                 "training gained nothing over the linear start, which was kept");
    static const double qualities[] = {25, 30, 35};
    for (int i = 0; i < 3; i++) {
        double bytes = train_bytes_at(&r->validation, qualities[i]);
        if (bytes > 0)
            cli_note(&s->common, "train",
                     "about %.1f bytes an image at %.0f dB (held-out images, payload)", bytes,
                     qualities[i]);
    }
}

/* Learning curve for dense, rate and distortion on the held-out images for every family. */
static void draw_curves(const settings *s, const talk *t, const train_report *r) {
    double bytes[CODEC_MAX_LAYERS_IN_MODEL], psnr[CODEC_MAX_LAYERS_IN_MODEL];
    for (uint32_t i = 0; i < r->validation.n; i++)
        bytes[i] = r->validation.point[i].bytes_per_image, psnr[i] = r->validation.point[i].psnr_db;
    cli_series learning[] = {
        {.name = "training", .x = t->epoch, .y = t->loss, .n = t->epochs, .colour = 1},
        {.name = "validation",
         .x = t->epoch,
         .y = t->validation,
         .n = t->epochs,
         .colour = 0,
         .bold = true}};
    cli_series rd = {.name = "held-out images",
                     .x = bytes,
                     .y = psnr,
                     .n = r->validation.n,
                     .bold = true,
                     .markers = true};
    cli_plot plot = {.title = "learning curve",
                     .x_label = "epoch",
                     .y_label = "loss",
                     .series = learning,
                     .n_series = 2};
    if (!t->epochs)
        plot = (cli_plot){.title = "rate and distortion on held-out images",
                          .x_label = "bytes per image",
                          .y_label = "PSNR, dB",
                          .log_x = true,
                          .series = &rd,
                          .n_series = 1};
    taper_error error = {0};
    if (cli_plot_write(&plot, s->plot, true, cli_signals_watch(), &error) != TAPER_OK)
        cli_warning("train", s->plot, "%s", error.text);
}

static int learn(const settings *s, talk *t, const train_dataset *data, uint32_t window) {
    uint32_t hidden[CODEC_MAX_LAYERS];
    train_options o = options_of(s, hidden);
    o.window = window;
    train_hooks hooks = {t, say_stage, {t, say_step, say_epoch}};
    codec_backend backend;
    codec_backend_cpu(&backend);
    codec_backend_set_threads(&backend, cli_threads(&s->common));
    formats_buffer file = formats_buffer_make(SIZE_MAX / 4);
    train_report r;
    taper_error error = {0};
    taper_status status = train_model(&o, data, &backend, &hooks, &file, &r, &error);
    codec_backend_close(&backend);
    if (t->stage) cli_progress_end(&t->progress);
    const char *about = s->output;
    if (status != TAPER_OK && s->checkpoint &&
        (status == TAPER_ERR_IO || status == TAPER_ERR_CORRUPT))
        about = s->checkpoint;
    if (status == TAPER_OK)
        status = formats_file_write(s->output, file.data, file.size,
                                    s->common.force ? FORMATS_ATOMIC_OVERWRITE : 0,
                                    cli_signals_watch(), &error);
    formats_buffer_free(&file);
    if (status != TAPER_OK) return cli_fail("train", about, status, &error);
    report(s, &r, t->skipped);
    if (s->plot) draw_curves(s, t, &r);
    return t->skipped ? CLI_SOME_FAILED : CLI_DONE;
}

/* Refuse before hours of work what would fail after them. */
static int check_target(const settings *s) {
    formats_atomic_file *file;
    taper_error error = {0};
    taper_status status =
        formats_atomic_file_open(&file, s->output, s->common.force ? FORMATS_ATOMIC_OVERWRITE : 0,
                                 cli_signals_watch(), &error);
    if (status != TAPER_OK) return cli_fail("train", s->output, status, &error);
    formats_atomic_file_abort(file);
    return CLI_DONE;
}

static int run(const settings *s, const char *const *paths, size_t n, uint32_t window) {
    talk t = {.s = s};
    taper_limits limits = cli_limits(&s->common);
    formats_imageset_options open = {
        .filelist = s->filelist, .labels = s->labels, .limits = &limits};
    formats_imageset *set;
    train_dataset data;
    taper_error error = {0};
    taper_status status = formats_imageset_open(&set, paths, n, &open, say_skip, &t, &error);
    if (status != TAPER_OK) return cli_fail("train", n ? paths[0] : s->filelist, status, &error);
    cli_progress_start(&t.progress, &s->common, "reading", formats_imageset_count(set), "images");
    status = train_dataset_load(&data, set,
                                (limits.max_memory ? limits.max_memory : (uint64_t)1 << 32) / 4,
                                s->alpha, say_skip, say_read, &t, &error);
    cli_progress_end(&t.progress);
    formats_imageset_close(set);
    if (status != TAPER_OK) return cli_fail("train", n ? paths[0] : s->filelist, status, &error);
    if (data.n + t.skipped < data.available)
        cli_note(&s->common, "train",
                 "learning from %zu of %zu images, evenly chosen, to stay within --max-memory",
                 data.n, data.available);
    if (s->log && !(t.log = fopen(s->log, s->resume ? "a" : "w")))
        cli_warning("train", s->log, "cannot be written: %s", strerror(errno));
    int code = learn(s, &t, &data, window);
    if (t.log) fclose(t.log);
    free(t.epoch), free(t.loss), free(t.validation);
    train_dataset_free(&data);
    return code;
}

int cmd_train(int argc, char **argv) {
    settings s = {0};
    int first, stop = cli_options_parse(&cli_verb_train, argc, argv, &s, &first);
    if (stop >= 0) return stop;
    uint32_t window;
    int code;
    if (!s.output)
        code = cli_usage(&cli_verb_train, "name the model to write with -o MODEL");
    else if (first == argc && !s.filelist)
        code = cli_usage(&cli_verb_train, "name images or folders to learn from");
    else if (!parse_window(s.window, &window))
        code = cli_usage(&cli_verb_train, "--window is auto, whole or 2 to 64, not '%s'", s.window);
    else if (s.resume && !s.checkpoint)
        code = cli_usage(&cli_verb_train, "--resume needs --checkpoint FILE");
    else if (!strncmp(s.common.device, "cuda", 4))
        code = cli_usage(&cli_verb_train, "this build has no CUDA; give --device cpu");
    else if ((code = check_target(&s)) == CLI_DONE)
        code = run(&s, (const char *const *)argv + first, (size_t)(argc - first), window);
    cli_options_free(&cli_verb_train, &s);
    return code;
}
