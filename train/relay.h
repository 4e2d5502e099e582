/* relay.h -- what models that learn at once say, told one model after the other: of the first that
 * is not done as it is said, of the others when it is their turn. */
#ifndef TRAIN_RELAY_H
#define TRAIN_RELAY_H
#include "train/train_options.h"

typedef struct train_relay train_relay;

/* to is borrowed: its hooks are called from any thread, by one at a time. TAPER_ERR_NOMEM. */
taper_status train_relay_open(train_relay **relay, const train_hooks *to, size_t models);
void train_relay_close(train_relay *relay); /* NULL is fine; no hook is called any more */

/* The hooks of model 0 .. models - 1, for one thread at a time. Stages are named by literals; a
 * curve of `candidate` stays as it is until all models are done. What predicts, refines and
 * restores is trained after the choice among models: its hooks are NULL. */
const train_hooks *train_relay_hooks(train_relay *relay, size_t model);
/* The model says nothing more. */
void train_relay_done(train_relay *relay, size_t model);
/* Nothing more is told, and every step that is reported is to be the last of its run. */
void train_relay_stop(train_relay *relay);
/* How many models learn at once of how many (train_models_fn), told whatever the turn. */
void train_relay_models(train_relay *relay, const char *device, size_t models, size_t wanted);

#endif
