/* reporter.c -- see reporter.h. */
#include "cli/train/reporter.h"
#include "cli/common/json.h"
#include "cli/common/plot.h"
#include "cli/common/signals.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void cli_train_reporter_begin(cli_train_reporter *t) {
    if (t->log_path && !(t->log = fopen(t->log_path, t->append ? "a" : "w")))
        cli_warning(t->verb, t->log_path, "cannot be written: %s", strerror(errno));
}

void cli_train_reporter_end(cli_train_reporter *t) {
    const bool failed = t->log && ferror(t->log);
    if (t->log && (fclose(t->log) != 0 || failed))
        cli_warning(t->verb, t->log_path, "not all of it could be written; free some space");
    free(t->curve);
}

/* --- while it works -------------------------------------------------------------------- */

void cli_train_say_skip(void *user, const char *path, const taper_error *why) {
    cli_left_out_image(&((cli_train_reporter *)user)->left, path, why->status, why);
}

void cli_train_say_read(void *user, uint64_t done, uint64_t total) {
    (void)total;
    cli_progress_set(&((cli_train_reporter *)user)->progress, done);
}

void cli_train_enter(cli_train_reporter *t, const char *stage, uint64_t total, const char *unit) {
    if (t->stage && !strcmp(t->stage, stage) && t->total == total) return;
    if (t->stage) cli_progress_end(&t->progress);
    cli_detail(t->common, 2, t->verb, "%s", stage);
    cli_progress_start(&t->progress, t->common, stage, total, unit);
    t->stage = stage, t->total = total;
}

static void say_candidate(void *user, codec_window window, uint32_t units, uint64_t model_bytes,
                          const train_rd_curve *curve) {
    static const double qualities[] = {25, 30, 35};
    cli_train_reporter *t = user;
    char at[160] = "", size[16];
    for (int i = 0; i < 3; i++) {
        double bytes = train_bytes_at(curve, qualities[i]);
        size_t used = strlen(at);
        if (bytes > 0)
            snprintf(at + used, sizeof at - used, "%.1f bytes an image at %.0f dB, ", bytes,
                     qualities[i]);
    }
    cli_detail(t->common, 1, t->verb, "window %ux%u: %u unit%s, a model of %s; %sends at %.1f dB",
               window.width, window.height, units, formats_plural(units, "s"),
               cli_show_size(model_bytes, size), at,
               curve->n ? curve->point[curve->n - 1].psnr_db : 0);
}

static void say_stage(void *user, const char *stage, double part) {
    cli_train_reporter *t = user;
    cli_train_enter(t, stage, part < 0 ? 0 : 100, "%");
    if (part >= 0) cli_progress_set(&t->progress, (uint64_t)(part * 100));
}

static int say_step(void *user, const train_progress *p) {
    cli_train_reporter *t = user;
    cli_train_enter(t, "training steps", p->steps, "steps");
    cli_progress_set(&t->progress, p->step);
    cli_progress_say(&t->progress, "epoch %u, loss %.4g, validation %.4g", p->epoch, p->loss,
                     p->validation_loss);
    return 0;
}

static int say_nested_step(void *user, uint64_t step, uint64_t steps, uint32_t frozen, double loss,
                           double seconds_left) {
    cli_train_reporter *t = user;
    (void)seconds_left;
    cli_train_enter(t, "training steps", steps, "steps");
    cli_progress_set(&t->progress, step);
    cli_progress_say(&t->progress, "unit %u swept, loss %.4g", (unsigned)frozen, loss);
    return 0;
}

static void say_models(void *user, const char *device, size_t models, size_t wanted) {
    const cli_train_reporter *t = user;
    if (models == wanted)
        cli_detail(t->common, 1, t->verb, "%zu models at a time on %s", models, device);
    else
        cli_warning(t->verb, device, "memory for %zu model%s at a time, not %zu", models,
                    formats_plural(models, "s"), wanted);
}

static void say_fewer_rows(void *user, const char *device, size_t rows, size_t wanted) {
    const cli_train_reporter *t = user;
    cli_warning(t->verb, device, "memory for %zu rows at a time, not %zu", rows, wanted);
}

/* Texts about a network that is being trained. */
typedef struct network_words {
    const char *stage, *gain, *step, *now, *before; /* the last three: keys of the log */
} network_words;

