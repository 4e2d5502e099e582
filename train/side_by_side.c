/* side_by_side.c -- see side_by_side.h. */
#include "train/side_by_side.h"
#include "formats/bytes.h"
#include "train/relay.h"
#include <pthread.h>
#include <stdlib.h>

/* The state of one model. */
struct train_slot {
    train_side_by_side *side;
    size_t model;
    train_device device; /* a copy of the device, marked as shared */
    int waits;           /* 1: waiting to train, or not there yet */
    pthread_t thread;
    int has_thread;
};

struct train_side_by_side {
    train_device *device;
    train_relay *relay;
    train_side_fn *make;
    void *context;
    size_t models, wanted; /* wanted: in parallel */
    pthread_mutex_t lock;  /* of the members below, and of slots */
    pthread_cond_t changed;
    size_t most, learning; /* limit of parallel models; present number */
    taper_error failure;   /* the first; its status is TAPER_OK before */
    struct train_slot slot[];
};

int train_side_gains(const train_device *device, size_t models) {
    return device->models_at_once > 1 && models > 1;
}

taper_status train_side_open(train_side_by_side **out, const train_job *job, size_t models,
                             taper_error *error) {
    train_side_by_side *side = calloc(1, sizeof *side + models * sizeof side->slot[0]);
    *out = NULL;
    if (!side || train_relay_open(&side->relay, job->hooks, models) != TAPER_OK) {
        free(side);
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %zu models", models);
    }
    side->device = job->device;
    side->models = models;
    side->wanted = formats_smaller(job->device->models_at_once, models);
    side->most = side->wanted;
    pthread_mutex_init(&side->lock, NULL);
    pthread_cond_init(&side->changed, NULL);
    *out = side;
    return TAPER_OK;
}

void train_side_close(train_side_by_side *side) {
    if (!side) return;
    pthread_cond_destroy(&side->changed);
    pthread_mutex_destroy(&side->lock);
    train_relay_close(side->relay);
    free(side);
}

void train_side_join(train_side_by_side *side, size_t model, train_job *job) {
    side->slot[model] =
        (struct train_slot){.side = side, .model = model, .device = *side->device, .waits = 1};
    job->hooks = train_relay_hooks(side->relay, model);
    job->slot = &side->slot[model];
}

/* --- learning -------------------------------------------------------------------------- */

static int has_failed(const train_side_by_side *side) { return side->failure.status != TAPER_OK; }

/* Models start in order, so that the first messages are those of the first model. */
static int is_next(const struct train_slot *s) {
    for (size_t i = 0; i < s->model; i++)
        if (s->side->slot[i].waits) return 0;
    return s->side->learning < s->side->most;
}

/* Waits until the model may train. Returns another status if another model has failed. */
static taper_status enter(struct train_slot *s) {
    train_side_by_side *side = s->side;
    pthread_mutex_lock(&side->lock);
    s->waits = 1;
    while (!has_failed(side) && !is_next(s)) pthread_cond_wait(&side->changed, &side->lock);
    s->waits = 0;
    taper_status status = side->failure.status;
    side->learning += status == TAPER_OK;
    s->device.shared = side->most > 1;
    pthread_cond_broadcast(&side->changed);
    pthread_mutex_unlock(&side->lock);
    return status;
}

/* The model has stopped training. *again: call learn again, with fewer models in parallel. */
static taper_status leave(struct train_slot *s, taper_status status, int *again) {
    train_side_by_side *side = s->side;
    size_t fewer = 0;
    pthread_mutex_lock(&side->lock);
    side->learning--;
    *again = status == TAPER_ERR_NOMEM && s->device.shared && !has_failed(side);
    if (*again && side->most > 1)
        fewer = side->most = side->learning ? formats_smaller(side->learning, side->most - 1) : 1;
    if (has_failed(side)) status = side->failure.status;
    pthread_cond_broadcast(&side->changed);
    pthread_mutex_unlock(&side->lock);
    if (fewer) train_relay_models(side->relay, side->device->name, fewer, side->wanted);
    return status;
}

taper_status train_learn(const train_job *job, train_learn_fn *learn, void *context,
                         taper_error *error) {
    if (!job->slot) return learn(context, job->device, error);
    for (;;) {
        int again;
        TAPER_TRY(enter(job->slot));
        taper_status status = learn(context, &job->slot->device, error);
        status = leave(job->slot, status, &again);
        if (!again) return status;
        *error = (taper_error){0};
    }
}

/* --- all models ------------------------------------------------------------------------ */

/* A model is complete, or has failed. */
static void end(struct train_slot *s, taper_status status, taper_error error) {
    train_side_by_side *side = s->side;
    pthread_mutex_lock(&side->lock);
    s->waits = 0;
    if (status != TAPER_OK && !has_failed(side))
        side->failure = error, side->failure.status = status;
    pthread_cond_broadcast(&side->changed);
    pthread_mutex_unlock(&side->lock);
    if (status == TAPER_OK)
        train_relay_done(side->relay, s->model);
    else
        train_relay_stop(side->relay);
}

static void *run(void *argument) {
    struct train_slot *s = argument;
    taper_error error = {0};
    taper_status status = s->side->make(s->side->context, s->model, &error);
    end(s, status, error);
    return NULL;
}

taper_status train_side_run(train_side_by_side *side, train_side_fn *make, void *context,
                            taper_error *error) {
    side->make = make, side->context = context;
    train_relay_models(side->relay, side->device->name, side->wanted, side->wanted);
    for (size_t i = 0; i < side->models; i++) {
        struct train_slot *s = &side->slot[i];
        const int last = i + 1 == side->models;
        s->has_thread = !last && pthread_create(&s->thread, NULL, run, s) == 0;
        if (!s->has_thread) run(s); /* on this one, while the others run */
    }
    for (size_t i = 0; i < side->models; i++)
        if (side->slot[i].has_thread) pthread_join(side->slot[i].thread, NULL);
    if (has_failed(side) && error) *error = side->failure;
    return side->failure.status;
}
