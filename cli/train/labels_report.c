/* labels_report.c -- see labels_report.h. */
#include "cli/train/labels_report.h"
#include "cli/common/json.h"
#include "cli/train/recipe_lines.h"
#include "cli/train/labels_errors.h"
#include "formats/bytes.h"
#include <math.h>
#include <string.h>

/* --- while it works ---------------------------------------------------------------------- */

static void say_stage(void *user, const char *stage, double part) {
    cli_train_enter(user, stage, part < 0 ? 0 : 100, "%");
}

static int say_layer(void *user, const train_rbm_progress *p) {
    cli_train_reporter *t = user;
    cli_train_enter(t, "pretraining layers", (uint64_t)p->layers * p->epochs, "epochs");
    cli_progress_set(&t->progress, (uint64_t)(p->layer - 1) * p->epochs + p->epoch);
    cli_progress_say(&t->progress, "layer %u, error %.4g", p->layer, p->error);
    cli_detail(t->common, 2, t->verb, "layer %u, epoch %u: error %.4g", p->layer, p->epoch,
               p->error);
    if (!t->log) return 0;
    cli_json j;
    cli_json_begin(&j, t->log);
    cli_json_uint(&j, "pretraining_layer", p->layer);
    cli_json_uint(&j, "epoch", p->epoch);
    cli_json_number(&j, "squared_error", p->error);
    cli_json_number(&j, "seconds_left", p->seconds_left);
    cli_json_end(&j);
    fflush(t->log);
    return 0;
}

static int say_step(void *user, uint64_t step, uint64_t steps, double loss, double seconds_left) {
    cli_train_reporter *t = user;
    (void)seconds_left;
    cli_train_enter(t, "training steps", steps, "steps");
    cli_progress_set(&t->progress, step);
    cli_progress_say(&t->progress, "loss %.4g", loss);
    return 0;
}

static void say_epoch(void *user, uint32_t epoch, const train_embedding_epoch *e) {
    cli_train_reporter *t = user;
    const int measured = isfinite(e->error);
    cli_train_keep(t, epoch, e->loss, e->error, 0);
    cli_detail(t->common, 2, t->verb, "epoch %u: loss %.4g, error %.2f %%", epoch, e->loss,
               100.0 * e->error);
    if (!t->log) return;
    cli_json j;
    cli_json_begin(&j, t->log);
    cli_json_uint(&j, "epoch", epoch);
    cli_json_number(&j, "loss", e->loss);
    cli_json_number(&j, "objective", e->objective);
    if (measured) cli_json_number(&j, "held_out_error_percent", 100.0 * e->error);
    cli_json_number(&j, "degrees", e->alpha);
    cli_json_number(&j, "seconds", e->seconds);
    cli_json_end(&j);
    fflush(t->log);
}

static void say_how(void *user, const char *words) {
    const cli_train_reporter *t = user;
    cli_note(t->common, t->verb, "%s", words);
}

train_embedding_hooks cli_labels_hooks(cli_train_reporter *t) {
    return (train_embedding_hooks){
        t, say_stage, cli_say_trial, {say_layer, t}, {t, say_step, say_epoch, say_how}};
}

/* --- the report -------------------------------------------------------------------------- */

/* The start that was compared with random weights. */
static const char *learned_start(const train_embedding_choice *c) {
    return train_embedding_is_deep(c) ? "rbm" : "pca";
}

static void start_json(const train_embedding_report *r, const train_embedding_choice *c,
                       cli_json *j) {
    const train_embedding_start_trial *s = &r->start;
    if (!s->learned.tested && !s->drawn.tested) return;
    cli_json_string(j, "start", s->is_drawn ? "random" : learned_start(c));
    if (s->learned.tested)
        cli_json_number(j, "start_trial_learned_percent", 100.0 * s->learned.rate);
    if (s->drawn.tested) cli_json_number(j, "start_trial_random_percent", 100.0 * s->drawn.rate);
    cli_json_number(j, "start_trial_seconds", s->seconds);
}