static int say_network_step(cli_train_reporter *t, const network_words *w,
                            const train_steps_progress *p) {
    enum { LOG_STEPS = 100 };
    double saved = 100.0 * (1.0 - p->now / p->before);
    cli_train_enter(t, w->stage, p->steps, "steps");
    cli_progress_set(&t->progress, p->step);
    cli_progress_say(&t->progress, "%.1f %% %s", saved, w->gain);
    if (!t->log || (p->step % LOG_STEPS && p->step != p->steps)) return 0;
    cli_json j;
    cli_json_begin(&j, t->log);
    cli_json_uint(&j, w->step, p->step);
    cli_json_number(&j, w->now, p->now);
    cli_json_number(&j, w->before, p->before);
    cli_json_number(&j, "seconds", p->seconds);
    cli_json_number(&j, "seconds_left", p->seconds_left);
    cli_json_end(&j);
    fflush(t->log);
    return 0;
}

static int say_conditional_step(void *user, const train_steps_progress *p) {
    static const network_words w = {"training what predicts", "fewer bits", "conditional_step",
                                    "bits_per_window", "context_bits_per_window"};
    return say_network_step(user, &w, p);
}

static int say_head_step(void *user, const train_steps_progress *p) {
    static const network_words w = {"training the head", "less squared error", "head_step",
                                    "squared_error", "squared_error_without"};
    return say_network_step(user, &w, p);
}

static int say_restoration_step(void *user, const train_steps_progress *p) {
    static const network_words w = {"training what restores", "less squared error",
                                    "restoration_step", "squared_error", "squared_error_without"};
    return say_network_step(user, &w, p);
}

static void say_diverged(void *user, const char *words) {
    cli_train_reporter *t = user;
    if (t->stage) cli_progress_end(&t->progress);
    t->stage = NULL;
    cli_warning(t->verb, t->output, "%s", words);
}

static void say_how(void *user, const char *words) {
    const cli_train_reporter *t = user;
    cli_detail(t->common, 1, t->verb, "%s", words);
}

/* --- the learning curve ---------------------------------------------------------------- */

void cli_train_keep(cli_train_reporter *t, double epoch, double training, double validation,
                    double swept) {
    if (t->epochs == t->room) {
        size_t room = t->room ? 2 * t->room : 64;
        void *more = realloc(t->curve, room * sizeof *t->curve);
        if (!more) return;
        t->curve = more;
        t->room = room;
    }
    t->curve[t->epochs].epoch = epoch;
    t->curve[t->epochs].training = training;
    t->curve[t->epochs].validation = validation;
    t->curve[t->epochs++].swept = swept;
}

