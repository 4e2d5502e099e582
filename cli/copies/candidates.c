/* candidates.c -- see candidates.h. The images are cut into blocks. An item of work compares one
 * block with itself and with all later ones, and keeps its pairs; the lists are then put together
 * in the order of the blocks. Most pairs are ruled out by sums of floats, of LANES images at a
 * time; the others are compared by the exact products. */
#include "cli/copies/candidates.h"
#include "cli/common/parallel.h"
#include "cli/common/progress.h"
#include "codec/backend/simd.h"
#include "formats/bytes.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* EACH_PAIR: what a pair takes at most, in candidates: in the lists of blocks, which grow by
 * doubling, and the joined one; or in that and in what groups.c makes of it. LANES: above 16, so
 * that compilers keep the loop over them, and make vectors of it. */
enum { LANES = 32, BLOCK = 2 * LANES, EACH_PAIR = 8 };

/* Products of two descriptors, as shares of that of equal ones. At LEAST a pair is a candidate. The
 * parts in which a strip is missing are compared only from MAYBE on, which saves nearly all of that
 * work. */
static const int32_t LEAST = (int32_t)(0.85 * CLI_DESCRIPTOR_UNIT * CLI_DESCRIPTOR_UNIT);
static const int32_t MAYBE = (int32_t)(0.40 * CLI_DESCRIPTOR_UNIT * CLI_DESCRIPTOR_UNIT);
/* Below it, the sum of 32 rounded floats cannot be that of a product of at least MAYBE. */
static const float RULED_OUT = (float)(0.39 * CLI_DESCRIPTOR_UNIT * CLI_DESCRIPTOR_UNIT);

/* The central parts of LANES images side by side; zeros in place of missing ones. */
typedef float lanes[CLI_CENTRAL][CLI_COEFFICIENTS][LANES];

/* An image in one of its turns. */
typedef struct turned {
    cli_descriptor of;
    float central[CLI_CENTRAL][CLI_COEFFICIENTS];
} turned;

typedef struct search {
    const cli_descriptor *of;
    const lanes *all; /* [n / LANES, rounded up] */
    size_t n;
    unsigned turns;
    cli_candidates *found; /* [blocks] */
    size_t most;           /* pairs that fit the memory */
    atomic_size_t pairs;
    atomic_int status; /* taper_status of the first failure */
    cli_progress progress;
} search;

static int32_t product(const int16_t *a, const int16_t *b) {
    int32_t sum = 0;
    for (size_t i = 0; i < CLI_COEFFICIENTS; i++) sum += a[i] * b[i];
    return sum;
}

/* What agreed best so far. */
typedef struct agreement {
    int32_t product;
    uint8_t from, to;
} agreement;

static void try_parts(const int16_t *a, unsigned from, const int16_t *b, unsigned to,
                      agreement *best) {
    const int32_t now = product(a, b);
    if (now <= best->product) return;
    best->product = now, best->from = (uint8_t)from, best->to = (uint8_t)to;
}

static void try_strips(const cli_descriptor *a, const cli_descriptor *b, agreement *best) {
    for (unsigned p = CLI_CENTRAL; p < CLI_PARTS; p++) {
        try_parts(a->part[CLI_WHOLE], CLI_WHOLE, b->part[p], p, best);
        try_parts(a->part[p], p, b->part[CLI_WHOLE], CLI_WHOLE, best);
    }
}

bool cli_parts_agree(const cli_descriptor *a, const cli_descriptor *b, uint8_t *part_a,
                     uint8_t *part_b) {
    agreement best = {.product = INT32_MIN};
    for (unsigned p = 0; p < CLI_CENTRAL; p++)
        for (unsigned q = 0; q < CLI_CENTRAL; q++)
            if ((p == CLI_CENTRE) == (q == CLI_CENTRE))
                try_parts(a->part[p], p, b->part[q], q, &best);
    try_strips(a, b, &best);
    *part_a = best.from, *part_b = best.to;
    return best.product >= LEAST;
}

