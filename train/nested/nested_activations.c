/* nested_activations.c -- memory for a block of rows; see nested_activations.h. */
#include "train/nested/nested_activations.h"
#include "train/sampling/numbers.h"
#include <stdlib.h>

static int take_arrays(train_nested_activations *act, const train_nested_shape *s) {
    enum { BLOCK = TRAIN_NESTED_BLOCK };
    size_t widest = s->inputs;
    int ok = train_zeros(&act->centred, BLOCK, s->inputs) &&
             train_zeros(&act->input, 2 * BLOCK, s->inputs) &&
             train_zeros(&act->back_hidden[0], BLOCK, s->inputs);
    for (uint32_t l = 0; l < s->layers; l++) {
        size_t width = s->width[l];
        widest = widest > width ? widest : width;
        if (l + 1 == s->layers) break;
        ok = ok && train_zeros(&act->hidden[l], 2 * BLOCK, width) &&
             train_zeros(&act->back_hidden[l + 1], BLOCK, width);
    }
    size_t units = s->width[s->layers - 1];
    ok = ok && train_zeros(&act->pre, 2 * BLOCK, units) && train_zeros(&act->code, BLOCK, units) &&
         train_zeros(&act->packed, 2 * BLOCK * units + widest, 1) &&
         train_zeros(&act->wide[0], 2 * BLOCK, widest) &&
         train_zeros(&act->wide[1], 2 * BLOCK, widest);
    act->row_error = calloc(BLOCK, sizeof *act->row_error);
    act->row_noise = calloc(BLOCK, sizeof *act->row_noise);
    return ok && act->row_error && act->row_noise;
}

void train_nested_activations_free(train_nested_activations *act) {
    if (!act) return;
    for (int l = 0; l < TRAIN_NESTED_MAX_LAYERS; l++) {
        free(act->hidden[l]), free(act->back_hidden[l]);
    }
    free(act->centred), free(act->input), free(act->pre), free(act->code), free(act->packed);
    free(act->wide[0]), free(act->wide[1]), free(act->row_error), free(act->row_noise);
    free(act);
}

train_nested_activations *train_nested_activations_create(const train_nested_shape *shape) {
    train_nested_activations *act = calloc(1, sizeof *act);
    if (!act || take_arrays(act, shape)) return act;
    train_nested_activations_free(act);
    return NULL;
}
