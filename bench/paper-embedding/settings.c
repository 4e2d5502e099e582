/* settings.c -- see settings.h. */
#include "bench/paper-embedding/settings.h"
#include "bench/figures/figures.h"
#include <stdlib.h>
#include <string.h>

static void set_widths(embedding_settings *s, const char *value) {
    for (s->layers = 0; *value; s->layers++) {
        char *end;
        if (s->layers == CODEC_MAX_LAYERS - 1) figures_die("too many layers: %s", value);
        s->width[s->layers] = (uint32_t)strtoul(value, &end, 10);
        if (end == value || (*end && *end != '-'))
            figures_die("widths are written 500-500-2000, not %s", value);
        value = *end ? end + 1 : end;
    }
}

static embedding_pretraining pretraining_of(const char *value) {
    if (!strcmp(value, "rbm")) return EMBEDDING_RBM;
    if (!strcmp(value, "denoising")) return EMBEDDING_DENOISING;
    if (!strcmp(value, "taught")) return EMBEDDING_TAUGHT;
    if (strcmp(value, "none") != 0) figures_die("no pretraining %s", value);
    return EMBEDDING_NONE;
}

/* Keys whose value is a number; 0: it is none of them. */
static int set_number(embedding_settings *s, const char *key, double x) {
    train_embedding_options *o = &s->training;
    if (!strcmp(key, "epochs")) return o->epochs = (uint32_t)x, 1;
    if (!strcmp(key, "batch")) return o->batch = (uint32_t)x, 1;
    if (!strcmp(key, "rate")) return o->rate = (float)x, 1;
    if (!strcmp(key, "l2")) return o->l2 = x, 1;
    if (!strcmp(key, "hinge")) return o->objective.hinge = x, 1;
    if (!strcmp(key, "line-searches")) return o->line_searches = (uint32_t)x, 1;
    if (!strcmp(key, "pretrain-epochs")) return s->pretraining_epochs = (uint32_t)x, 1;
    if (!strcmp(key, "corrupt")) return o->noise.corrupt = (float)x, 1;
    if (!strcmp(key, "dropout")) return o->noise.dropout = (float)x, 1;
    if (!strcmp(key, "jitter")) return o->noise.jitter.strength = (float)x, 1;
    if (!strcmp(key, "reconstruct")) return o->reconstruct = x, 1;
    if (!strcmp(key, "free")) return o->free_units = (uint32_t)x, 1;
    if (!strcmp(key, "labels")) return s->labels_percent = x, 1;
    if (!strcmp(key, "labels-each")) return s->labels_each = (uint32_t)x, 1;
    if (!strcmp(key, "guess")) return s->guess = x != 0.0, 1;
    if (!strcmp(key, "teacher-epochs")) return s->teacher_epochs = (uint32_t)x, 1;
    if (!strcmp(key, "spread")) return s->spread = x, 1;
    return 0;
}

static void set(embedding_settings *s, const char *key, const char *value) {
    char *end;
    double x = strtod(value, &end);
    if (!strcmp(key, "widths"))
        set_widths(s, value);
    else if (!strcmp(key, "pretrain"))
        s->pretraining = pretraining_of(value);
    else if (!strcmp(key, "optimiser"))
        s->training.optimiser = !strcmp(value, "cg") ? TRAIN_CG : TRAIN_ADAM;
    else if (*end || end == value || !set_number(s, key, x))
        figures_die("no setting %s=%s", key, value);
}

void embedding_settings_words(const embedding *e, const embedding_cell *cell, char *words,
                              size_t size) {
    snprintf(words, size, "%s%s%s", embedding_recipe_of(cell)->settings, e->extra[0] ? " " : "",
             e->extra);
}

embedding_settings embedding_settings_of(const char *text) {
    embedding_settings s = {.training = train_embedding_defaults(),
                            .width = {500, 500, 2000},
                            .layers = 3,
                            .labels_percent = 100.0,
                            .pretraining_epochs = 50};
    char word[128];
    while (*(text += strspn(text, " "))) {
        size_t n = strcspn(text, " ");
        if (n >= sizeof word) figures_die("a setting that is too long: %s", text);
        memcpy(word, text, n);
        word[n] = 0;
        text += n;
        char *equals = strchr(word, '=');
        if (!equals) figures_die("a setting without '=': %s", word);
        *equals = 0;
        set(&s, word, equals + 1);
    }
    return s;
}
