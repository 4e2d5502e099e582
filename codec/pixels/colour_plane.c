/* colour_plane.c -- see colour_plane.h. */
#include "codec/pixels/colour_plane.h"
#include <stdlib.h>
#include <string.h>

enum {
    /* Candidates for a pixel: two that followed the same neighbours, four neighbours, and colours
     * of the list. */
    BY_ALL,
    BY_FOUR,
    LEFT,
    ABOVE,
    ABOVE_RIGHT,
    ABOVE_LEFT,
    LISTED,
    MOST_LISTED = 12,
    NEW = LISTED + MOST_LISTED, /* not a candidate: the colour is in no list */
    CANDIDATES,
    CONFIDENCES = 4,
    AGREEMENTS = 256,
    LIST = 1024, /* colours */
    INPUTS = 7,
    HASHED = 6, /* of these, inputs from tables by hashes */
    LEAST_TABLE = 12,
    MOST_TABLE = 18,
    RANK_BITS = 11
};

/* A colour that followed a context, and how often in a row. */
typedef struct followed {
    uint32_t colour;
    uint32_t count; /* 0: none */
} followed;

struct codec_colour_model {
    int16_t logit[CODEC_MIXER_LOGITS];
    int table_bits;
    codec_bit *table[HASHED]; /* [2^table_bits] */
    followed *by_all, *by_four;
    codec_bit plain[CANDIDATES][CONFIDENCES][AGREEMENTS];
    codec_bit flat[AGREEMENTS];
    int32_t weight[CANDIDATES][CONFIDENCES][INPUTS];
    uint32_t list[LIST]; /* by last use as new or listed, the latest first */
    uint32_t listed;
    uint32_t fresh_run; /* which of the last colours beside candidates were new */
    codec_bit constant, length[RANK_BITS], digit[RANK_BITS];
    codec_new_colours fresh;
    formats_block block;
};

/* --- the model ----------------------------------------------------------------------------- */

uint64_t codec_plane_elements(uint32_t width, uint32_t height) {
    return (uint64_t)codec_plane_stride(width) * (height + (uint64_t)CODEC_PLANE_MARGIN);
}

static int table_bits_for(uint64_t pixels) {
    int bits = LEAST_TABLE;
    while (bits < MOST_TABLE && pixels >> (bits - 2)) bits++;
    return bits;
}

static void lay_out(codec_colour_model **m, int bits, formats_layout *at) {
    codec_colour_model counted, *to;
    *m = formats_lay(at, 1, sizeof **m);
    to = *m ? *m : &counted;
    for (int i = 0; i < HASHED; i++)
        to->table[i] = formats_lay(at, (uint64_t)1 << bits, sizeof *to->table[i]);
    to->by_all = formats_lay(at, (uint64_t)1 << bits, sizeof *to->by_all);
    to->by_four = formats_lay(at, (uint64_t)1 << bits, sizeof *to->by_four);
}

uint64_t codec_colour_model_bytes(uint64_t pixels) {
    formats_layout at = {0};
    codec_colour_model *m;
    lay_out(&m, table_bits_for(pixels), &at);
    return at.used;
}

static void set_half(codec_bit *bit, size_t n) {
    for (size_t i = 0; i < n; i++) bit[i] = (codec_bit){32768, 0};
}

static void reset(codec_colour_model *m) {
    codec_mixer_make_logits(m->logit);
    for (int i = 0; i < HASHED; i++) set_half(m->table[i], (size_t)1 << m->table_bits);
    set_half(&m->plain[0][0][0], sizeof m->plain / sizeof(codec_bit));
    set_half(m->flat, AGREEMENTS);
    for (int c = 0; c < CANDIDATES; c++)
        for (int k = 0; k < CONFIDENCES; k++)
            for (int i = 0; i < INPUTS; i++) m->weight[c][k][i] = CODEC_MIXER_ONE / 4;
    m->listed = 0;
    m->fresh_run = 0;
    set_half(&m->constant, 1);
    set_half(m->length, RANK_BITS), set_half(m->digit, RANK_BITS);
    codec_new_colours_reset(&m->fresh, m->logit);
}

