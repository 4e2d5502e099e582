/* rbm.c -- see rbm.h. */
#include "train/rbm/rbm.h"
#include <stdlib.h>

taper_status train_rbm_alloc(train_rbm *rbm, uint32_t visible, uint32_t hidden,
                             train_states visible_states, train_states hidden_states) {
    *rbm = (train_rbm){.visible = visible,
                       .hidden = hidden,
                       .visible_states = visible_states,
                       .hidden_states = hidden_states};
    rbm->weight = calloc(train_rbm_numbers(rbm), sizeof *rbm->weight);
    if (!rbm->weight) {
        *rbm = (train_rbm){0};
        return TAPER_ERR_NOMEM;
    }
    rbm->hidden_bias = rbm->weight + (size_t)hidden * visible;
    rbm->visible_bias = rbm->hidden_bias + hidden;
    return TAPER_OK;
}

void train_rbm_free(train_rbm *rbm) {
    free(rbm->weight);
    *rbm = (train_rbm){0};
}

void train_rbm_stack_free(train_rbm_stack *stack) {
    for (uint32_t i = 0; i < stack->layers; i++) train_rbm_free(&stack->rbm[i]);
    *stack = (train_rbm_stack){0};
}
