/* random_conditional.h -- conditional models with random weights, for tests and fuzz seeds. */
#ifndef TESTS_RANDOM_CONDITIONAL_H
#define TESTS_RANDOM_CONDITIONAL_H
#include "codec/bitplane/conditional.h"
#include "pictures.h"
#include <stdlib.h>

/* uniform in -most .. most */
static inline int32_t conditional_draw(uint64_t *state, int32_t most) {
    return (int32_t)(picture_random(state) % (uint64_t)(2 * most + 1)) - most;
}

/* A random model for these units. kinds: CODEC_CONDITIONAL_KINDS, or 1 for a head. The first `end`
 * passes are predicted, in `stages` stages of different lengths. extreme: all numbers at the ends
 * of their ranges, for the largest possible sums; else logits of a few units. Malloc'd; free with
 * codec_conditional_free, then free. */
static inline codec_conditional *conditional_random(uint32_t kinds, uint32_t units, uint32_t end,
                                                    uint32_t stages, uint32_t hidden, uint32_t own,
                                                    uint32_t neighbour_units, int extreme,
                                                    uint64_t seed) {
    codec_conditional *c = calloc(1, sizeof *c);
    if (!c) abort();
    *c = (codec_conditional){.kinds = kinds,
                             .hidden = hidden,
                             .own = own,
                             .neighbour_units = neighbour_units,
                             .units = units,
                             .end = end,
                             .stages = stages};
    if (codec_conditional_alloc(c) != TAPER_OK) abort();
    int32_t bias = extreme ? CODEC_CONDITIONAL_MOST_BIAS : 500;
    size_t inputs = 2 * (size_t)codec_conditional_inputs(own, neighbour_units);
    for (uint32_t s = 0; s < stages; s++)
        c->begin[s] = (uint32_t)((uint64_t)s * s * (end - stages) / (stages * stages)) + s;
    for (size_t i = 0; i < inputs * hidden; i++)
        c->first[i] = (int8_t)(extreme ? 127 : conditional_draw(&seed, 127));
    for (uint32_t h = 0; h < hidden; h++) {
        c->first_shift[h] = extreme ? 0 : (uint8_t)(5 + picture_random(&seed) % 4);
        for (uint32_t s = 0; s < stages; s++)
            c->stage[s * hidden + h] = conditional_draw(&seed, bias);
        for (uint32_t s = 0; s < CODEC_CONDITIONAL_SIDES; s++)
            c->place[s * hidden + h] = conditional_draw(&seed, bias);
        for (int l = 0; l < CODEC_CONDITIONAL_MIDDLES; l++) {
            c->middle_shift[l][h] = extreme ? 0 : (uint8_t)(7 + picture_random(&seed) % 3);
            c->middle_bias[l][h] = conditional_draw(&seed, bias);
        }
    }
    for (int l = 0; l < CODEC_CONDITIONAL_MIDDLES; l++)
        for (size_t i = 0; i < (size_t)hidden * hidden; i++)
            c->middle[l][i] = (int8_t)(extreme ? 127 : conditional_draw(&seed, 127));
    for (size_t r = 0; r < (size_t)units * kinds; r++) {
        c->out_shift[r] = extreme ? 0 : (uint8_t)(9 + picture_random(&seed) % 4);
        for (uint32_t h = 0; h < hidden; h++)
            c->out[r * hidden + h] = (int8_t)(extreme ? 127 : conditional_draw(&seed, 127));
    }
    for (size_t i = 0; i < (size_t)kinds * end; i++)
        c->bias[i] = extreme ? bias : conditional_draw(&seed, 60);
    codec_conditional_pack(c);
    return c;
}

#endif
