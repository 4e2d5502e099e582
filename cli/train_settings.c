/* train_settings.c -- see train_settings.h. */
#include "cli/train_settings.h"
#include "cli/common/signals.h"
#include <string.h>

static train_saving saving_of(const cli_train_settings *s) {
    return (train_saving){s->checkpoint, s->resume, cli_signals_watch()};
}

/* Where units see each other a unit that goes wrong spoils all after it: at 0.006 the error of
 * 1,024 units jumped in mid-run. A tied decoder pulls on what its units see, too: at 0.003 three
 * seeds ended 363 +- 29. */
static const float rate_with_feedback = 0.003f, rate_tied_with_feedback = 0.0015f;

static train_nested_choice nested_of(const cli_train_settings *s) {
    static const codec_activation activation[] = {CODEC_RELU, CODEC_LOGISTIC, CODEC_LINEAR};
    train_nested_choice c = train_nested_choice_defaults();
    train_nested_options *o = &c.training;
    if (s->truncation) c.truncation = strcmp(s->truncation, "none") ? s->truncation : NULL;
    c.tied = !s->untied;
    c.independent = s->independent;
    c.hidden_activation = activation[s->activation];
    c.unit_activation = activation[s->unit];
    c.centre = (float)s->centre;
    o->sweep.on = s->sweep != 0;
    o->orthonormal = s->orthonormal != 0 && s->code == TRAIN_CODE_UNITS;
    o->corruption = (float)s->corrupt;
    o->dropout = (float)s->dropout;
    o->invariance = (float)s->invariance;
    o->beta = s->beta;
    o->straight_through = s->gradient == 0;
    o->optimiser = s->optimiser ? TRAIN_CG : TRAIN_ADAM;
    o->epochs = (uint32_t)s->epochs;
    o->batch = (uint32_t)s->batch;
    if (s->code == TRAIN_CODE_BINARY && !c.independent)
        o->rate = c.tied ? rate_tied_with_feedback : rate_with_feedback;
    if (s->rate > 0) o->rate = (float)s->rate;
    o->seed = (uint64_t)s->seed;
    o->saving = saving_of(s);
    return c;
}

train_options cli_train_options(const cli_train_settings *s, uint32_t hidden[CODEC_MAX_LAYERS]) {
    train_options o = {.family = (taper_family)s->family,
                       .basis = (train_basis)s->basis,
                       .loss = (train_metric)s->loss,
                       .units = (uint32_t)s->units,
                       .linear_mse = s->weight_error,
                       .set_images = (uint64_t)s->set_images,
                       .code = (train_code)s->code,
                       .dense = train_dense_defaults(),
                       .nested = nested_of(s),
                       .conditional = train_conditional_defaults(),
                       .restoration = train_restoration_defaults()};
    o.conditional.hidden = s->fast ? 0 : (uint32_t)s->conditional;
    o.conditional.epochs = (uint32_t)s->predict_epochs;
    o.conditional.seed = (uint64_t)s->seed;
    o.conditional.saving = o.restoration.saving = o.dense.saving = saving_of(s);
    o.restoration.hidden = (uint32_t)s->restore;
    o.restoration.steps = (uint32_t)s->restore_steps;
    o.restoration.seed = (uint64_t)s->seed;
    if (s->quality.count) o.conditional.psnr_end = s->quality.item[s->quality.count - 1];
    o.head = o.conditional;
    o.head.hidden = s->fast ? 0 : (uint32_t)s->head;
    o.dense.epochs = (uint32_t)s->epochs;
    o.dense.batch = (uint32_t)s->batch;
    if (s->rate > 0) o.dense.rate = (float)s->rate;
    o.dense.lambda = (float)s->lambda;
    o.dense.rho = (float)s->rho;
    o.dense.truncated_fraction = (float)s->truncated;
    o.dense.jitter = (float)s->jitter;
    if (s->quality.count) {
        o.dense.psnr_low = s->quality.item[0];
        o.dense.psnr_high = s->quality.item[s->quality.count - 1];
    }
    if (s->truncation && strcmp(s->truncation, "none")) o.dense.truncation = s->truncation;
    o.dense.patience = (uint32_t)s->patience;
    o.dense.seed = (uint64_t)s->seed;
    for (size_t i = 0; i < s->hidden.count && i < CODEC_MAX_LAYERS; i++)
        hidden[i] = (uint32_t)s->hidden.item[i];
    o.n_hidden = (uint32_t)s->hidden.count;
    if (s->hidden.count) o.hidden = hidden;
    return o;
}

int cli_train_embedding(const cli_train_settings *s, uint32_t hidden[CODEC_MAX_LAYERS],
                        train_embedding_choice *c) {
    *c = (train_embedding_choice){.units = (uint32_t)s->units,
                                  .hidden = hidden,
                                  .n_hidden = (uint32_t)s->hidden.count,
                                  .training = train_embedding_defaults()};
    train_embedding_options *o = &c->training;
    for (size_t i = 0; i < s->hidden.count && i < CODEC_MAX_LAYERS; i++)
        hidden[i] = (uint32_t)s->hidden.item[i];
    o->epochs = (uint32_t)s->epochs;
    if (cli_options_given("batch")) o->batch = (uint32_t)s->batch;
    if (s->rate > 0) o->rate = (float)s->rate;
    o->optimiser = s->optimiser ? TRAIN_CG : TRAIN_ADAM;
    o->threads = cli_threads(&s->common);
    o->seed = (uint64_t)s->seed;
    o->saving = saving_of(s);
    return cli_embedding_choose(&s->embedding, c);
}