taper_status codec_colour_model_open(codec_colour_model **out, uint64_t pixels,
                                     formats_account *account) {
    const int bits = table_bits_for(pixels);
    formats_layout at = {0};
    formats_block block;
    lay_out(out, bits, &at);
    *out = NULL;
    TAPER_TRY(formats_block_take(&block, &at, account));
    lay_out(out, bits, &at);
    (*out)->block = block;
    (*out)->table_bits = bits;
    reset(*out);
    return TAPER_OK;
}

void codec_colour_model_close(codec_colour_model *m) {
    if (!m) return;
    formats_block block = m->block; /* which holds the model */
    formats_block_free(&block);
}

/* --- one pixel ----------------------------------------------------------------------------- */

/* A pixel while it is coded. */
typedef struct pixel {
    codec_colour_model *m;
    codec_pixel_bits *b;
    codec_plane_contexts near;
    followed *all, *four;
    uint32_t colour;              /* encoding: the pixel */
    uint32_t refused[CANDIDATES]; /* candidates that it is not */
    int n;
} pixel;

static int was_refused(const pixel *p, uint32_t colour) {
    for (int i = 0; i < p->n; i++)
        if (p->refused[i] == colour) return 1;
    return 0;
}

static uint32_t confidence(const followed *f) {
    return f->count < 2 ? f->count : f->count < 6 ? 2 : 3;
}

/* Which neighbours and predictions agree with a candidate. */
static uint32_t agreement(const pixel *p, uint32_t c) {
    const uint32_t *s = p->near.seen;
    return (uint32_t)(p->all->count && p->all->colour == c) |
           (uint32_t)(p->four->count && p->four->colour == c) << 1 |
           (uint32_t)(s[CODEC_W] == c) << 2 | (uint32_t)(s[CODEC_N] == c) << 3 |
           (uint32_t)(s[CODEC_NW] == c) << 4 | (uint32_t)(s[CODEC_NE] == c) << 5 |
           (uint32_t)(s[CODEC_WW] == c) << 6 | (uint32_t)(s[CODEC_NN] == c) << 7;
}

/* Is the pixel this candidate? */
static int try_candidate(pixel *p, uint32_t which, uint32_t c) {
    codec_colour_model *m = p->m;
    const uint32_t sure = confidence(which == BY_FOUR ? p->four : p->all);
    const codec_plane_contexts *near = &p->near;
    const uint32_t agrees = agreement(p, c), own = codec_hash(which + 1, c);
    const uint32_t hash[HASHED] = {own,
                                   codec_hash(own, near->two),
                                   codec_hash(own, near->four),
                                   codec_hash(own, near->seven),
                                   codec_hash(own, near->all),
                                   codec_hash(near->shape, which << 8 | agrees)};
    codec_mixer mixer = {.logit = m->logit, .weight = m->weight[which][sure], .n = INPUTS};
    for (int i = 0; i < HASHED; i++)
        mixer.input[i] = &m->table[i][(hash[i] * 0x85EBCA6Bu) >> (32 - m->table_bits)];
    mixer.input[HASHED] = &m->plain[which][sure][agrees];
    const int is_it = codec_mixed_pixel_bit(p->b, p->colour == c, &mixer);
    if (!is_it) p->refused[p->n++] = c;
    return is_it;
}

/* Move element i of the list to its front. */
static void use_listed(codec_colour_model *m, uint32_t i, uint32_t colour) {
    memmove(m->list + 1, m->list, i * sizeof *m->list);
    m->list[0] = colour;
}

/* The place of the colour in the list behind `from`, or the number of colours. */
static uint32_t find_listed(const codec_colour_model *m, uint32_t from, uint32_t colour) {
    uint32_t i = from;
    while (i < m->listed && m->list[i] != colour) i++;
    return i;
}

