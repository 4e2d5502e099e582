/* holds.c -- see holds.h.
 *
 * A search over cuts by dynamic programming. A state is a cut where a hold ends, and the number of
 * records used so far. Its value is the highest PSNR rendered so far. A lower value leaves fewer
 * later cuts below it, so the lower of two values of a state is kept. */
#include "codec/container/holds.h"
#include "formats/holds.h"
#include <math.h>
#include <stdlib.h>

enum {
    RECORDS = FORMATS_HOLD_RECORDS,
    MOST_SIZE = 2 * FORMATS_HOLD_MOST, /* of two records, before scaling */
    MOST_STEPS = 1 << 22               /* a search with more steps fails */
};

/* The tolerated falls below the best of all shorter cuts, in dB, tried in this order. The aim is
 * 0.05 up to about 43 dB and 0.5 above. The values are slightly smaller, as decoders may differ in
 * the last digit of a sum. */
static const struct tolerance {
    double low, high;
} tolerances[] = {{0.045, 0.045}, {0.045, 0.1}, {0.045, 0.25}, {0.045, 0.35},
                  {0.045, 0.48},  {0.1, 0.48},  {0.15, 0.48},  {0.2, 0.48},
                  {0.3, 0.48},    {0.4, 0.48},  {0.48, 0.48},  {0.48, 0.75},
                  {0.48, 1},      {0.75, 1},    {0.75, 1.5},   {1, 1.5}};
static const double high_from_db = 43, wider = 1.25;

typedef struct state {
    double best;    /* the highest PSNR rendered so far; INFINITY: not reached */
    uint32_t start; /* the cut where the hold that ends here starts */
    uint32_t from;  /* the previous state */
} state;

typedef struct search {
    const codec_cut_quality *q;
    struct tolerance tolerance;
    double loss;
    uint32_t scale;
    state *state; /* [RECORDS + 1][cuts] */
    uint64_t steps;
    uint8_t records[MOST_SIZE + 1]; /* records that a size needs: 1 or 2; 0: not representable */
} search;

static double least_after(const struct tolerance *t, double best) {
    return best - (best < high_from_db ? t->low : t->high);
}

static int falls(const codec_cut_quality *q, const struct tolerance *t) {
    double best = q->psnr[0];
    for (size_t s = 1; s < q->n; s++) {
        if (q->psnr[s] < least_after(t, best)) return 1;
        if (q->psnr[s] > best) best = q->psnr[s];
    }
    return 0;
}

/* --- sizes in records ------------------------------------------------------------------ */

static void count_records(search *w) {
    for (uint32_t a = 1; a < FORMATS_HOLD_CODES; a++)
        for (uint32_t b = 1; b < FORMATS_HOLD_CODES; b++)
            w->records[formats_hold_bytes(a) + formats_hold_bytes(b)] = 2;
    for (uint32_t a = 1; a < FORMATS_HOLD_CODES; a++) w->records[formats_hold_bytes(a)] = 1;
}

static uint32_t records_of(const search *w, uint64_t size) {
    uint64_t scaled = size >> w->scale;
    return scaled << w->scale == size && scaled <= MOST_SIZE ? w->records[scaled] : 0;
}

/* The records of a hold up to the end. It may be longer than the data: the complete data are always
 * rendered. */
static uint32_t records_to_end(const search *w, uint64_t size) {
    uint64_t most = (uint64_t)FORMATS_HOLD_MOST << w->scale;
    return size <= most ? 1 : size <= 2 * most ? 2 : 0;
}

/* The codes of a size: two, the second 0 if one is enough. If the size is not representable, the
 * next larger one. */
static void codes_of(const search *w, uint64_t size, uint8_t code[2]) {
    uint64_t scaled = size >> w->scale;
    code[0] = code[1] = FORMATS_HOLD_CODES - 1; /* to the end */
    for (uint8_t b = 0; b < FORMATS_HOLD_CODES; b++)
        for (uint8_t a = 0; a < FORMATS_HOLD_CODES; a++)
            if (formats_hold_bytes(a) + (uint64_t)formats_hold_bytes(b) == scaled &&
                scaled << w->scale == size) {
                code[0] = a, code[1] = b;
                return;
            }
    if (records_to_end(w, size) == 1) code[1] = 0;
}

/* --- the search ------------------------------------------------------------------------ */

/* Extend state `from`, with `used` records, by a hold that starts at cut s, to all possible ends.
 */
static void try_ends(search *w, uint32_t from, size_t s, uint32_t used, double best) {
    const codec_cut_quality *q = w->q;
    for (size_t to = s + 2; to < q->n; to++) {
        if (q->psnr[to - 1] > q->psnr[s] + w->loss) return;
        w->steps++;
        if (q->psnr[to] < least_after(&w->tolerance, best)) continue;
        uint64_t size = q->bytes[to] - q->bytes[s];
        uint32_t records = to + 1 == q->n ? records_to_end(w, size) : records_of(w, size);
        if (!records || used + records > RECORDS) continue;
        state *reached = &w->state[(used + records) * q->n + to];
        double now = fmax(best, q->psnr[to]);
        if (now < reached->best) *reached = (state){now, (uint32_t)s, from};
    }
}

