/* conditional_inputs.h -- changes of a conditional model's inputs, and what they add to the sums of
 * its first layer. Changes are found unit by unit, but summed position by position: so a sum is
 * read and written once. */
#ifndef CODEC_CONDITIONAL_INPUTS_H
#define CODEC_CONDITIONAL_INPUTS_H
#include "codec/backend/int8_dot.h"
#include "codec/bitplane/conditional.h"
#include "codec/bitplane/group.h"

typedef struct codec_input_changes {
    uint32_t count, most; /* most: at least the number of positions */
    uint32_t *position;   /* [most] */
    /* [most] the input's unit, and the changes of a and |a|. */
    codec_pair_row *change;
    codec_pair_row *sorted; /* [most] by position, then unit */
    uint32_t *end;          /* [n] one past the last change of a position in `sorted` */
} codec_input_changes;

/* Lay out an empty list for n positions, whose memory need not be zeroed. */
void codec_input_changes_lay_out(codec_input_changes *changes, uint32_t n, formats_layout *at);

/* Append a change. The list must not be full. */
static inline void codec_input_changes_add(codec_input_changes *c, uint32_t position,
                                           codec_pair_row change) {
    c->position[c->count] = position;
    c->change[c->count++] = change;
}

/* Sort the changes, whose units ascend, for codec_input_changes_sum. */
void codec_input_changes_sort(codec_input_changes *changes, uint32_t n);

/* Add to sum[hidden] of position p what its inputs have changed. Several threads may do this for
 * different positions. */
void codec_input_changes_sum(const codec_input_changes *changes, const codec_conditional *model,
                             const codec_group *group, uint32_t p, int32_t *sum);

/* The window on a side of position p; group->n: none. */
uint32_t codec_conditional_neighbour(const codec_group *group, uint32_t p, uint32_t side);

#endif