/* A number below 2^RANK_BITS. */
static uint32_t code_rank(codec_pixel_bits *b, codec_colour_model *m, uint32_t rank) {
    uint32_t length = 0, n = 0, value;
    while (rank >> length) length++;
    while (n < RANK_BITS - 1 && codec_pixel_bit_adaptive(b, length > n, &m->length[n])) n++;
    value = n ? 1 : 0;
    for (uint32_t k = n; k-- > 1;) {
        const int bit = (int)(rank >> (k - 1) & 1);
        value = value << 1 | (uint32_t)(k + 1 == n ? codec_pixel_bit_adaptive(b, bit, &m->digit[n])
                                                   : codec_pixel_bit(b, bit, 32768));
    }
    return value;
}

/* A colour further back in the list than those that were tried. */
static uint32_t code_rest(pixel *p, uint32_t from) {
    codec_colour_model *m = p->m;
    uint32_t i = p->b->to ? find_listed(m, from, p->colour) : from;
    i = from + code_rank(p->b, m, i - from);
    if (i >= m->listed) i = m->listed - 1; /* not by an encoder */
    const uint32_t colour = m->list[i];
    use_listed(m, i, colour);
    return colour;
}

/* Is the colour in the list? */
static int is_new(pixel *p) {
    codec_colour_model *m = p->m;
    const codec_plane_contexts *near = &p->near;
    const uint32_t sure = confidence(p->all), tried = (uint32_t)p->n;
    const uint32_t own = codec_hash(0, tried);
    const uint32_t hash[HASHED] = {own,
                                   codec_hash(own, near->two),
                                   codec_hash(own, near->four),
                                   codec_hash(own, near->seven),
                                   codec_hash(own, near->seen[CODEC_N]),
                                   codec_hash(near->shape, tried)};
    codec_mixer mixer = {.logit = m->logit, .weight = m->weight[NEW][sure], .n = INPUTS};
    for (int i = 0; i < HASHED; i++)
        mixer.input[i] = &m->table[i][(hash[i] * 0x85EBCA6Bu) >> (32 - m->table_bits)];
    mixer.input[HASHED] = &m->plain[NEW][sure][m->fresh_run];
    const int found = p->b->to ? find_listed(m, 0, p->colour) < m->listed : 0;
    const int result = codec_mixed_pixel_bit(p->b, !found, &mixer);
    m->fresh_run = (m->fresh_run << 1 | (uint32_t)result) & (AGREEMENTS - 1);
    return result;
}

static uint32_t code_new(pixel *p, codec_colour_kind kind) {
    codec_colour_model *m = p->m;
    const uint32_t colour = codec_new_colour(p->b, &m->fresh, kind, p->near.seen, p->colour);
    if (m->listed < LIST) m->listed++;
    use_listed(m, m->listed - 1, colour);
    return colour;
}

static uint32_t code_listed(pixel *p, codec_colour_kind kind) {
    codec_colour_model *m = p->m;
    uint32_t i = 0;
    if (!m->listed || is_new(p)) return code_new(p, kind);
    for (uint32_t slot = LISTED; i < m->listed && slot < NEW; i++) {
        const uint32_t c = m->list[i];
        if (was_refused(p, c)) continue;
        if (!try_candidate(p, slot++, c)) continue;
        use_listed(m, i, c);
        return c;
    }
    return code_rest(p, i);
}

static void note_followed(followed *f, uint32_t colour) {
    if (f->count && f->colour == colour)
        f->count += f->count < 255;
    else if (f->count > 1)
        f->count /= 4;
    else
        *f = (followed){colour, 1};
}

