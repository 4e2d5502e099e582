/* rbm_options.c -- see rbm_options.h. */
#include "train/rbm/rbm_options.h"

enum { MOST_UNITS = 1 << 20 };

train_rbm_options train_rbm_defaults(void) {
    return (train_rbm_options){.epochs = 50,
                               .batch = 100,
                               .rate = 0.1f,
                               .gaussian_rate = 0.001f,
                               .decay = 2e-4f,
                               .first_epochs = 5,
                               .first_momentum = 0.5f,
                               .momentum = 0.9f,
                               .deviation = 0.1f,
                               .corruption = 0.25f,
                               .seed = 1,
                               .most_kept = (size_t)1 << 30};
}

static int is_momentum(float m) { return m >= 0.0f && m < 1.0f; }

static taper_status check_options(const train_rbm_options *o, taper_error *error) {
    if (!o->epochs || o->epochs > 1u << 20 || !o->batch || o->batch > 1u << 20)
        return formats_fail(error, TAPER_ERR_ARG,
                            "epochs and batch must lie between 1 and 1,048,576");
    if (!(o->rate > 0.0f && o->rate <= 10.0f) ||
        !(o->gaussian_rate > 0.0f && o->gaussian_rate <= 10.0f))
        return formats_fail(error, TAPER_ERR_ARG, "rates must lie in (0, 10]");
    if (!is_momentum(o->first_momentum) || !is_momentum(o->momentum) ||
        !(o->corruption >= 0.0f && o->corruption < 1.0f))
        return formats_fail(error, TAPER_ERR_ARG, "momentum and corruption must lie in [0, 1)");
    if (!(o->decay >= 0.0f && o->decay <= 1.0f) || !(o->deviation >= 0.0f && o->deviation <= 10.0f))
        return formats_fail(error, TAPER_ERR_ARG,
                            "weight decay must lie in [0, 1], the deviation of initial weights in "
                            "[0, 10]");
    return TAPER_OK;
}

/* Checks layer i against the stack's machine, if there is one. */
static taper_status check_layer(const train_rbm_stack *stack, const train_rbm_options *o,
                                const uint32_t *widths, uint32_t layers, uint32_t i,
                                taper_error *error) {
    const train_states states = i + 1 < layers ? TRAIN_BERNOULLI : o->top;
    if (!widths[i] || widths[i] > MOST_UNITS)
        return formats_fail(error, TAPER_ERR_ARG,
                            "layer %u must have between 1 and 1,048,576 units", i + 1);
    if (i >= stack->layers) return TAPER_OK;
    if (stack->rbm[i].hidden != widths[i])
        return formats_fail(error, TAPER_ERR_ARG,
                            "layer %u of the stack has %u units, not %u: ask for these, or start "
                            "an empty stack",
                            i + 1, stack->rbm[i].hidden, widths[i]);
    if (stack->rbm[i].hidden_states != states)
        return formats_fail(error, TAPER_ERR_ARG,
                            "layer %u of the stack has %s units, but %s ones are requested: only "
                            "the top may be Gaussian",
                            i + 1, states == TRAIN_GAUSSIAN ? "Bernoulli" : "Gaussian",
                            states == TRAIN_GAUSSIAN ? "Gaussian" : "Bernoulli");
    return TAPER_OK;
}

taper_status train_rbm_check(const train_rbm_stack *stack, const train_rbm_options *o,
                             const train_pixels *data, const uint32_t *widths, uint32_t layers,
                             taper_error *error) {
    TAPER_TRY(check_options(o, error));
    if (!data->n || data->n > UINT32_MAX || !data->inputs || data->inputs > MOST_UNITS)
        return formats_fail(error, TAPER_ERR_ARG,
                            "pretraining needs images of 1 to 1,048,576 values, there are %zu of "
                            "%u",
                            data->n, data->inputs);
    if (!layers || layers > CODEC_MAX_LAYERS || layers < stack->layers)
        return formats_fail(error, TAPER_ERR_ARG,
                            "a stack has 1 to %d layers: this one has %u, and %u are requested",
                            CODEC_MAX_LAYERS, stack->layers, layers);
    if (stack->layers &&
        (stack->rbm[0].visible != data->inputs || stack->rbm[0].visible_states != o->visible))
        return formats_fail(error, TAPER_ERR_ARG,
                            "the stack has learned from images of %u values, with other visible "
                            "units or of another size than these of %u",
                            stack->rbm[0].visible, data->inputs);
    for (uint32_t i = 0; i < layers; i++)
        TAPER_TRY(check_layer(stack, o, widths, layers, i, error));
    return TAPER_OK;
}