static taper_status keep(search *s, cli_candidates *found, size_t *room, cli_candidate pair) {
    if (atomic_fetch_add(&s->pairs, 1) >= s->most) return TAPER_ERR_LIMIT;
    if (!formats_grow(&found->pair, found->n, room, sizeof pair)) return TAPER_ERR_NOMEM;
    found->pair[found->n++] = pair;
    return TAPER_OK;
}

/* Image pair.a in its turn, `a`, against image pair.b: by the exact products. */
static taper_status compare(search *s, const cli_descriptor *a, cli_candidate pair,
                            cli_candidates *found, size_t *room) {
    const cli_descriptor *b = &s->of[pair.b];
    agreement best = {.product = MAYBE - 1};
    try_parts(a->part[CLI_CENTRE], CLI_CENTRE, b->part[CLI_CENTRE], CLI_CENTRE, &best);
    try_parts(a->part[CLI_WHOLE], CLI_WHOLE, b->part[CLI_INNER], CLI_INNER, &best);
    try_parts(a->part[CLI_INNER], CLI_INNER, b->part[CLI_WHOLE], CLI_WHOLE, &best);
    if (best.product < MAYBE) return TAPER_OK;
    try_strips(a, b, &best);
    if (best.product < LEAST) return TAPER_OK;
    pair.part_a = best.from, pair.part_b = best.to;
    return keep(s, found, room, pair);
}

/* The largest of the three products of central parts that `compare` begins with, rounded. */
CODEC_CLONES static void estimate(const turned *a, const lanes *b, float largest[LANES]) {
    float centre[LANES] = {0}, inner[LANES] = {0}, whole[LANES] = {0};
    for (unsigned c = 0; c < CLI_COEFFICIENTS; c++)
        for (unsigned i = 0; i < LANES; i++) {
            centre[i] += a->central[CLI_CENTRE][c] * (*b)[CLI_CENTRE][c][i];
            inner[i] += a->central[CLI_WHOLE][c] * (*b)[CLI_INNER][c][i];
            whole[i] += a->central[CLI_INNER][c] * (*b)[CLI_WHOLE][c][i];
        }
    for (unsigned i = 0; i < LANES; i++) {
        const float larger = inner[i] > whole[i] ? inner[i] : whole[i];
        largest[i] = centre[i] > larger ? centre[i] : larger;
    }
}

/* Image i in all its turns, `a`, against those of LANES images from `first` on that come after
 * it. */
static taper_status compare_lanes(search *s, const turned *a, size_t i, size_t first,
                                  cli_candidates *found, size_t *room) {
    float largest[CLI_TURNS][LANES];
    for (unsigned turn = 0; turn < s->turns; turn++)
        estimate(&a[turn], &s->all[first / LANES], largest[turn]);
    const size_t end = formats_smaller(first + LANES, s->n);
    for (size_t k = formats_larger(first, i + 1); k < end; k++)
        for (unsigned turn = 0; turn < s->turns; turn++) {
            if (largest[turn][k - first] < RULED_OUT) continue;
            const cli_candidate pair = {.a = (uint32_t)i, .b = (uint32_t)k, .turn = (uint8_t)turn};
            TAPER_TRY(compare(s, &a[turn].of, pair, found, room));
        }
    return TAPER_OK;
}

/* All turns of the images of a block, one image after the other. */
static void turn_block(const search *s, size_t begin, size_t end, turned *to) {
    for (size_t i = begin; i < end; i++)
        for (unsigned turn = 0; turn < s->turns; turn++, to++) {
            cli_descriptor_turn(&s->of[i], turn, &to->of);
            for (unsigned p = 0; p < CLI_CENTRAL; p++)
                for (unsigned c = 0; c < CLI_COEFFICIENTS; c++)
                    to->central[p][c] = to->of.part[p][c];
        }
}

