/* relay.h -- serialises the progress messages of models that are trained in parallel. They are
 * reported model by model: those of the first unfinished model immediately, those of later models
 * when all before them are done. */
#ifndef TRAIN_RELAY_H
#define TRAIN_RELAY_H
#include "train/train_options.h"

typedef struct train_relay train_relay;

/* `to` is borrowed; its hooks are called from any thread, one at a time. TAPER_ERR_NOMEM. */
taper_status train_relay_open(train_relay **relay, const train_hooks *to, size_t models);
void train_relay_close(train_relay *relay); /* NULL is fine; calls no more hooks */

/* The hooks of model 0 .. models - 1, for one thread at a time. Names of stages must be string
 * literals. The curve given to `candidate` must stay valid until all models are done. Hooks of
 * conditional model, head and restoration are NULL, because these are trained after the choice
 * among models. */
const train_hooks *train_relay_hooks(train_relay *relay, size_t model);
/* The model sends no more messages. */
void train_relay_done(train_relay *relay, size_t model);
/* Discards further messages, and makes every later step hook ask its run to stop. */
void train_relay_stop(train_relay *relay);
/* Reports immediately how many models are trained in parallel (train_models_fn). */
void train_relay_models(train_relay *relay, const char *device, size_t models, size_t wanted);

#endif
