/* trial_folds.c -- see trial_folds.h. */
#include "train/supervised/trial_folds.h"
#include <stdlib.h>

taper_status train_trial_parts(const uint32_t *order, size_t n, const uint32_t *label,
                               size_t classes, uint8_t *part) {
    uint8_t *next = malloc(classes + 1);
    if (!next) return TAPER_ERR_NOMEM;
    for (size_t c = 0; c < classes; c++) next[c] = (uint8_t)(c % TRAIN_TRIAL_PARTS);
    for (size_t i = 0; i < n; i++) {
        uint8_t *at = &next[label[order[i]]];
        part[i] = *at;
        *at = (uint8_t)((*at + 1) % TRAIN_TRIAL_PARTS);
    }
    free(next);
    return TAPER_OK;
}

void train_trial_fold(const uint32_t *order, const uint8_t *part, size_t n, uint32_t fold,
                      train_embedding_rows *rows) {
    size_t held = 0, learned = 0;
    for (size_t i = 0; i < n; i++)
        if (part[i] != fold || held++ >= TRAIN_TRIAL_MOST_HELD_OUT) rows->all[learned++] = order[i];
    rows->n_training = rows->n = learned;
    held = 0;
    for (size_t i = 0; i < n && held < TRAIN_TRIAL_MOST_HELD_OUT; i++)
        if (part[i] == fold) rows->all[rows->n++] = order[i], held++;
}