static uint32_t code_candidates(pixel *p, codec_colour_kind kind) {
    const uint32_t *s = p->near.seen;
    if (p->all->count && try_candidate(p, BY_ALL, p->all->colour)) return p->all->colour;
    if (p->four->count && !was_refused(p, p->four->colour) &&
        try_candidate(p, BY_FOUR, p->four->colour))
        return p->four->colour;
    static const uint8_t neighbour[] = {CODEC_W, CODEC_N, CODEC_NE, CODEC_NW};
    for (uint32_t k = 0; k < sizeof neighbour; k++) {
        const uint32_t c = s[neighbour[k]];
        if (!was_refused(p, c) && try_candidate(p, LEFT + k, c)) return c;
    }
    return code_listed(p, kind);
}

/* Code the pixel at *at. */
static void code_pixel(codec_colour_model *m, codec_pixel_bits *b, codec_colour_kind kind,
                       uint32_t *at, size_t stride) {
    pixel p = {.m = m, .b = b, .colour = *at};
    codec_plane_contexts_find(&p.near, at, stride);
    const int shift = 32 - m->table_bits;
    p.all = &m->by_all[(p.near.all * 0x85EBCA6Bu) >> shift];
    p.four = &m->by_four[(p.near.four * 0x85EBCA6Bu) >> shift];
    uint32_t colour;
    if (p.near.flat) { /* most pixels of most drawings */
        const uint32_t c = p.near.seen[CODEC_W];
        if (codec_pixel_bit_adaptive(b, p.colour == c, &m->flat[codec_hash(0, c) >> 24])) {
            *at = c;
            return;
        }
        p.refused[p.n++] = c;
        if (p.all->colour == c) p.all->count = 0;
        if (p.four->colour == c) p.four->count = 0;
    }
    colour = code_candidates(&p, kind);
    note_followed(p.all, colour);
    note_followed(p.four, colour);
    *at = colour;
}

/* --- a plane ------------------------------------------------------------------------------- */

static int is_constant(const codec_colour_plane *p) {
    for (uint32_t y = 0; y < p->height; y++)
        for (uint32_t x = 0; x < p->width; x++)
            if (codec_plane_row(p, y)[x] != p->background) return 0;
    return 1;
}

/* Set the margins, or all. */
static void fill(codec_colour_plane *p, int all) {
    const size_t stride = codec_plane_stride(p->width);
    const uint64_t n = codec_plane_elements(p->width, p->height);
    for (uint64_t i = 0; i < n; i++) {
        const size_t x = i % stride, y = i / stride;
        if (all || y < CODEC_PLANE_MARGIN || x < CODEC_PLANE_MARGIN ||
            x >= p->width + (size_t)CODEC_PLANE_MARGIN)
            p->colour[i] = p->background;
    }
}

/* Is it in one of the first places of the list, or else which colour is it? */
static void code_background(codec_colour_model *m, codec_pixel_bits *b, codec_colour_plane *p) {
    pixel of = {.m = m, .b = b, .colour = p->background};

    followed nothing = {0, 0};
    of.all = of.four = &nothing;
    p->background = code_listed(&of, p->kind);
}

void codec_colour_plane_code(codec_colour_model *m, codec_pixel_bits *b, codec_colour_plane *p) {
    const size_t stride = codec_plane_stride(p->width);
    p->known = 0;
    code_background(m, b, p);
    p->begun = !b->starved;
    fill(p, !b->to);
    if (!p->begun) return;
    if (codec_pixel_bit_adaptive(b, b->to ? is_constant(p) : 0, &m->constant)) {
        p->known = (uint64_t)p->width * p->height;
        return;
    }
    for (uint32_t y = 0; y < p->height; y++) {
        uint32_t *row = codec_plane_row(p, y);
        for (uint32_t x = 0; x < p->width; x++) {
            code_pixel(m, b, p->kind, row + x, stride);
            if (b->to && b->to->out->status != TAPER_OK) return; /* no place for more */
            if (b->starved) {
                row[x] = p->background;
                return;
            }
            p->known++;
        }
    }
}
