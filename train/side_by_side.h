/* side_by_side.h -- models that learn at once on one device, which one alone does not fill: each on
 * a thread and on streams of its own.
 *
 *     train_side_by_side *side;
 *     TAPER_TRY(train_side_open(&side, job, models, error));
 *     for each model: train_side_join(side, i, &its_job);
 *     status = train_side_run(side, make, context, error);   make calls train_learn
 *     train_side_close(side);
 *
 * Models and what is told of them are the same, byte for byte, as one after the other. The host's
 * threads help one of them at a time (pool.h); what starts processes (LAPACK) is to be done
 * before. */
#ifndef TRAIN_SIDE_BY_SIDE_H
#define TRAIN_SIDE_BY_SIDE_H
#include "train/train_options.h"

typedef struct train_side_by_side train_side_by_side;

/* Do several models that learn on this device gain by doing so at once? */
int train_side_gains(const train_device *device, size_t models);

/* Of `job`, device and hooks are borrowed. TAPER_ERR_NOMEM. */
taper_status train_side_open(train_side_by_side **side, const train_job *job, size_t models,
                             taper_error *error);
void train_side_close(train_side_by_side *side);
/* job becomes that of model 0 .. models - 1: its hooks and its seat. All models before run. */
void train_side_join(train_side_by_side *side, size_t model, train_job *job);

/* What makes one model, on some thread. */
typedef taper_status train_side_fn(void *context, size_t model, taper_error *error);
/* make(context, 0 .. models - 1), at once. The first failure is returned; the others stop at their
 * next look at the losses, with a checkpoint where they have one. */
taper_status train_side_run(train_side_by_side *side, train_side_fn *make, void *context,
                            taper_error *error);

/* What learns on a device, and holds none of its memory when it returns. After TAPER_ERR_NOMEM it
 * may be called again, and does the same. */
typedef taper_status train_learn_fn(void *context, train_device *device, taper_error *error);
/* learn(context, ...) on the job's device: at once if the job is alone. Among others it waits until
 * fewer are learning than the device has room for; where it finds no memory beside them, fewer
 * learn at once from then on, which the hooks are told, and it is called again. */
taper_status train_learn(const train_job *job, train_learn_fn *learn, void *context,
                         taper_error *error);

#endif