static void say_epoch(void *user, uint32_t epoch, const train_dense_epoch *entry, double seconds) {
    cli_train_reporter *t = user;
    cli_train_keep(t, epoch, entry->loss, entry->validation_loss, 0);
    cli_detail(t->common, 2, t->verb, "epoch %u: loss %.4g, validation %.4g", epoch, entry->loss,
               entry->validation_loss);
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

static void say_nested_epoch(void *user, uint32_t epoch, const train_nested_epoch *e) {
    cli_train_reporter *t = user;
    t->whole_units = 1;
    cli_train_keep(t, epoch, e->mse, e->validation_mse, e->frozen);
    cli_detail(t->common, 2, t->verb, "epoch %u: squared error %.4g, validation %.4g", epoch,
               e->mse, e->validation_mse);
    if (!t->log) return;
    cli_json j;
    cli_json_begin(&j, t->log);
    cli_json_uint(&j, "epoch", epoch);
    cli_json_number(&j, "loss", e->loss);
    cli_json_number(&j, "mse", e->mse);
    cli_json_number(&j, "validation_mse", e->validation_mse);
    cli_json_number(&j, "validation_mse_all_units", e->full_mse);
    cli_json_uint(&j, "units_swept", e->frozen);
    cli_json_number(&j, "multiply_adds_per_row", e->multiply_adds);
    cli_json_number(&j, "seconds", e->seconds);
    cli_json_uint(&j, "steps", e->steps);
    cli_json_number(&j, "step_seconds", e->step_seconds);
    cli_json_number(&j, "host_seconds", e->host_seconds);
    cli_json_end(&j);
}

train_hooks cli_train_hooks(cli_train_reporter *t) {
    return (train_hooks){t,
                         say_stage,
                         {t, say_step, say_epoch, say_diverged, say_how},
                         {t, say_nested_step, say_nested_epoch, say_fewer_rows, say_how},
                         say_conditional_step,
                         say_head_step,
                         say_restoration_step,
                         say_candidate,
                         say_models};
}

/* --- the report ------------------------------------------------------------------------ */

static void comparison_json(cli_json *j, const train_builtin_comparison *c) {
    cli_json_open(j, "comparison", '{');
    cli_json_uint(j, "images", c->images);
    cli_json_bool(j, "held_out", c->held_out);
    cli_json_uint(j, "set_images", c->set_images);
    cli_json_open(j, "builtin", '[');
    for (size_t i = 0; i < c->n; i++) {
        const train_builtin_result *r = &c->result[i];
        cli_json_open(j, NULL, '{');
        cli_json_string(j, "model", r->name);
        cli_json_number(j, "percent", r->percent);
        cli_json_number(j, "with_model_percent", r->with_model_percent);
        cli_json_number(j, "from_db", r->from_db);
        cli_json_number(j, "to_db", r->to_db);
        if (r->pays_from) cli_json_uint(j, "pays_from", r->pays_from);
        cli_json_number(j, "at_db", r->at_db);
        cli_json_number(j, "bytes_per_image", r->bytes);
        cli_json_number(j, "builtin_bytes_per_image", r->builtin_bytes);
        cli_json_close(j);
    }
    cli_json_close(j);
    cli_json_close(j);
}

static void report_json(const cli_train_reporter *t, const train_report *r,
                        const train_builtin_comparison *c) {
    cli_json j;
    cli_json_begin(&j, stdout);
    cli_json_string(&j, "model", t->output);
    cli_json_uint(&j, "images", r->images);
    cli_json_uint(&j, "validation_images", r->validation_images);
    cli_json_uint(&j, "skipped", t->left.failed);
    cli_json_uint(&j, "window_width", r->window.width);
    cli_json_uint(&j, "window_height", r->window.height);
    cli_json_uint(&j, "units", r->units);
    cli_json_bool(&j, "binary", r->binary);
    cli_json_uint(&j, "model_bytes", r->model_bytes);
    cli_json_bool(&j, "kept_linear", r->used_linear);
    cli_json_bool(&j, "head_left_out", r->head_left_out);
    cli_json_bool(&j, "restoration_left_out", r->restoration_left_out);
    cli_json_open(&j, "validation", '[');
    for (uint32_t i = 0; i < r->validation.n; i++) {
        cli_json_open(&j, NULL, '{');
        cli_json_number(&j, "bytes_per_image", r->validation.point[i].bytes_per_image);
        cli_json_number(&j, "psnr_db", r->validation.point[i].psnr_db);
        cli_json_close(&j);
    }
    cli_json_close(&j);
    if (c) comparison_json(&j, c);
    cli_json_end(&j);
}

/* "12.3 % more", "0.0 % fewer" */
static const char *show_percent(double percent, char to[32]) {
    snprintf(to, 32, "%.1f %% %s", fabs(percent), percent > 0 ? "more" : "fewer");
    return to;
}

/* The trained model needs fewer bytes: compare the gain with the size of the model. */
static void tell_model_bytes(const cli_train_reporter *t, const train_builtin_comparison *c,
                             const train_builtin_result *r, uint64_t model_bytes) {
    char percent[32], size[16], from[64] = "";
    if (r->with_model_percent > 0 && r->pays_from)
        snprintf(from, sizeof from, "; it pays from about %llu images on",
                 (unsigned long long)r->pays_from);
    cli_note(t->common, t->verb,
             "with its own %s counted once for %llu image%s it needs %s bytes than %s%s",
             cli_show_size(model_bytes, size), (unsigned long long)c->set_images,
             formats_plural(c->set_images, "s"), show_percent(r->with_model_percent, percent),
             r->name, from);
}

static void tell_comparison(const cli_train_reporter *t, const train_builtin_comparison *c,
                            uint64_t model_bytes) {
    const train_builtin_result *r = train_best_builtin(c);
    char percent[32];
    if (!r) {
        cli_note(t->common, t->verb,
                 "no built-in model can be compared with it: they share no range of quality");
        return;
    }
    cli_note(
        t->common, t->verb,
        "on %zu %s image%s it needs %s bytes than the built-in model %s at equal PSNR (%.0f to "
        "%.0f dB)",
        c->images, c->held_out ? "held-out" : "training", formats_plural(c->images, "s"),
        show_percent(r->percent, percent), r->name, r->from_db, r->to_db);
    cli_note(t->common, t->verb, "at %.1f dB: %.0f bytes an image, with %s %.0f", r->at_db,
             r->bytes, r->name, r->builtin_bytes);
    if (!c->held_out)
        cli_note(t->common, t->verb,
                 "expect lower gains on other images: it was trained on these; with fewer than %d "
                 "images none are held out",
                 (int)TRAIN_VALIDATION_PERIOD);
    if (r->percent > 0)
        cli_warning(t->verb, NULL,
                    "the built-in model %s is better for these images: encode with -m %s", r->name,
                    r->name);
    else
        tell_model_bytes(t, c, r, model_bytes);
}

void cli_train_report(const cli_train_reporter *t, const train_report *r,
                      const train_builtin_comparison *comparison) {
    if (t->common->json) {
        report_json(t, r, comparison);
        return;
    }
    char size[16];
    cli_note(t->common, t->verb, "%s: %zu image%s, window %ux%u, %u %sunit%s, %s", t->output,
             r->images, formats_plural(r->images, "s"), r->window.width, r->window.height, r->units,
             r->binary ? "binary " : "", formats_plural(r->units, "s"),
             cli_show_size(r->model_bytes, size));
    if (r->scaled)
        cli_note(t->common, t->verb,
                 "the images were scaled to %u x %u pixels, as an index scales them",
                 r->window.width, r->window.height);
    if (r->used_linear)
        cli_note(t->common, t->verb,
                 "training did not improve on the linear start, which was kept");
    if (r->head_left_out)
        cli_note(t->common, t->verb, "the head did not help on held-out images and was dropped");
    if (r->restoration_left_out)
        cli_note(t->common, t->verb,
                 "restoration did not help on held-out images: the model is of family pca");
    for (uint32_t i = 0; i < r->validation.n; i++)
        cli_detail(t->common, 2, t->verb, "layer %u: %.1f bytes an image, %.2f dB", i + 1,
                   r->validation.point[i].bytes_per_image, r->validation.point[i].psnr_db);
    static const double qualities[] = {25, 30, 35};
    const char *which = r->validation_images ? "held-out" : "training";
    int said = 0;
    for (int i = 0; i < 3; i++) {
        double bytes = train_bytes_at(&r->validation, qualities[i]);
        if (!(bytes > 0)) continue;
        said = 1;
        cli_note(t->common, t->verb, "about %.1f bytes an image at %.0f dB (%s images, payload)",
                 bytes, qualities[i], which);
    }
    if (!said && r->validation.n) {
        const train_rd_point *end = &r->validation.point[r->validation.n - 1];
        cli_note(t->common, t->verb, "all of it, %.1f bytes an image, gives %.2f dB (%s images)",
                 end->bytes_per_image, end->psnr_db, which);
    }
    if (comparison) tell_comparison(t, comparison, r->model_bytes);
}

/* --- pictures -------------------------------------------------------------------------- */

static void draw(const cli_train_reporter *t, const cli_plot *plot, const char *stem) {
    taper_error error = {0};
    if (cli_plot_write(plot, stem, true, cli_signals_watch(), &error) != TAPER_OK)
        cli_warning(t->verb, stem, "%s", cli_explain(&error).text);
}

static void draw_learning(const cli_train_reporter *t) {
    size_t n = t->epochs;
    double *column = malloc(4 * n * sizeof *column);
    char *stem = malloc(strlen(t->plot) + sizeof "-sweep");
    if (!column || !stem) {
        free(column), free(stem);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        column[i] = t->curve[i].epoch, column[n + i] = t->curve[i].training;
        column[2 * n + i] = t->curve[i].validation, column[3 * n + i] = t->curve[i].swept;
    }
    cli_series learning[] = {
        {.name = "training", .x = column, .y = column + n, .n = n, .colour = 1},
        {.name = "validation",
         .x = column,
         .y = column + 2 * n,
         .n = n,
         .colour = 0,
         .bold = true}};
    cli_plot plot = {.title = "learning curve",
                     .x_label = "epoch",
                     .y_label = t->whole_units ? "expected squared error" : "loss",
                     .series = learning,
                     .n_series = 2};
    draw(t, &plot, t->plot);
    cli_series sweep = {
        .name = "units swept", .x = column, .y = column + 3 * n, .n = n, .bold = true};
    cli_plot swept = {.title = "unit sweeping",
                      .x_label = "epoch",
                      .y_label = "units that are finished",
                      .series = &sweep,
                      .n_series = 1};
    memcpy(stem, t->plot, strlen(t->plot) + 1);
    memcpy(stem + strlen(t->plot), "-sweep", sizeof "-sweep");
    if (t->whole_units && t->curve[n - 1].swept > 0) draw(t, &swept, stem);
    free(column), free(stem);
}

void cli_train_draw(const cli_train_reporter *t, const train_report *r) {
    double bytes[CODEC_MAX_LAYERS_IN_MODEL], psnr[CODEC_MAX_LAYERS_IN_MODEL];
    if (t->epochs) {
        draw_learning(t);
        return;
    }
    if (!r) return;
    for (uint32_t i = 0; i < r->validation.n; i++)
        bytes[i] = r->validation.point[i].bytes_per_image, psnr[i] = r->validation.point[i].psnr_db;
    cli_series rd = {.name = "held-out images",
                     .x = bytes,
                     .y = psnr,
                     .n = r->validation.n,
                     .bold = true,
                     .markers = true};
    cli_plot plot = {.title = "rate and distortion on held-out images",
                     .x_label = "bytes per image",
                     .y_label = "PSNR, dB",
                     .log_x = true,
                     .series = &rd,
                     .n_series = 1};
    draw(t, &plot, t->plot);
}
