/* relay.c -- see relay.h. */
#include "train/relay.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef enum message_kind {
    STAGE,
    STEP,
    EPOCH,
    DIVERGED,
    SAY,
    NESTED_STEP,
    NESTED_EPOCH,
    FEWER_ROWS,
    NESTED_SAY,
    CANDIDATE
} message_kind;

/* One call of a hook. */
typedef struct message {
    message_kind kind;
    union {
        struct {
            const char *name;
            double part;
        } stage;
        train_progress step;
        struct {
            uint32_t epoch;
            train_dense_epoch entry;
            double seconds;
        } epoch;
        struct {
            uint64_t step, steps;
            uint32_t frozen;
            double loss, seconds_left;
        } nested_step;
        struct {
            uint32_t epoch;
            train_nested_epoch entry;
        } nested_epoch;
        struct {
            const char *device;
            size_t rows, wanted;
        } rows;
        struct {
            codec_window window;
            uint32_t units;
            uint64_t model_bytes;
            const train_rd_curve *curve;
        } candidate;
        const char *words;
    } as;
    char *own_words; /* a copy, where it waits */
    struct message *next;
} message;

typedef struct speaker {
    train_relay *relay;
    train_hooks hooks;
    message *first, *last; /* that wait for its current */
    int done;
} speaker;

struct train_relay {
    const train_hooks *to;
    pthread_mutex_t lock;   /* of the members below */
    size_t models, current; /* current: the model whose messages are reported immediately */
    int stopped;
    speaker speaker[];
};

/* --- reporting ------------------------------------------------------------------------- */

/* Calls the hook; returns its result. */
static int report(const train_hooks *to, const message *m) {
    const train_callbacks *dense = &to->dense;
    const train_nested_callbacks *nested = &to->nested;
    switch (m->kind) {
    case STAGE:
        if (to->stage) to->stage(to->user, m->as.stage.name, m->as.stage.part);
        break;
    case STEP: return dense->progress ? dense->progress(dense->user, &m->as.step) : 0;
    case EPOCH:
        if (dense->epoch)
            dense->epoch(dense->user, m->as.epoch.epoch, &m->as.epoch.entry, m->as.epoch.seconds);
        break;
    case DIVERGED:
        if (dense->diverged) dense->diverged(dense->user, m->as.words);
        break;
    case SAY:
        if (dense->say) dense->say(dense->user, m->as.words);
        break;
    case NESTED_STEP:
        return nested->step ? nested->step(nested->user, m->as.nested_step.step,
                                           m->as.nested_step.steps, m->as.nested_step.frozen,
                                           m->as.nested_step.loss, m->as.nested_step.seconds_left)
                            : 0;
    case NESTED_EPOCH:
        if (nested->epoch)
            nested->epoch(nested->user, m->as.nested_epoch.epoch, &m->as.nested_epoch.entry);
        break;
    case FEWER_ROWS:
        if (nested->fewer_rows)
            nested->fewer_rows(nested->user, m->as.rows.device, m->as.rows.rows, m->as.rows.wanted);
        break;
    case NESTED_SAY:
        if (nested->say) nested->say(nested->user, m->as.words);
        break;
    case CANDIDATE:
        if (to->candidate)
            to->candidate(to->user, m->as.candidate.window, m->as.candidate.units,
                          m->as.candidate.model_bytes, m->as.candidate.curve);
        break;
    }
    return 0;
}

/* Whether m is a progress message that supersedes the waiting message before it. */
static int replaces(const message *before, const message *m) {
    if (!before || before->kind != m->kind) return 0;
    if (m->kind == STAGE) return !strcmp(before->as.stage.name, m->as.stage.name);
    return m->kind == STEP || m->kind == NESTED_STEP;
}

/* Queues a message. Returns 0 if there is no memory. */
static int keep(speaker *s, const message *m) {
    if (replaces(s->last, m)) {
        s->last->as = m->as;
        return 1;
    }
    const int has_words = m->kind == DIVERGED || m->kind == SAY || m->kind == NESTED_SAY;
    message *copy = malloc(sizeof *copy);
    char *words = has_words ? strdup(m->as.words) : NULL;
    if (!copy || (has_words && !words)) {
        free(copy), free(words);
        return 0;
    }
    *copy = *m;
    copy->own_words = words, copy->next = NULL;
    if (words) copy->as.words = words;
    if (s->last)
        s->last->next = copy;
    else
        s->first = copy;
    s->last = copy;
    return 1;
}