static void report_json(const cli_train_reporter *t, const train_embedding_choice *c,
                        const train_embedding_report *r, const cli_labelled_set *labels) {
    const train_embedding_result *l = &r->learned;
    cli_json j;
    cli_json_begin(&j, stdout);
    cli_json_string(&j, "model", t->output);
    cli_json_string(&j, "objective", c->objective);
    cli_json_uint(&j, "images", r->images);
    cli_json_uint(&j, "labelled", l->rows - l->guessed + l->held_out);
    cli_json_uint(&j, "guessed", l->guessed);
    cli_json_uint(&j, "held_out", l->held_out);
    cli_json_uint(&j, "classes", l->classes);
    cli_json_uint(&j, "skipped", t->left.failed);
    cli_json_uint(&j, "window_width", r->window.width);
    cli_json_uint(&j, "window_height", r->window.height);
    cli_json_uint(&j, "units", r->units);
    cli_json_bool(&j, "binary", c->training.binary);
    if (c->training.objective.student) cli_json_number(&j, "degrees", l->alpha);
    cli_json_uint(&j, "model_bytes", r->model_bytes);
    cli_json_uint(&j, "epochs", l->epochs);
    cli_json_uint(&j, "best_epoch", l->best_epoch);
    for (uint32_t i = 0; i < c->training.prefixes.lengths && r->held_out.tested; i++) {
        char key[48];
        snprintf(key, sizeof key, "error_percent_of_first_%u", c->training.prefixes.length[i]);
        cli_json_number(&j, key, 100.0 * r->prefix[i].rate);
    }
    if (r->held_out.tested) {
        cli_json_number(&j, "start_error_percent", 100.0 * l->start_error);
        cli_json_number(&j, "error_percent", 100.0 * r->held_out.rate);
        cli_json_number(&j, "error_percent_low", 100.0 * r->held_out.low);
        cli_json_number(&j, "error_percent_high", 100.0 * r->held_out.high);
    }
    if (r->pixels.tested) cli_json_number(&j, "pixels_error_percent", 100.0 * r->pixels.rate);
    if (r->found.trials) {
        const train_embedding_found *f = &r->found;
        char words[CLI_RECIPE_BYTES];
        cli_recipe_words(&f->choice, words);
        cli_json_string(&j, "options", words);
        cli_json_uint(&j, "trials", f->trials);
        cli_json_bool(&j, "ended_early", f->ended_early);
        cli_json_number(&j, "pixels_error_percent", 100.0 * f->pixels.rate);
        cli_json_number(&j, "classifier_error_percent",
                        f->classifier.tested ? 100.0 * f->classifier.rate : NAN);
        cli_json_number(&j, "best_error_percent", 100.0 * f->error.rate);
        cli_json_number(&j, "error_percent", 100.0 * f->expected.rate);
        cli_json_number(&j, "error_percent_low", 100.0 * f->expected.low);
        cli_json_number(&j, "error_percent_high", 100.0 * f->expected.high);
    }
    cli_labels_errors_json(r, labels, &j);
    start_json(r, c, &j);
    cli_json_number(&j, "pretraining_seconds", r->pretraining_seconds);
    cli_json_number(&j, "seconds", l->seconds);
    cli_json_end(&j);
}

/* Print the options that repeat this training. */
static void say_again(const cli_train_reporter *t, const train_embedding_choice *c) {
    char words[CLI_RECIPE_BYTES];
    cli_recipe_words(c, words);
    cli_note(t->common, t->verb, "to train it again: %s", words);
}

/* The same of balanced errors, whose difference by chance is not estimated. */
static void say_balanced_pixels(const cli_train_reporter *t, const train_embedding_found *f) {
    cli_note(t->common, t->verb,
             "balanced errors: neighbours by pixels %.2f %%, the best settings "
             "%.2f %%%s",
             100.0 * f->pixels_judged, 100.0 * f->judged,
             f->pixels_judged <= f->judged ? ": labels do not help here; more images per class, or "
                                             "a longer code (-k), may help"
                                           : "");
}

/* Print the chosen options, the expected error, and whether labels help. */
static void say_found(const cli_train_reporter *t, const train_embedding_report *r) {
    const train_embedding_found *f = &r->found;
    if (f->ended_early && !f->error.wrong)
        cli_note(t->common, t->verb, "no held-out image is in error: no more settings are tried");
    else if (f->ended_early)
        cli_note(t->common, t->verb, "%u changes in a row brought nothing: no more are tried",
                 f->in_vain);
    say_again(t, &f->choice);
    cli_note(
        t->common, t->verb,
        "on images held out from the trials: %.2f %% errors (95 %%: %.2f to %.2f). Each half of "
        "them tests the settings chosen by the other half; the final model is trained on all",
        100.0 * f->expected.rate, 100.0 * f->expected.low, 100.0 * f->expected.high);
    if (f->classifier.tested && f->classifier_judged < f->judged)
        cli_note(t->common, t->verb,
                 "a plain classifier has fewer errors: %.2f %%, the best settings %.2f %%; more "
                 "--minutes may help",
                 100.0 * f->classifier_judged, 100.0 * f->judged);
    /* three standard deviations: rarely exceeded by chance, even by the best of a dozen recipes */
    const double p = f->pixels.rate, n = (double)f->pixels.tested;
    if (f->choice.training.balanced) {
        say_balanced_pixels(t, f);
        return;
    }
    if (p < f->error.rate)
        cli_note(t->common, t->verb,
                 "labels do not help here: neighbours by pixels have %.2f %% errors, the best "
                 "settings %.2f %%; more images per class, or a longer code (-k), may help",
                 100.0 * p, 100.0 * f->error.rate);
    else if (f->expected.rate > p - 3.0 * sqrt(p * (1.0 - p) / n))
        cli_note(t->common, t->verb,
                 "it is not certain that labels help: neighbours by pixels have %.2f %% errors, "
                 "and the best of several settings may be this much better by chance",
                 100.0 * f->pixels.rate);
}

