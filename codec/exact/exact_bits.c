/* exact_bits.c -- see exact_bits.h. */
#include "codec/exact/exact_bits.h"
#include "codec/entropy/fixed_log.h"
#include <stdlib.h>
#include <string.h>

enum {
    BINS = CODEC_EXACT_BINS,
    MIXED = CODEC_EXACT_MIXED,
    ENERGIES = 32,
    SLOTS = 3, /* channels with statistics of their own; alpha shares those of the first */
    /* bins */
    BIN_SIDE = 1,
    BIN_FURTHER = 2,
    MOST_FURTHER = 13,
    BIN_TOP = 16,
    MOST_TOP = 7,
    SINGLE_BUCKETS = 6, /* one distance each */
    RATE = 14,          /* mixing weights change by error * logit >> this */
    FIRST_WEIGHT = 65536 * 2 / 10,
    SETS_A = BINS * SLOTS * ENERGIES,
    SETS_B = BINS * 16
};

static const uint32_t contexts[MIXED] = {
    20 * 16 * SLOTS,      400 * 8 * SLOTS,          400 * 8 * SLOTS,      400 * 8 * SLOTS,
    24 * ENERGIES *SLOTS, 7 * ENERGIES * 9 * SLOTS, 20 * ENERGIES *SLOTS,
};

void codec_exact_model_lay_out(codec_exact_model *model, formats_layout *at) {
    model->logit = formats_lay(at, CODEC_MIXER_LOGITS, sizeof *model->logit);
    for (int i = 0; i < MIXED; i++)
        model->bit[i] = formats_lay(at, (uint64_t)contexts[i] * BINS, sizeof *model->bit[i]);
    model->weight[0] = formats_lay(at, SETS_A * (MIXED + 1), sizeof *model->weight[0]);
    model->weight[1] = formats_lay(at, SETS_B * (MIXED + 1), sizeof *model->weight[1]);
}

void codec_exact_model_begin(codec_exact_model *model) {
    codec_mixer_make_logits(model->logit);
    for (int i = 0; i < MIXED; i++)
        for (uint32_t k = 0; k < contexts[i] * BINS; k++) model->bit[i][k] = (codec_bit){32768, 0};
    for (int k = 0; k < SETS_A * (MIXED + 1); k++) model->weight[0][k] = FIRST_WEIGHT;
    for (int k = 0; k < SETS_B * (MIXED + 1); k++) model->weight[1][k] = FIRST_WEIGHT;
}

/* What the bits of one residual depend on. */
typedef struct place {
    uint32_t context[MIXED];
    uint32_t slot, energy, other;
} place;

/* 0 1 2 3, then two steps an octave; at most `most`. */
static uint32_t steps(uint32_t v, uint32_t most) {
    if (v < 4) return v < most ? v : most;
    const uint32_t octave = 31 - (uint32_t)__builtin_clz(v);
    const uint32_t s = 2 * octave + (v >> (octave - 1) & 1);
    return s < most ? s : most;
}

/* A signed difference in 1/16, seen from the side of the prediction's fraction: 0 .. 19. */
static uint32_t side_steps(int32_t difference, int flip, uint32_t divisor, uint32_t most) {
    const uint32_t size = steps((uint32_t)abs(difference) / divisor, most);
    return 2 * size + (uint32_t)((difference < 0) ^ flip);
}

static uint32_t error_of_other(int32_t error, int flip) {
    if (flip) error = -error;
    if (error == 0) return 0;
    if (error > 0) return error > 16 ? error > 48 ? 3 : 2 : 1;
    return error < -16 ? error < -48 ? 6 : 5 : 4;
}

static void find_place(const codec_exact_rows *rows, const codec_exact_prediction *p, uint32_t c,
                       uint32_t x, int32_t fraction, int flip, place *to) {
    const codec_exact_channel *channel = &rows->channel[c];
    const int32_t *e = channel->error[0] + x, *f = channel->error[1] + x;
    const int32_t *l = channel->lossy[2] + x, *a = channel->lossy[1] + x;
    const int32_t w = (l[-1] + channel->residual[0][(int64_t)x - 1]) * 16;
    const int32_t n = (a[0] + channel->residual[1][x]) * 16;
    const uint32_t own = (uint32_t)(2 * (abs(e[-1]) + abs(f[0])) + abs(f[-1]) + abs(f[1]) +
                                    abs(e[-2]) + abs(channel->error[2][x]));
    const int colour = c > 0 && c < 3 && rows->channels >= 3;
    uint32_t others = 0;
    int32_t before = 0;
    if (colour) {
        others = (uint32_t)abs(rows->channel[0].error[0][x]);
        before = rows->channel[c - 1].error[0][x];
        if (c > 1) others = (others + (uint32_t)abs(before)) / 2;
    }
    const uint32_t energy = colour ? (own + 4 * others) / 2 : own;
    const uint32_t e1 = steps(energy / 8, ENERGIES - 1), o = steps(others / 8, 15);
    uint32_t spread = 0;
    for (int i = 0; i < p->n; i++) spread += (uint32_t)abs(p->of[i] - p->mean);
    const uint32_t s = steps(spread / (2 * (uint32_t)p->n), 19);
    const int32_t m = p->mean;
#define SIDE(v) side_steps((v)-m, flip, 4, 9)
    const uint32_t eight = e1 / 4;
    to->slot = c < 3 ? c : 0;
    to->energy = e1;
    to->other = o;
    uint32_t *k = to->context;
    k[0] = steps(own / 16, 19) * 16 + o;
    k[1] = (side_steps(w - m, flip, 8, 9) * 20 + side_steps(n - m, flip, 8, 9)) * 8 + eight;
    k[2] = (SIDE(p->of[colour ? 6 : 1]) * 20 + SIDE(p->of[colour && c > 1 ? 7 : 3])) * 8 + eight;
    k[3] = (SIDE(p->of[0]) * 20 + SIDE(p->of[colour && c > 1 ? 1 : 2])) * 8 + eight;
    k[4] = side_steps(l[0] * 16 - m, flip, 4, 11) * ENERGIES + e1;
    k[5] = (error_of_other(before, flip) * ENERGIES + e1) * 9 + (uint32_t)fraction;
    k[6] = s * ENERGIES + e1;
#undef SIDE
    for (int i = 0; i < MIXED; i++) k[i] = (k[i] * SLOTS + to->slot) * BINS;
}

