/* side_by_side.h -- trains several models in parallel on one device that one model does not use
 * fully. Each has its own thread and streams.
 *
 *     train_side_by_side *side;
 *     TAPER_TRY(train_side_open(&side, job, models, error));
 *     for each model: train_side_join(side, i, &its_job);
 *     status = train_side_run(side, make, context, error);   make calls train_learn
 *     train_side_close(side);
 *
 * Models and messages are the same, byte for byte, as when trained one after the other. The host's
 * thread pool serves one model at a time (pool.h). Start child processes (LAPACK) before. */
#ifndef TRAIN_SIDE_BY_SIDE_H
#define TRAIN_SIDE_BY_SIDE_H
#include "train/train_options.h"

typedef struct train_side_by_side train_side_by_side;

/* Returns 1 if training several models in parallel is faster on this device. */
int train_side_gains(const train_device *device, size_t models);

/* device and hooks of `job` are borrowed. TAPER_ERR_NOMEM. */
taper_status train_side_open(train_side_by_side **side, const train_job *job, size_t models,
                             taper_error *error);
void train_side_close(train_side_by_side *side);
/* job becomes that of model 0 .. models - 1, with its own hooks. Join all models before running. */
void train_side_join(train_side_by_side *side, size_t model, train_job *job);

/* Makes one model, on some thread. */
typedef taper_status train_side_fn(void *context, size_t model, taper_error *error);
/* Calls make(context, 0 .. models - 1) in parallel. Returns the first failure; the other models
 * then stop at their next download of losses, with a checkpoint if they have one. */
taper_status train_side_run(train_side_by_side *side, train_side_fn *make, void *context,
                            taper_error *error);

/* Trains on a device and holds none of its memory on return. After TAPER_ERR_NOMEM it may be called
 * again and must do the same. */
typedef taper_status train_learn_fn(void *context, train_device *device, taper_error *error);
/* Calls learn(context, ...) on the job's device, immediately if the job is alone. Otherwise it
 * waits until fewer models are being trained than fit on the device. If memory is short
 * nevertheless, the number of parallel models is reduced, the hooks are informed, and learn is
 * called again. */
taper_status train_learn(const train_job *job, train_learn_fn *learn, void *context,
                         taper_error *error);

#endif
