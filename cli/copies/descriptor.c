/* descriptor.c -- see descriptor.h. */
#include "cli/copies/descriptor.h"
#include "codec/backend/simd.h"
#include <math.h>
#include <string.h>

enum { SIDE = CLI_COSINE_SIDE, FREQUENCIES = 6 };

/* Of an axis: its middle; all; all without narrow edges; without the beginning; without the end. */
enum { MIDDLE, ALL, INNER, LATER, EARLIER };
static const uint8_t begins[CLI_STRIPS] = {4, 0, 2, 3, 0}, ends[CLI_STRIPS] = {28, 32, 30, 32, 29};

typedef struct strips {
    uint8_t across, down; /* strips */
} strips;
static const strips parts[CLI_PARTS] = {{MIDDLE, MIDDLE},   {ALL, ALL},      {INNER, INNER},
                                        {LATER, ALL},       {ALL, LATER},    {EARLIER, ALL},
                                        {ALL, EARLIER},     {LATER, LATER},  {EARLIER, LATER},
                                        {EARLIER, EARLIER}, {LATER, EARLIER}};

/* Frequencies down and across. All of up to 5 are used but the mean and the three highest, so that
 * exchanging both gives the same set. */
static bool is_used(unsigned down, unsigned across) {
    return down + across > 0 && down + across < 9;
}

/* --- coefficients --- */

void cli_cosines_make(cli_cosines *to) {
    const double pi = 3.14159265358979323846;
    memset(to, 0, sizeof *to);
    for (unsigned s = 0; s < CLI_STRIPS; s++) {
        const unsigned n = ends[s] - begins[s];
        for (unsigned k = 0; k < n; k++)
            for (unsigned f = 0; f < FREQUENCIES; f++)
                to->of[s][begins[s] + k][f] =
                    (float)(sqrt((f ? 2.0 : 1.0) / n) * cos(pi * f * (k + 0.5) / n));
    }
}

static void scale_to_unit(const float *from, int16_t *to) {
    double sum = 0;
    for (unsigned i = 0; i < CLI_COEFFICIENTS; i++) sum += (double)from[i] * from[i];
    const double flat = SIDE; /* a hundredth of a grey level is rounding */
    const double factor = sum > flat ? CLI_DESCRIPTOR_UNIT / sqrt(sum) : 0;
    for (unsigned i = 0; i < CLI_COEFFICIENTS; i++) to[i] = (int16_t)(from[i] * factor);
}

/* The coefficients across, of each row. */
CODEC_CLONES static void take_rows(const float (*cosine)[CLI_COSINES], const float *pixel,
                                   float (*row)[CLI_COSINES]) {
    for (unsigned y = 0; y < SIDE; y++) {
        float sum[CLI_COSINES] = {0};
        for (unsigned x = 0; x < SIDE; x++) {
            const float value = pixel[y * SIDE + x];
            for (unsigned f = 0; f < CLI_COSINES; f++) sum[f] += cosine[x][f] * value;
        }
        memcpy(row[y], sum, sizeof sum);
    }
}

CODEC_CLONES static void take_part(const float (*cosine)[CLI_COSINES], float (*row)[CLI_COSINES],
                                   int16_t *to) {
    float sum[FREQUENCIES][CLI_COSINES] = {{0}}, coefficient[CLI_COEFFICIENTS];
    for (unsigned y = 0; y < SIDE; y++)
        for (unsigned g = 0; g < FREQUENCIES; g++)
            for (unsigned f = 0; f < CLI_COSINES; f++) sum[g][f] += cosine[y][g] * row[y][f];
    for (unsigned g = 0, n = 0; g < FREQUENCIES; g++)
        for (unsigned f = 0; f < FREQUENCIES; f++)
            if (is_used(g, f)) coefficient[n++] = sum[g][f] * sqrtf((float)(g * g + f * f));
    scale_to_unit(coefficient, to);
}

void cli_descriptor_make(cli_descriptor *to, const cli_cosines *cosines,
                         const uint8_t grey[CLI_GREY_PIXELS]) {
    float half[SIDE * SIDE], row[SIDE][CLI_COSINES];
    for (size_t y = 0; y < SIDE; y++)
        for (size_t x = 0; x < SIDE; x++) {
            const uint8_t *at = grey + 2 * y * CLI_GREY_SIDE + 2 * x;
            half[y * SIDE + x] =
                (float)(at[0] + at[1] + at[CLI_GREY_SIDE] + at[CLI_GREY_SIDE + 1]) / 4;
        }
    for (unsigned s = 0; s < CLI_STRIPS; s++) {
        take_rows(cosines->of[s], half, row);
        for (unsigned p = 0; p < CLI_PARTS; p++)
            if (parts[p].across == s) take_part(cosines->of[parts[p].down], row, to->part[p]);
    }
}

/* --- turns --- */

static unsigned reversed(unsigned strip) {
    return strip == LATER ? EARLIER : strip == EARLIER ? LATER : strip;
}

/* The same part before a quarter turn, or before the mirror. */
static unsigned part_before(unsigned of, bool is_mirror) {
    const strips now = parts[of];
    const unsigned across = is_mirror ? reversed(now.across) : now.down;
    const unsigned down = is_mirror ? now.down : reversed(now.across);
    unsigned p = 0;
    while (parts[p].across != across || parts[p].down != down) p++;
    return p;
}

/* Where a coefficient is in a vector. */
static unsigned place_of(unsigned down, unsigned across) {
    unsigned n = 0;
    for (unsigned g = 0; g <= down; g++)
        for (unsigned f = 0; f < (g < down ? FREQUENCIES : across); f++) n += is_used(g, f);
    return n;
}

/* Mirroring changes the sign of odd frequencies across; a quarter turn exchanges rows and columns
 * before. */
static void turn_once(const cli_descriptor *from, bool is_mirror, cli_descriptor *to) {
    for (unsigned p = 0; p < CLI_PARTS; p++) {
        const int16_t *old = from->part[part_before(p, is_mirror)];
        for (unsigned g = 0, n = 0; g < FREQUENCIES; g++)
            for (unsigned f = 0; f < FREQUENCIES; f++) {
                if (!is_used(g, f)) continue;
                const int16_t number = is_mirror ? old[n] : old[place_of(f, g)];
                to->part[p][n++] = (int16_t)(f & 1 ? -number : number);
            }
    }
}

void cli_descriptor_turn(const cli_descriptor *from, unsigned turn, cli_descriptor *to) {
    cli_descriptor now = *from;
    for (unsigned k = turn & 3; k > 0; k--) {
        turn_once(&now, false, to);
        now = *to;
    }
    if (turn & 4)
        turn_once(&now, true, to);
    else
        *to = now;
}

/* --- maps --- */

/* Scale and shift that bring one strip of an axis to another. Edges that are cut off are mostly a
 * tenth of the whole. */
static void map_strip(unsigned from, unsigned to, float *scale, float *shift) {
    static const float first[CLI_STRIPS] = {-0.75F, -1, -0.9F, -0.8125F, -1};
    static const float last[CLI_STRIPS] = {0.75F, 1, 0.9F, 1, 0.8125F};
    *scale = (last[to] - first[to]) / (last[from] - first[from]);
    *shift = (first[to] + last[to]) / 2 - *scale * (first[from] + last[from]) / 2;
}

cli_map cli_part_map(unsigned from, unsigned to) {
    cli_map map = {{0}};
    map_strip(parts[from].across, parts[to].across, &map.m[0], &map.m[2]);
    map_strip(parts[from].down, parts[to].down, &map.m[4], &map.m[5]);
    return map;
}