static int32_t clamp_logit(int64_t x) { return x < -767 ? -767 : x > 767 ? 767 : (int32_t)x; }

static void learn_weights(int32_t *weight, const int32_t *x, int32_t error) {
    for (int i = 0; i <= MIXED; i++) {
        const int32_t w = weight[i] + ((error * x[i] + (1 << (RATE - 1))) >> RATE);
        weight[i] = w < -CODEC_MIXER_MOST  ? -CODEC_MIXER_MOST
                    : w > CODEC_MIXER_MOST ? CODEC_MIXER_MOST
                                           : w;
    }
}

/* Code a bit of kind `bin`. */
static int code_bit(codec_exact_model *model, codec_pixel_bits *bits, const place *at, uint32_t bin,
                    int bit) {
    codec_bit *input[MIXED];
    int32_t x[MIXED + 1];
    int32_t *u =
        model->weight[0] + ((bin * SLOTS + at->slot) * ENERGIES + at->energy) * (MIXED + 1);
    int32_t *v = model->weight[1] + (bin * 16 + at->other) * (MIXED + 1);
    int64_t sum_u = 0, sum_v = 0;
    for (int i = 0; i < MIXED; i++) {
        input[i] = &model->bit[i][at->context[i] + bin];
        x[i] = model->logit[input[i]->p1 >> 4];
    }
    x[MIXED] = 64;
    for (int i = 0; i <= MIXED; i++) {
        sum_u += (int64_t)u[i] * x[i];
        sum_v += (int64_t)v[i] * x[i];
    }
    const int32_t lu = clamp_logit(sum_u >> 16), lv = clamp_logit(sum_v >> 16);
    const uint32_t p = codec_squash((lu + lv) >> 1);
    bit = codec_pixel_bit(bits, bit, p);
    if (bits->starved) return bit;
    learn_weights(u, x, (bit << 16) - codec_squash(lu));
    learn_weights(v, x, (bit << 16) - codec_squash(lv));
    for (int i = 0; i < MIXED; i++) codec_bit_update(input[i], bit);
    return bit;
}

/* Distances of a bucket: 1 of each of the first, then two buckets for each power of two. */
static uint32_t bucket_bits(uint32_t bucket) {
    return bucket < SINGLE_BUCKETS ? 0 : (bucket - SINGLE_BUCKETS) / 2 + 1;
}

/* A distance of at least 1. */
static uint32_t code_distance(codec_exact_model *model, codec_pixel_bits *bits, const place *at,
                              uint32_t distance) {
    uint32_t least = 1, k = 0;
    for (; k < CODEC_EXACT_BUCKETS - 1; k++) {
        const uint32_t size = 1u << bucket_bits(k);
        const uint32_t bin = BIN_FURTHER + (k < MOST_FURTHER ? k : MOST_FURTHER);
        if (!code_bit(model, bits, at, bin, distance >= least + size)) break;
        least += size;
    }
    const uint32_t digits = bucket_bits(k);
    uint32_t above = 0;
    for (uint32_t d = digits; d-- > 0;) {
        const uint32_t top = k - SINGLE_BUCKETS;
        const int bit = (int)((distance - least) >> d & 1);
        const uint32_t bin = BIN_TOP + (top < MOST_TOP ? top : MOST_TOP);
        const int known = d + 1 == digits ? code_bit(model, bits, at, bin, bit)
                                          : codec_pixel_bit(bits, bit, 32768);
        above = 2 * above + (uint32_t)known;
    }
    return least + above;
}

int32_t codec_exact_code_sample(codec_exact_model *model, codec_pixel_bits *bits,
                                const codec_exact_rows *rows,
                                const codec_exact_prediction *prediction, uint32_t c, uint32_t x,
                                int32_t sample) {
    const int32_t most = rows->depth == 8 ? 255 : 65535;
    const int32_t base = (prediction->mean + 8) >> 4;
    int32_t fraction = prediction->mean - base * 16;
    const int flip = fraction < 0;
    place at;
    find_place(rows, prediction, c, x, abs(fraction), flip, &at);
    if (code_bit(model, bits, &at, 0, sample == base)) return base;
    int up = base == most ? 0 : base == 0 ? 1 : -1;
    if (up < 0) up = code_bit(model, bits, &at, BIN_SIDE, (sample > base) ^ flip) ^ flip;
    const uint32_t distance = code_distance(model, bits, &at, (uint32_t)abs(sample - base));
    const int64_t value = up ? (int64_t)base + distance : (int64_t)base - distance;
    return value < 0 ? 0 : value > most ? most : (int32_t)value;
}
