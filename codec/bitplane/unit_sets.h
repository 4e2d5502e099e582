/* unit_sets.h -- the units of a model in a few sets, by their first passes. A model in stages
 * stores set after set. The first sets suffice for the first passes (SPEC.md, 6.7).
 *
 * Set s ends before pass end[s]. It has the units whose first pass is before that, without those of
 * the sets before it. The last set has all others, also those that have no pass. */
#ifndef CODEC_UNIT_SETS_H
#define CODEC_UNIT_SETS_H
#include "codec/bitplane/code_tables.h"
#include "codec/bitplane/conditional.h"

enum {
    CODEC_MOST_UNIT_SETS = 8,
    CODEC_MOST_COARSE_BITS = 8 /* that rows of a set may lack at first */
};

typedef struct codec_unit_sets {
    uint32_t n;                         /* 1 .. CODEC_MOST_UNIT_SETS */
    uint32_t end[CODEC_MOST_UNIT_SETS]; /* passes; the last one: all */
    /* Last bits that the rows of a set lack. The next set without such brings them, for all sets
     * before it that still lack theirs; the last one is without. */
    uint8_t coarse[CODEC_MOST_UNIT_SETS];
    uint32_t first[CODEC_MOST_UNIT_SETS + 1];
    /* [units] those of set s are first[s] .. first[s + 1] - 1 of the list, ascending. */
    uint32_t *unit;
} codec_unit_sets;

/* List the units of n sets of tables whose order is made. end: [n - 1], of all but the last.
 * TAPER_ERR_CORRUPT: a set has no unit, as where ends do not rise; or it ends after the last pass.
 * TAPER_ERR_NOMEM. On failure *sets is zeroed. */
taper_status codec_unit_sets_make(codec_unit_sets *sets, const codec_code_tables *tables,
                                  const uint32_t *end, uint32_t n);
/* The sets that writers make: up to four, of the first layers that touch 1/20, 1/8 and 1/3 of the
 * units, and of all. Rows of the sets before the last two are coarse at first: what the few passes
 * of these draw is coarse, too. Models of few units have one set. */
taper_status codec_unit_sets_choose(codec_unit_sets *sets, const codec_code_tables *tables);
/* One set, of all units and passes. */
taper_status codec_unit_sets_whole(codec_unit_sets *sets, const codec_code_tables *tables);
/* Leaves it zeroed. */
void codec_unit_sets_free(codec_unit_sets *sets);

/* The first of the sets whose bits come with set s; s: none do. */
static inline uint32_t codec_unit_sets_coarse_from(const codec_unit_sets *sets, uint32_t s) {
    uint32_t from = s;
    while (!sets->coarse[s] && from && sets->coarse[from - 1]) from--;
    return from;
}

static inline codec_unit_set codec_unit_sets_get(const codec_unit_sets *sets, uint32_t s) {
    return (codec_unit_set){sets->unit + sets->first[s], sets->first[s + 1] - sets->first[s],
                            s ? sets->end[s - 1] : 0, sets->end[s]};
}

#endif
