/* rbm_unroll.c -- see rbm_unroll.h. */
#include "train/rbm/rbm_unroll.h"
#include "formats/status.h"
#include <string.h>

static int is_of_widths(const codec_layer *y, uint32_t inputs, uint32_t outputs) {
    return y->inputs == inputs && y->outputs == outputs;
}

static taper_status check(const train_rbm_stack *stack, const codec_network *net,
                          taper_error *error) {
    const uint32_t n = stack->layers;
    int fits = n && codec_network_is_direct(net) && net->encoder.depth == n &&
               (!net->decoder.depth || net->decoder.depth == n);
    for (uint32_t i = 0; i < n && fits; i++) {
        const train_rbm *m = &stack->rbm[i];
        fits = is_of_widths(&net->encoder.layer[i], m->visible, m->hidden) &&
               (!net->decoder.depth ||
                is_of_widths(&net->decoder.layer[n - 1 - i], m->hidden, m->visible));
    }
    if (fits) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_ARG,
                        "a stack of %u layers needs a network without a linear path "
                        "and with as many layers of the same widths",
                        n);
}

/* The last layer of the decoder: gain times W^T and b, plus the value for logit 0. */
static void unroll_down(const train_rbm *m, float gain, float centre, codec_layer *to) {
    codec_transpose(m->weight, m->hidden, m->visible, gain, to->weight);
    for (uint32_t j = 0; j < m->visible; j++) to->bias[j] = gain * m->visible_bias[j] + centre;
}

taper_status train_rbm_unroll(const train_rbm_stack *stack, codec_network *net,
                              taper_error *error) {
    TAPER_TRY(check(stack, net, error));
    const uint32_t n = stack->layers;
    const int gaussian = stack->rbm[0].visible_states == TRAIN_GAUSSIAN;
    const float gain = gaussian ? 255.0f : 255.0f / 4.0f, centre = gaussian ? 0.0f : 255.0f / 2.0f;
    memset(net->mean, 0, net->inputs * sizeof *net->mean);
    net->hidden = CODEC_LOGISTIC;
    net->code = train_mean_of(stack->rbm[n - 1].hidden_states);
    for (uint32_t i = 0; i < n; i++) {
        const train_rbm *m = &stack->rbm[i];
        const size_t weights = (size_t)m->hidden * m->visible;
        codec_layer *up = &net->encoder.layer[i];
        for (size_t k = 0; k < weights; k++)
            up->weight[k] = i ? m->weight[k] : m->weight[k] / 255.0f;
        memcpy(up->bias, m->hidden_bias, m->hidden * sizeof *up->bias);
        if (net->decoder.depth)
            unroll_down(m, i ? 1.0f : gain, i ? 0.0f : centre, &net->decoder.layer[n - 1 - i]);
    }
    return net->tied_gain > 0.0f ? codec_network_tie(net, 255.0f * gain) : TAPER_OK;
}
