/* check.c -- see check.h. */
#include "cli/copies/check.h"
#include "codec/backend/simd.h"
#include <math.h>

/* LEAST_BLOCKS: with fewer blocks of any structure nothing is decided. */
enum { BLOCK = 8, ACROSS = CLI_GREY_SIDE / BLOCK, BLOCKS = ACROSS * ACROSS, LEAST_BLOCKS = 6 };

/* A block has structure if the mean square of what is left of it is above this: two grey levels,
 * more than packing and scaling leave of a flat block. */
static const float STRUCTURE = 4;

/* Blocks agree above this correlation. That of unlike blocks is rarely above; noise, blur and
 * packing do not bring that of copies below. */
static const float AGREES = 0.3F;

/* Where the start gives nothing, alignment goes on only with versions that correlate this much. */
static const float CORRELATED = 0.7F;

typedef struct block {
    float left[BLOCK * BLOCK]; /* pixels without the means of their row and column */
    float energy;              /* their mean square */
} block;

CODEC_INLINE float sum_of(const float *row) {
    return ((row[0] + row[4]) + (row[1] + row[5])) + ((row[2] + row[6]) + (row[3] + row[7]));
}

CODEC_INLINE void reduce(const float *pixel, size_t stride, block *to) {
    float column[BLOCK] = {0}, square[BLOCK] = {0};
    for (unsigned y = 0; y < BLOCK; y++)
        for (unsigned x = 0; x < BLOCK; x++) column[x] += pixel[y * stride + x];
    const float mean = sum_of(column) / (BLOCK * BLOCK);
    for (unsigned x = 0; x < BLOCK; x++) column[x] = column[x] / BLOCK - mean;
    for (unsigned y = 0; y < BLOCK; y++) {
        const float row = sum_of(pixel + y * stride) / BLOCK;
        float *left = to->left + (size_t)y * BLOCK;
        for (unsigned x = 0; x < BLOCK; x++) {
            left[x] = pixel[y * stride + x] - row - column[x];
            square[x] += left[x] * left[x];
        }
    }
    to->energy = sum_of(square) / (BLOCK * BLOCK);
}

CODEC_CLONES static void reduce_all(const cli_template *of, block *to) {
    for (unsigned i = 0; i < BLOCKS; i++)
        reduce(cli_framed(of->whole, CLI_GREY_SIDE, i % ACROSS * BLOCK, i / ACROSS * BLOCK),
               CLI_GREY_SIDE + 2, &to[i]);
}

bool cli_check_is_possible(const cli_template *of) {
    block all[BLOCKS];
    unsigned n = 0;
    reduce_all(of, all);
    for (unsigned i = 0; i < BLOCKS; i++) n += all[i].energy > STRUCTURE;
    return n >= LEAST_BLOCKS;
}

/* The correlation of what is left of two blocks; 0 where one has no structure at all. */
CODEC_INLINE float correlate(const block *a, const block *b) {
    float sum[BLOCK] = {0};
    if (!(a->energy > 0) || !(b->energy > 0)) return 0;
    for (unsigned k = 0; k < BLOCK * BLOCK; k += BLOCK)
        for (unsigned x = 0; x < BLOCK; x++) sum[x] += a->left[k + x] * b->left[k + x];
    return sum_of(sum) / (BLOCK * BLOCK) / sqrtf(a->energy * b->energy);
}

/* Whether all places of a block are inside of the other image: its corners are. */
CODEC_INLINE bool is_inside(const float *weight) {
    const size_t last = BLOCK - 1, low = last * CLI_GREY_SIDE;
    return weight[0] > 0 && weight[last] > 0 && weight[low] > 0 && weight[low + last] > 0;
}

/* The score for one map. own: the blocks of a. */
CODEC_CLONES static float score_of(const block *own, const cli_template *b, const cli_map *map) {
    float agreed = 0, all = 0, pixel[CLI_GREY_PIXELS], weight[CLI_GREY_PIXELS];
    unsigned n = 0;
    cli_look_up(b->whole, CLI_GREY_SIDE, map, pixel, weight);
    for (unsigned i = 0; i < BLOCKS; i++) {
        const size_t first = (size_t)(i / ACROSS) * BLOCK * CLI_GREY_SIDE + i % ACROSS * BLOCK;
        block other;
        if (!is_inside(weight + first)) continue;
        reduce(pixel + first, CLI_GREY_SIDE, &other);
        const float energy = own[i].energy > other.energy ? own[i].energy : other.energy;
        if (!(energy > STRUCTURE)) continue;
        const float counts = sqrtf(energy);
        n++, all += counts;
        if (correlate(&own[i], &other) > AGREES) agreed += counts;
    }
    return n >= LEAST_BLOCKS ? agreed / all : 0;
}

/* The best map so far. */
typedef struct found {
    const cli_template *a, *b;
    block own[BLOCKS]; /* of a */
    cli_map map;
    float score;
} found;

static void try_map(found *f, const cli_map *map) {
    const float score = score_of(f->own, f->b, map);
    if (score > f->score) f->score = score, f->map = *map;
}

/* Align from a start. */
static void try_start(found *f, cli_map map) {
    if (f->score < CLI_COPY_SCORE && cli_align(f->a, f->b, 0, &map)) try_map(f, &map);
}

/* The start is mostly right. Of images that have much in common there, the whole is tried, each
 * within a frame of the other, and the best of all maps once more with fine structure. */
float cli_check(const cli_template *a, const cli_template *b, const cli_map *start) {
    static const cli_map others[] = {
        {{1, 0, 0, 0, 1, 0}}, {{0.9F, 0, 0, 0, 0.9F, 0}}, {{1.1F, 0, 0, 0, 1.1F, 0}}};
    const float sure = 0.9F, promising = 0.5F, hopeless = 0.3F;
    found f;
    f.a = a, f.b = b, f.map = *start, f.score = 0;
    reduce_all(a, f.own);
    try_map(&f, start);
    if (f.score >= sure) return f.score;
    cli_map map = *start;
    if (cli_align(a, b, f.score < hopeless ? CORRELATED : 0, &map)) try_map(&f, &map);
    if (f.score < promising) return f.score;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) try_start(&f, others[i]);
    map = f.map;
    if (f.score < CLI_COPY_SCORE && cli_align_whole(a, b, &map)) try_map(&f, &map);
    return f.score;
}