static taper_status compare_block(search *s, size_t item, cli_candidates *found) {
    const size_t begin = item * BLOCK, end = formats_smaller(begin + BLOCK, s->n);
    size_t room = 0;
    turned *of = malloc(BLOCK * s->turns * sizeof *of);
    if (!of) return TAPER_ERR_NOMEM;
    turn_block(s, begin, end, of);
    taper_status status = TAPER_OK;
    for (size_t at = begin; at < s->n && !status; at += BLOCK) {
        const size_t last = formats_smaller(at + BLOCK, s->n);
        for (size_t i = begin; i < end && !status; i++)
            for (size_t k = at; k < last && !status; k += LANES)
                status = compare_lanes(s, of + (i - begin) * s->turns, i, k, found, &room);
        cli_progress_add(&s->progress, 1);
    }
    free(of);
    return status;
}

static void run_block(void *user, size_t item, unsigned thread) {
    search *s = user;
    (void)thread;
    if (atomic_load(&s->status) != TAPER_OK) return;
    const taper_status status = compare_block(s, item, &s->found[item]);
    int none = TAPER_OK;
    if (status) atomic_compare_exchange_strong(&s->status, &none, (int)status);
}

/* --- all blocks --- */

static lanes *lay_lanes(const cli_descriptor *of, size_t n) {
    lanes *all = calloc(n / LANES + 1, sizeof *all);
    for (size_t i = 0; all && i < n; i++)
        for (unsigned p = 0; p < CLI_CENTRAL; p++)
            for (unsigned c = 0; c < CLI_COEFFICIENTS; c++)
                all[i / LANES][p][c][i % LANES] = of[i].part[p][c];
    return all;
}

/* Join the lists of the blocks, which are freed. */
static taper_status join(search *s, size_t blocks, cli_candidates *out) {
    size_t n = 0;
    for (size_t i = 0; i < blocks; i++) n += s->found[i].n;
    out->pair = malloc((n + 1) * sizeof *out->pair);
    for (size_t i = 0; i < blocks; i++) {
        const cli_candidates *found = &s->found[i];
        if (out->pair && found->n)
            memcpy(out->pair + out->n, found->pair, found->n * sizeof *found->pair);
        out->n += out->pair ? found->n : 0;
        free(found->pair);
    }
    return out->pair ? TAPER_OK : TAPER_ERR_NOMEM;
}

static taper_status explain(const search *s, taper_status status, const taper_limits *limits,
                            taper_error *error) {
    const uint64_t bytes = EACH_PAIR * sizeof(cli_candidate) * (uint64_t)s->most;
    if (status == TAPER_OK) return status;
    if (status != TAPER_ERR_LIMIT)
        return formats_fail(error, status, "no memory to compare %zu images", s->n);
    return formats_fail_fact(error, status, TAPER_FACT_MAX_MEMORY,
                             formats_memory_step(limits, bytes),
                             "more than %zu pairs of images look alike at first, for which memory "
                             "is short; or compare parts of the set",
                             s->most);
}

taper_status cli_candidates_find(cli_candidates *out, const cli_descriptor *of, size_t n,
                                 bool are_turned, const cli_common *common, taper_error *error) {
    const size_t blocks = (n + BLOCK - 1) / BLOCK;
    const taper_limits limits = cli_limits(common);
    lanes *all = lay_lanes(of, n);
    search s = {.of = of, .all = (const lanes *)all, .n = n, .turns = are_turned ? CLI_TURNS : 1};
    s.most = (size_t)(limits.max_memory / (EACH_PAIR * sizeof(cli_candidate)));
    s.found = calloc(blocks + 1, sizeof *s.found);
    *out = (cli_candidates){.n = 0};
    if (!all || !s.found) atomic_store(&s.status, TAPER_ERR_NOMEM);
    cli_progress_start(&s.progress, common, "comparing", blocks * (blocks + 1) / 2, "blocks");
    if (s.found) cli_parallel(cli_threads(common), blocks, run_block, &s);
    cli_progress_end(&s.progress);
    taper_status status = (taper_status)atomic_load(&s.status);
    const taper_status joined = s.found ? join(&s, blocks, out) : TAPER_OK;
    if (status == TAPER_OK) status = joined;
    free(all), free(s.found);
    if (status != TAPER_OK) cli_candidates_free(out);
    return explain(&s, status, &limits, error);
}

void cli_candidates_free(cli_candidates *c) {
    free(c->pair);
    *c = (cli_candidates){.n = 0};
}
