/* train_adapt.c -- adapts an existing model to new images. Its network, order and stages are
 * unchanged. Contexts are refitted; conditional model, head and restoration are trained further.
 * Or all of it stays, and a new restoration network is trained.
 * See train_parts.h. */
#include "train/train_parts.h"
#include "train/train_stages.h"
#include <stdlib.h>

/* Factor of Adam's peak relative to training from scratch. */
static const float rate_factor = 0.25f;

/* Take a network out of the tables. */
static codec_conditional *take(codec_conditional **from) {
    codec_conditional *c = *from;
    *from = NULL;
    return c;
}

static void drop(codec_conditional *c) {
    if (c) codec_conditional_free(c);
    free(c);
}

typedef struct starts {
    codec_conditional *conditional, *head;
    codec_restoration restoration; /* layers 0: none */
} starts;

/* Refits contexts for the new images, then trains the networks from their present weights. */
static taper_status relearn(taper_model *m, const starts *from, const train_job *j,
                            taper_error *error) {
    train_job with = *j;
    train_options *options = &with.options;
    options->conditional.start = from->conditional;
    options->head.start = from->head;
    options->conditional.rate *= rate_factor, options->head.rate *= rate_factor;
    options->conditional.hidden = from->conditional ? from->conditional->hidden : 0;
    options->head.hidden = from->head ? from->head->hidden : 0;
    TAPER_TRY(train_add_conditional(m, &with, error));
    if (!from->restoration.layers) return TAPER_OK;
    options->restoration.start = &from->restoration;
    options->restoration.rate *= rate_factor;
    return train_add_restoration(m, &with, error);
}

static void drop_restoration(taper_model *m) {
    codec_restoration_free(&m->restoration);
    m->info.family = TAPER_FAMILY_PCA; /* until it has a restoration network again */
}

taper_status train_adapt(taper_model *m, const train_job *j, taper_error *error) {
    codec_code_tables *t = &m->tables;
    if (j->data->channels > m->window.channels)
        return formats_fail(error, TAPER_ERR_ARG,
                            "the images are in colour but the model is for grey ones; begin from a "
                            "colour model");
    if (m->info.family == TAPER_FAMILY_DENSE)
        return formats_fail(error, TAPER_ERR_ARG,
                            "only models of family pca or conv can be adapted");
    if (j->options.restore_anew) {
        drop_restoration(m);
        TAPER_TRY(train_renew_analysis(m, j, error));
        return train_add_restoration(m, j, error);
    }
    starts from = {take(&t->conditional), take(&t->head), m->restoration};
    m->restoration = (codec_restoration){0};
    m->info.family = TAPER_FAMILY_PCA; /* until it has a restoration network again */
    free(t->head_depth), t->head_depth = NULL;
    taper_status status = train_renew_analysis(m, j, error);
    if (status == TAPER_OK) status = relearn(m, &from, j, error);
    drop(from.conditional), drop(from.head);
    codec_restoration_free(&from.restoration);
    return status;
}
