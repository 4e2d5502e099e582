/* embedding_recipes.h -- what the search for an embedding's options tries, in this order
 * (embedding_search.h). */
#ifndef TRAIN_EMBEDDING_RECIPES_H
#define TRAIN_EMBEDDING_RECIPES_H
#include "train/supervised/embedding_choice.h"

typedef struct train_embedding_recipe {
    const char *words; /* "a linear map", "motion twice as far" */
    /* Changes the best options so far. width[CODEC_MAX_LAYERS]: of the hidden layers. It may have
     * no effect, as mirroring has none on images that do not move. */
    void (*apply)(train_embedding_choice *choice, uint32_t *width);
    int is_complete; /* 1: all options are set, whatever the best so far */
    /* Above 1: it has so many times the time of a trial, as it gains with time for longer. */
    int shares;
} train_embedding_recipe;

/* Recipe i, from 0; NULL: there are fewer. */
const train_embedding_recipe *train_embedding_recipe_of(uint32_t i);
uint32_t train_embedding_recipes(void);

/* The options to which the first recipe applies, for rows of so many values: of `base` those that
 * the search uses (embedding_search.h), otherwise defaults. */
train_embedding_choice train_embedding_first_choice(const train_embedding_choice *base,
                                                    uint32_t inputs);

/* Nonzero: all that recipes change is equal. Widths are of the hidden layers. */
int train_embedding_same_recipe(const train_embedding_choice *a, const uint32_t *a_width,
                                const train_embedding_choice *b, const uint32_t *b_width);

/* Two hidden layers, of gradients: the deep recipe of least time. */
void train_embedding_deep_of_gradients(train_embedding_choice *choice, uint32_t *width);

#endif