/* Print the baseline, if the embedding is better; otherwise there is a warning. */
static void say_pixels(const cli_train_reporter *t, const train_embedding_report *r) {
    if (!r->pixels.tested || !(r->judged < r->pixels_judged)) return;
    cli_note(t->common, t->verb, "nearest neighbours by pixels: %.2f %% errors (%zu images)",
             100.0 * r->pixels.rate, (size_t)r->pixels.tested);
}

static void put_rate(char words[16], const taper_error_rate *rate) {
    if (rate->tested)
        snprintf(words, 16, "%.2f %%", 100.0 * rate->rate);
    else
        snprintf(words, 16, "(diverged)");
}

/* Print which start was kept, and why. */
static void say_start(const cli_train_reporter *t, const train_embedding_choice *c,
                      const train_embedding_report *r) {
    const train_embedding_start_trial *s = &r->start;
    char learned[16], drawn[16];
    if (!s->learned.tested && !s->drawn.tested) return;
    put_rate(learned, &s->learned), put_rate(drawn, &s->drawn);
    cli_note(t->common, t->verb,
             "--start %s is kept: after short training %s has %s errors, random %s (%zu images)",
             s->is_drawn ? "random" : learned_start(c), learned_start(c), learned, drawn,
             (size_t)formats_larger(s->learned.tested, s->drawn.tested));
}

static void report_text(const cli_train_reporter *t, const train_embedding_choice *c,
                        const train_embedding_report *r, const cli_labelled_set *labels) {
    const train_embedding_result *l = &r->learned;
    char size[16];
    cli_note(t->common, t->verb,
             "%s: an embedding of %zu image%s of %zu classes, %ux%u pixels to %u %s%s, %s",
             t->output, l->rows + l->held_out, formats_plural(l->rows + l->held_out, "s"),
             l->classes, r->window.width, r->window.height, r->units,
             c->training.binary ? "bit" : "unit", formats_plural(r->units, "s"),
             cli_show_size(r->model_bytes, size));
    if (r->found.trials) {
        say_found(t, r);
        cli_labels_errors_say(t, r, labels);
        return;
    }
    say_start(t, c, r);
    if (!r->held_out.tested) {
        cli_note(t->common, t->verb,
                 "no images were held out: the error is not known, and the last network is kept");
        return;
    }
    cli_note(t->common, t->verb,
             "%u nearest neighbours name the class of %zu held-out images with %.2f %% errors "
             "(95 %%: %.2f to %.2f; %.2f before labels); the network of epoch %u of %u, chosen by "
             "them",
             r->k, l->held_out, 100.0 * r->held_out.rate, 100.0 * r->held_out.low,
             100.0 * r->held_out.high, 100.0 * l->start_error, l->best_epoch, l->epochs);
    for (uint32_t i = 0; i < c->training.prefixes.lengths; i++)
        cli_note(t->common, t->verb, "by the first %u units: %.2f %% (%.2f to %.2f)",
                 c->training.prefixes.length[i], 100.0 * r->prefix[i].rate,
                 100.0 * r->prefix[i].low, 100.0 * r->prefix[i].high);
    say_pixels(t, r);
    cli_labels_errors_say(t, r, labels);
}

void cli_labels_report(const cli_train_reporter *t, const train_embedding_choice *c,
                       const train_embedding_report *r, const cli_labelled_set *labels) {
    if (r->found.trials) c = &r->found.choice;
    if (t->common->json)
        report_json(t, c, r, labels);
    else
        report_text(t, c, r, labels);
    cli_labels_errors_warn(t, r);
}
