/* recipe_lines.c -- see recipe_lines.h. */
#include "cli/train/recipe_lines.h"
#include "cli/common/json.h"
#include "formats/bytes.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *start_words(const train_embedding_choice *c, char words[80]) {
    if (!train_embedding_is_deep(c)) return c->linear.kind == TRAIN_START_RANDOM ? "random" : "pca";
    if (c->start != TRAIN_EMBEDDING_TAUGHT) return "random";
    snprintf(words, 80, "taught --teacher-epochs %u --teacher-reach %g", c->teaching.epochs,
             (double)c->teaching.reach);
    return words;
}

/* Append words; what has no room is cut off. */
__attribute__((format(printf, 2, 3))) static void append(char words[CLI_RECIPE_BYTES],
                                                         const char *format, ...) {
    const size_t used = strlen(words);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words + used, CLI_RECIPE_BYTES - used, format, arguments);
    va_end(arguments);
}

void cli_recipe_words(const train_embedding_choice *c, char words[CLI_RECIPE_BYTES]) {
    char start[80];
    *words = 0;
    append(words, "--objective %s%s", c->objective, c->training.binary ? " --code binary" : "");
    for (uint32_t i = 0; i < c->convolutions; i++)
        append(words, "%s%u", i ? "," : " --convolutions ", c->channels[i]);
    for (uint32_t i = 0; i < c->n_hidden; i++)
        append(words, "%s%u", i ? "," : " --hidden ", c->hidden[i]);
    append(words, " --start %s -k %u -e %u --rate %g", start_words(c, start), c->units,
           c->training.epochs, (double)c->training.rate);
    if (c->motion > 0)
        append(words, " --motion %g%s", (double)c->motion, c->mirrors ? " --mirror" : "");
    if (c->cells) append(words, " --cells %u", c->cells);
    if (c->training.noise.dropout > 0)
        append(words, " --dropout %g", (double)c->training.noise.dropout);
    if (c->training.binary) append(words, " --numbers-first %g", c->training.numbers_first);
    if (c->side == TRAIN_EMBEDDING_WHOLE)
        append(words, " --window whole");
    else if (c->side)
        append(words, " --window %u", c->side);
    if (c->training.seed != 1) append(words, " --seed %llu", (unsigned long long)c->training.seed);
    append(words, " --hold-out 0");
}

/* --- trials ---------------------------------------------------------------------------------- */

static void put_trial(const train_embedding_trial *trial, const train_embedding_choice *c) {
    char words[CLI_RECIPE_BYTES];
    cli_json j;
    cli_recipe_words(c, words);
    cli_json_begin(&j, stdout);
    cli_json_string(&j, "trial", trial->words);
    cli_json_number(&j, "error_percent", trial->error.tested ? 100.0 * trial->error.rate : NAN);
    cli_json_number(&j, "judged_percent", trial->error.tested ? 100.0 * trial->judged : NAN);
    cli_json_bool(&j, "kept", trial->kept);
    cli_json_number(&j, "seconds", trial->seconds);
    cli_json_string(&j, "options", words);
    cli_json_end(&j);
    fflush(stdout);
}

static void say_first(const cli_train_reporter *t, const train_embedding_found *f,
                      const train_embedding_choice *c) {
    cli_note(t->common, t->verb,
             "tried on %zu images, %u fold%s, %u vote%s: nearest neighbours by pixels have %.2f %% "
             "errors on held-out images",
             f->rows, f->folds, formats_plural(f->folds, "s"), c->training.k,
             formats_plural(c->training.k, "s"), 100.0 * f->pixels.rate);
    if (f->classifier.tested)
        cli_note(t->common, t->verb,
                 "a plain classifier, two hidden layers of 500 units, has %.2f %% errors (%u "
                 "epoch%s, %.0f s)",
                 100.0 * f->classifier.rate, f->classifier_epochs,
                 formats_plural(f->classifier_epochs, "s"), f->classifier_seconds);
    if (c->training.balanced)
        cli_note(t->common, t->verb, "balanced errors, by which the settings are chosen:");
}

void cli_say_trial(void *user, const train_embedding_found *f, const train_embedding_choice *c) {
    const cli_train_reporter *t = user;
    const train_embedding_trial *trial = &f->trial[f->trials - 1];
    if (t->common->json) {
        put_trial(trial, c);
        return;
    }
    if (f->trials == 1) say_first(t, f, c);
    if (trial->error.tested)
        cli_note(t->common, t->verb, "  %5.2f %%  %s%s (%.0f s)", 100.0 * trial->judged,
                 trial->words, trial->kept ? ": kept" : "", trial->seconds);
    else
        cli_note(t->common, t->verb, "  diverged %s", trial->words);
}
