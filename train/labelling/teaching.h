/* teaching.h -- how a teacher learns: steps of a labelled batch and a batch of any rows, and what
 * becomes of it, a plain network. Half of a labelled batch are rows whose label is a guess
 * (train_pixels.guessed), where there are some and others, too: guesses are many, mostly of rows
 * that are easy, and by themselves they would leave hardly a place to labels that are known. */
#ifndef TRAIN_TEACHING_H
#define TRAIN_TEACHING_H
#include "codec/transform/network.h"
#include "train/device/device.h"
#include "train/sampling/dataset.h"

typedef struct train_teaching_options {
    uint32_t epochs; /* so often are all rows looked at; default 0: 15 times, or so often that there
                        are 1,000 steps */
    float rate;      /* default 2e-3: Adam's peak, which falls by a cosine */
    float reach;     /* default 0.035: how far rows are moved, of pixels of 0..1, by the root of
                        the number of inputs (teacher.h); 0: it learns from labels alone, and an
                        eighth of the time */
    uint64_t seed;   /* default 1 */
} train_teaching_options;

train_teaching_options train_teaching_defaults(void);

/* All may be NULL. */
typedef struct train_teaching_callbacks {
    void *user;
    /* As train_embedding_callbacks.step; nonzero stops. */
    int (*step)(void *user, uint64_t step, uint64_t steps, double loss, double seconds_left);
    void (*say)(void *user, const char *words);
} train_teaching_callbacks;

/* Train net, an encoder with hidden layers whose units are the classes, in place, from its start
 * (train/embedding/drawn_start.h): from rows whose label is below net->units, and, without their
 * labels, from all rows. It then names a row's class by the largest of its code. *stopped: by the
 * callback; net is then its start. TAPER_ERR_ARG with the remedy: options out of range, no labels,
 * rows of another size, training diverged; TAPER_ERR_NOMEM, TAPER_ERR_DEVICE. */
taper_status train_teaching(const train_teaching_options *options, const train_pixels *data,
                            train_device *device, codec_network *net,
                            const train_teaching_callbacks *callbacks, int *stopped,
                            taper_error *error);

#endif