/* Advance from a state without a hold, to the first cut that falls too far. Returns 1 if the end
 * is reached. */
static int walk(search *w, uint32_t from) {
    const codec_cut_quality *q = w->q;
    uint32_t used = (uint32_t)(from / q->n);
    size_t first = from % q->n;
    double best = w->state[from].best;
    for (size_t s = first; s + 1 < q->n && w->steps < MOST_STEPS; w->steps++) {
        uint64_t gap = q->bytes[s] - q->bytes[first];
        uint32_t records = from == 0 && s == 0 ? 1 : records_of(w, gap);
        if (records && used + records <= RECORDS) try_ends(w, from, s, used + records - 1, best);
        s++;
        if (q->psnr[s] < least_after(&w->tolerance, best)) return 0;
        if (q->psnr[s] > best) best = q->psnr[s];
    }
    return w->steps < MOST_STEPS;
}

static void write_hold(const search *w, uint64_t gap, uint64_t length, formats_hold_record *record,
                       uint32_t *n) {
    uint8_t gaps[2], lengths[2];
    codes_of(w, gap, gaps);
    codes_of(w, length, lengths);
    if (gaps[1]) record[(*n)++] = (formats_hold_record){gaps[0], 0};
    record[(*n)++] = (formats_hold_record){gaps[1] ? gaps[1] : gaps[0], lengths[0]};
    if (lengths[1]) record[(*n)++] = (formats_hold_record){0, lengths[1]};
}

/* The holds on the path to this state, as the header stores them. */
static uint64_t pack(const search *w, uint32_t last) {
    formats_hold_record record[RECORDS] = {{0}};
    uint32_t way[RECORDS], holds = 0, n = 0;
    for (uint32_t at = last; at; at = w->state[at].from) way[holds++] = at;
    uint64_t end = 0;
    while (holds--) {
        uint64_t to = w->q->bytes[way[holds] % w->q->n];
        uint64_t start = w->q->bytes[w->state[way[holds]].start];
        write_hold(w, start - end, to - start, record, &n);
        end = to;
    }
    return formats_holds_pack(record, w->scale);
}

/* Returns 1 if holds within the tolerance were found. */
static int find_holds(search *w, uint64_t *holds) {
    size_t states = (RECORDS + 1) * w->q->n;
    for (size_t i = 0; i < states; i++) w->state[i].best = INFINITY;
    w->state[0] = (state){w->q->psnr[0], 0, 0};
    w->steps = 0;
    for (uint32_t i = 0; i < states; i++) {
        if (w->state[i].best == INFINITY || !walk(w, i)) continue;
        *holds = pack(w, i);
        return 1;
    }
    return 0;
}

static int find_at_any_scale(search *w, uint64_t *holds) {
    uint64_t data = w->q->bytes[w->q->n - 1];
    for (w->scale = 0; w->scale <= FORMATS_HOLD_MOST_SCALE; w->scale++) {
        if (find_holds(w, holds)) return 1;
        if (data >> w->scale <= FORMATS_HOLD_MOST) return 0;
    }
    return 0;
}

taper_status codec_holds_choose(const codec_cut_quality *q, uint64_t *holds) {
    enum { TOLERANCES = sizeof tolerances / sizeof *tolerances };
    search w = {.q = q, .state = malloc((RECORDS + 1) * q->n * sizeof *w.state)};
    int sparse = q->bytes[q->n - 1] >= q->n;
    double loss = sparse ? CODEC_HOLD_SPARSE_LOSS_DB : CODEC_HOLD_LOSS_DB;
    if (!w.state) return TAPER_ERR_NOMEM;
    count_records(&w);
    *holds = 0;
    for (uint32_t i = 0, found = 0; !found; i++) {
        if (i < TOLERANCES)
            w.tolerance = tolerances[i];
        else
            w.tolerance.low = w.tolerance.high *= wider;
        found = !falls(q, &w.tolerance);
        for (w.loss = 0; !found && w.loss <= loss; w.loss += loss)
            found = (uint32_t)find_at_any_scale(&w, holds);
    }
    free(w.state);
    return TAPER_OK;
}

size_t codec_holds_end(const codec_cut_quality *q) {
    const double worth = 0.05;
    size_t best = 0;
    for (size_t i = 1; i < q->n; i++)
        if (q->psnr[i] > q->psnr[best]) best = i;
    return q->psnr[best] > q->psnr[q->n - 1] + worth ? best : q->n - 1;
}