static void drop_first(speaker *s) {
    message *m = s->first;
    s->first = m->next;
    if (!s->first) s->last = NULL;
    free(m->own_words), free(m);
}

/* Reports now or queues. A message that cannot be queued is reported early. */
static int say(speaker *s, message m) {
    train_relay *r = s->relay;
    int answer = 0;
    pthread_mutex_lock(&r->lock);
    if (r->stopped)
        answer = 1;
    else if (s == &r->speaker[r->current] || !keep(s, &m))
        answer = report(r->to, &m);
    pthread_mutex_unlock(&r->lock);
    return answer;
}

/* --- the hooks of one model ------------------------------------------------------------ */

static void on_stage(void *user, const char *stage, double part) {
    say(user, (message){.kind = STAGE, .as.stage = {stage, part}});
}

static int on_step(void *user, const train_progress *progress) {
    return say(user, (message){.kind = STEP, .as.step = *progress});
}

static void on_epoch(void *user, uint32_t epoch, const train_dense_epoch *entry, double seconds) {
    say(user, (message){.kind = EPOCH, .as.epoch = {epoch, *entry, seconds}});
}

static void on_diverged(void *user, const char *words) {
    say(user, (message){.kind = DIVERGED, .as.words = words});
}

static void on_say(void *user, const char *words) {
    say(user, (message){.kind = SAY, .as.words = words});
}

static int on_nested_step(void *user, uint64_t step, uint64_t steps, uint32_t frozen, double loss,
                          double left) {
    return say(user,
               (message){.kind = NESTED_STEP, .as.nested_step = {step, steps, frozen, loss, left}});
}

static void on_nested_epoch(void *user, uint32_t epoch, const train_nested_epoch *entry) {
    say(user, (message){.kind = NESTED_EPOCH, .as.nested_epoch = {epoch, *entry}});
}

static void on_fewer_rows(void *user, const char *device, size_t rows, size_t wanted) {
    say(user, (message){.kind = FEWER_ROWS, .as.rows = {device, rows, wanted}});
}

static void on_nested_say(void *user, const char *words) {
    say(user, (message){.kind = NESTED_SAY, .as.words = words});
}

static void on_candidate(void *user, codec_window window, uint32_t units, uint64_t model_bytes,
                         const train_rd_curve *curve) {
    say(user, (message){.kind = CANDIDATE, .as.candidate = {window, units, model_bytes, curve}});
}

const train_hooks *train_relay_hooks(train_relay *r, size_t model) {
    speaker *s = &r->speaker[model];
    s->relay = r;
    s->hooks =
        (train_hooks){.user = s,
                      .stage = on_stage,
                      .dense = {s, on_step, on_epoch, on_diverged, on_say},
                      .nested = {s, on_nested_step, on_nested_epoch, on_fewer_rows, on_nested_say},
                      .candidate = on_candidate};
    return &s->hooks;
}

/* --- all models ------------------------------------------------------------------------ */

taper_status train_relay_open(train_relay **out, const train_hooks *to, size_t models) {
    train_relay *r = calloc(1, sizeof *r + models * sizeof r->speaker[0]);
    *out = r;
    if (!r) return TAPER_ERR_NOMEM;
    r->to = to, r->models = models;
    pthread_mutex_init(&r->lock, NULL);
    return TAPER_OK;
}

void train_relay_close(train_relay *r) {
    if (!r) return;
    for (size_t i = 0; i < r->models; i++)
        while (r->speaker[i].first) drop_first(&r->speaker[i]);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

void train_relay_done(train_relay *r, size_t model) {
    pthread_mutex_lock(&r->lock);
    r->speaker[model].done = 1;
    while (r->current + 1 < r->models && r->speaker[r->current].done && !r->stopped)
        for (speaker *s = &r->speaker[++r->current]; s->first; drop_first(s))
            (void)report(r->to, s->first);
    pthread_mutex_unlock(&r->lock);
}

void train_relay_stop(train_relay *r) {
    pthread_mutex_lock(&r->lock);
    r->stopped = 1;
    pthread_mutex_unlock(&r->lock);
}

void train_relay_models(train_relay *r, const char *device, size_t models, size_t wanted) {
    pthread_mutex_lock(&r->lock);
    if (r->to->models && !r->stopped) r->to->models(r->to->user, device, models, wanted);
    pthread_mutex_unlock(&r->lock);
}
