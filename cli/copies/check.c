/* check.c -- see check.h. */
#include "cli/copies/check.h"
#include <math.h>

/* LEAST_BLOCKS: with fewer blocks of any structure nothing is decided. */
enum { BLOCK = 8, ACROSS = CLI_GREY_SIDE / BLOCK, BLOCKS = ACROSS * ACROSS, LEAST_BLOCKS = 6 };

/* A block has structure if the mean square of what is left of it is above this: two grey levels,
 * more than packing and scaling leave of a flat block. */
static const float STRUCTURE = 4;

/* Blocks agree above this correlation. That of unlike blocks is rarely above; noise, blur and
 * packing do not bring that of copies below. */
static const float AGREES = 0.3F;

typedef struct block {
    float left[BLOCK * BLOCK]; /* pixels without the means of their row and column */
    float energy;              /* their mean square */
} block;

static void reduce(const float *pixel, unsigned stride, block *to) {
    float column[BLOCK] = {0}, mean = 0, energy = 0;
    for (unsigned y = 0; y < BLOCK; y++)
        for (unsigned x = 0; x < BLOCK; x++) column[x] += pixel[y * stride + x] / BLOCK;
    for (unsigned x = 0; x < BLOCK; x++) mean += column[x] / BLOCK;
    for (unsigned y = 0; y < BLOCK; y++) {
        float row = 0;
        for (unsigned x = 0; x < BLOCK; x++) row += pixel[y * stride + x] / BLOCK;
        for (unsigned x = 0; x < BLOCK; x++)
            to->left[y * BLOCK + x] = pixel[y * stride + x] - row - column[x] + mean;
    }
    for (unsigned i = 0; i < BLOCK * BLOCK; i++) energy += to->left[i] * to->left[i];
    to->energy = energy / (BLOCK * BLOCK);
}

static void reduce_own(const cli_template *of, unsigned i, block *to) {
    const float *first =
        cli_framed(of->whole, CLI_GREY_SIDE, i % ACROSS * BLOCK, i / ACROSS * BLOCK);
    reduce(first, CLI_GREY_SIDE + 2, to);
}

bool cli_check_is_possible(const cli_template *of) {
    unsigned n = 0;
    for (unsigned i = 0; i < BLOCKS; i++) {
        block b;
        reduce_own(of, i, &b);
        n += b.energy > STRUCTURE;
    }
    return n >= LEAST_BLOCKS;
}

/* The pixels of b at block i of a. False: some are outside. */
static bool look_up(const cli_template *b, const cli_map *map, unsigned i, float *pixel) {
    const float *m = map->m, step = 2.0F / CLI_GREY_SIDE;
    const float x = ((float)(i % ACROSS * BLOCK) + 0.5F) * step - 1;
    const float y = ((float)(i / ACROSS * BLOCK) + 0.5F) * step - 1;
    const float u = m[0] * x + m[1] * y + m[2], v = m[3] * x + m[4] * y + m[5];
    for (int k = 0; k < 4; k++) { /* a block is inside if its corners are */
        const float right = k & 1 ? (BLOCK - 1) * step : 0, low = k & 2 ? (BLOCK - 1) * step : 0;
        if (!(fabsf(u + m[0] * right + m[1] * low) <= 1)) return false;
        if (!(fabsf(v + m[3] * right + m[4] * low) <= 1)) return false;
    }
    for (unsigned row = 0; row < BLOCK; row++)
        for (unsigned column = 0; column < BLOCK; column++) {
            const float right = (float)column * step, low = (float)row * step;
            pixel[row * BLOCK + column] =
                cli_sample(b->whole, CLI_GREY_SIDE, u + m[0] * right + m[1] * low,
                           v + m[3] * right + m[4] * low);
        }
    return true;
}

/* The correlation of what is left of two blocks; 0 where one has no structure at all. */
static float correlate(const block *a, const block *b) {
    float sum = 0;
    if (!(a->energy > 0) || !(b->energy > 0)) return 0;
    for (unsigned k = 0; k < BLOCK * BLOCK; k++) sum += a->left[k] * b->left[k];
    return sum / (BLOCK * BLOCK) / sqrtf(a->energy * b->energy);
}

float cli_check_map(const cli_template *a, const cli_template *b, const cli_map *map) {
    float agreed = 0, all = 0, pixel[BLOCK * BLOCK];
    unsigned n = 0;
    for (unsigned i = 0; i < BLOCKS; i++) {
        block left, right;
        if (!look_up(b, map, i, pixel)) continue;
        reduce_own(a, i, &left);
        reduce(pixel, BLOCK, &right);
        const float energy = left.energy > right.energy ? left.energy : right.energy;
        if (!(energy > STRUCTURE)) continue;
        const float weight = sqrtf(energy);
        n++, all += weight;
        if (correlate(&left, &right) > AGREES) agreed += weight;
    }
    return n >= LEAST_BLOCKS ? agreed / all : 0;
}

/* The best map so far. */
typedef struct found {
    const cli_template *a, *b;
    cli_map map;
    float score;
} found;

static void try_map(found *f, const cli_map *map) {
    const float score = cli_check_map(f->a, f->b, map);
    if (score > f->score) f->score = score, f->map = *map;
}

/* Align from a start. */
static void try_start(found *f, cli_map map) {
    if (f->score < CLI_COPY_SCORE && cli_align(f->a, f->b, &map)) try_map(f, &map);
}

/* The start is mostly right. Else the whole is tried, each within a frame of the other, and the best
 * of all maps once more with fine structure. */
float cli_check(const cli_template *a, const cli_template *b, const cli_map *start) {
    static const cli_map others[] = {{{1, 0, 0, 0, 1, 0}},
                                     {{0.9F, 0, 0, 0, 0.9F, 0}},
                                     {{1.1F, 0, 0, 0, 1.1F, 0}}};
    const float sure = 0.9F, hopeless = 0.3F;
    found f = {.a = a, .b = b, .map = *start};
    try_map(&f, start);
    if (f.score >= sure) return f.score;
    cli_map map = *start;
    if (cli_align(a, b, &map)) try_map(&f, &map);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) try_start(&f, others[i]);
    map = f.map;
    if (f.score >= hopeless && f.score < CLI_COPY_SCORE && cli_align_whole(a, b, &map))
        try_map(&f, &map);
    return f.score;
}
