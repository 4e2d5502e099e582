/* pace.c -- see pace.h. */
#include "codec/container/pace.h"
#include "codec/quality/metrics.h"
#include "codec/taper.h"
#include "formats/image.h"
#include <stdlib.h>
#include <string.h>

enum {
    MOST_WORK = 3 << 19, /* cuts times pixels, up to which every cut is rendered; above, those of 8
                            leading bits, some 128 an octave */
    WAIT = 8, /* a kind of grid: none but the whole is rendered; others: log2_step, thin; 0: none */
    TAILS
};

/* A fall below the best of all shorter cuts that is looked for, dB: below the promised 0.05, since
 * decoders may differ in the last place of a sum. */
static const double enough = 0.045;

/* --- originals ------------------------------------------------------------------------- */

static void drop_images(codec_originals *o) {
    for (size_t i = 0; i < o->n; i++) free(o->image[i].pixels);
    free(o->image);
    o->image = NULL, o->n = 0;
}

taper_status codec_originals_add(codec_originals *o, const taper_image *image) {
    o->pixels += (uint64_t)image->width * image->height;
    if (o->pixels > CODEC_PACE_PIXELS) {
        drop_images(o);
        return TAPER_OK;
    }
    taper_image *more = realloc(o->image, (o->n + 1) * sizeof *more), copy = *image;
    if (!more) return TAPER_ERR_NOMEM;
    o->image = more;
    copy.pixels = malloc(formats_image_bytes(image));
    if (!copy.pixels) return TAPER_ERR_NOMEM;
    memcpy(copy.pixels, image->pixels, formats_image_bytes(image));
    o->image[o->n++] = copy;
    return TAPER_OK;
}

void codec_originals_free(codec_originals *o) {
    drop_images(o);
    *o = (codec_originals){0};
}

/* --- cuts ------------------------------------------------------------------------------ */

/* What follows a cut if all steps from it on are of one kind. */
typedef struct tail {
    double *least; /* [data + 1] PSNR of it and of all after it */
    double *fall;  /* [data + 1] the deepest of these below one before them */
    double *cost;  /* [data + 1] */
} tail;

/* What is known of the cuts of a container. */
typedef struct cuts {
    const codec_originals *originals;
    uint64_t front, data;    /* bytes */
    int all;                 /* every cut is rendered, or those alone that a sparse pace renders */
    double *psnr;            /* [data + 1] the set's mean; < 0: not rendered */
    double *inverse, *moved; /* [data + 1] sums over the cuts before: 1 / size, bytes / size */
    double *best, *paid; /* [data + 1] with the hold that is tried, before a cut without a grid: the
                            best PSNR, and what was paid */
    tail tail[TAILS];
    double *memory; /* of all these */
    void *pixels;   /* room for any of the images */
    taper_decoder *decoder;
} cuts;

static taper_status render_mean(cuts *c, double *mean) {
    double sum = 0, mse = 0;
    for (size_t i = 0; i < c->originals->n; i++) {
        const taper_image *original = &c->originals->image[i];
        taper_image out = *original;
        out.pixels = c->pixels;
        taper_status status = taper_decoder_render(c->decoder, i, &out, NULL, NULL);
        if (status == TAPER_OK) status = codec_mse(original, &out, &mse, NULL);
        TAPER_TRY(status);
        sum += codec_psnr_db(mse);
    }
    *mean = sum / (double)c->originals->n;
    return TAPER_OK;
}

/* The next cut that is rendered: before the grid, kind 0, or on it. */
static uint64_t next_cut(const cuts *c, int sparse, uint32_t kind, uint64_t s) {
    if (kind == WAIT) return c->data;
    uint32_t step = sparse ? formats_pace_spacing(kind, s) : kind;
    uint64_t next = sparse ? ((s >> step) + 1) << step : s + ((uint64_t)1 << step);
    return next < c->data ? next : c->data;
}

static int is_sparse(uint64_t s) {
    uint32_t step = formats_pace_spacing(0, s);
    return s >> step << step == s;
}

/* In rising order, so that nothing is decoded twice. The file has no pace yet. */
static taper_status render_cuts(cuts *c, const taper_model *model, const formats_buffer *file) {
    const uint8_t *data = file->data + c->front;
    TAPER_TRY(taper_decoder_new(&c->decoder, model, NULL, NULL));
    TAPER_TRY(taper_decoder_push(c->decoder, file->data, (size_t)c->front, NULL));
    TAPER_TRY(render_mean(c, &c->psnr[0]));
    for (uint64_t s = 0, next; s < c->data; s = next) {
        next = next_cut(c, !c->all, 0, s);
        TAPER_TRY(taper_decoder_push(c->decoder, data + s, (size_t)(next - s), NULL));
        TAPER_TRY(render_mean(c, &c->psnr[next]));
    }
    return TAPER_OK;
}

static taper_status take_memory(cuts *c) {
    enum { LISTS = 5 + 3 * TAILS };
    size_t n = (size_t)c->data + 1;
    size_t most = 1;
    for (size_t i = 0; i < c->originals->n; i++) {
        size_t bytes = formats_image_bytes(&c->originals->image[i]);
        if (bytes > most) most = bytes;
    }
    c->pixels = malloc(most);
    double *at = c->memory = malloc(LISTS * n * sizeof *at);
    if (!at || !c->pixels) return TAPER_ERR_NOMEM;
    c->psnr = at, c->inverse = at + n, c->moved = at + 2 * n, c->best = at + 3 * n,
    c->paid = at + 4 * n;
    for (uint32_t i = 0; i < TAILS; i++) {
        double *of = at + (5 + 3 * i) * n;
        c->tail[i] = (tail){of, of + n, of + 2 * n};
    }
    c->inverse[0] = c->moved[0] = 0;
    for (uint64_t s = 0; s <= c->data; s++) c->psnr[s] = -1;
    for (uint64_t s = 0; s < c->data; s++) {
        c->inverse[s + 1] = c->inverse[s] + 1 / (double)(c->front + s);
        c->moved[s + 1] = c->moved[s] + (double)s / (double)(c->front + s);
    }
    return TAPER_OK;
}

/* --- choice ---------------------------------------------------------------------------- */

/* The cost of a pace: of the bytes of a cut the fraction that is not rendered, summed over all
 * cuts. Of those from s to before `next`, which are all rendered as s: */
static double cost_of(const cuts *c, uint64_t s, uint64_t next) {
    return c->moved[next] - c->moved[s] - (double)s * (c->inverse[next] - c->inverse[s]);
}

static void follow_all(cuts *c, int sparse) {
    for (uint32_t kind = 0; kind < TAILS; kind++) {
        tail *t = &c->tail[kind];
        t->least[c->data] = c->psnr[c->data], t->fall[c->data] = t->cost[c->data] = 0;
        for (uint64_t s = c->data; s-- > 0;) {
            if (c->psnr[s] < 0) continue;
            uint64_t next = next_cut(c, sparse, kind, s);
            double fall = c->psnr[s] - t->least[next];
            t->fall[s] = fall > t->fall[next] ? fall : t->fall[next];
            t->least[s] = fall > 0 ? t->least[next] : c->psnr[s];
            t->cost[s] = t->cost[next] + cost_of(c, s, next);
        }
    }
}

/* The cheapest that was found of those that do not fall by more than `most`. */
typedef struct choice {
    double most, cost;
    formats_pace pace;
} choice;

/* Go on from `end`, without a grid; to the first cut that falls too far, or the last. */
static uint64_t walk(cuts *c, int sparse, uint64_t end, double best, double paid, double most) {
    uint64_t s = end;
    for (;;) {
        c->best[s] = best, c->paid[s] = paid;
        if (c->psnr[s] < best - most || s == c->data) return s;
        if (c->psnr[s] > best) best = c->psnr[s];
        uint64_t next = next_cut(c, sparse, 0, s);
        paid += cost_of(c, s, next);
        s = next;
    }
}

/* The pace with a grid of this kind from s on, or after its hold. */
static formats_pace with_grid(formats_pace pace, uint32_t kind, uint64_t s) {
    if (!kind) return pace;
    pace.grid_at = (uint32_t)s;
    if (kind == WAIT) pace.hold = kind = 1;
    *(pace.sparse ? &pace.thin : &pace.log2_step) = kind;
    return pace;
}

/* With a hold, or none, that ends at `end`: each kind of grid where it can begin latest. */
static void try_grids(const cuts *c, formats_pace pace, uint64_t end, uint64_t last,
                      choice *found) {
    for (uint32_t kind = 0; kind < (pace.hold ? WAIT : TAILS); kind++) {
        const tail *t = &c->tail[kind];
        for (uint64_t s = last + 1; s-- > end;) {
            int stored = pace.sparse ? is_sparse(s) : s <= FORMATS_PACE_MOST_GRID_AT;
            if (s > end && !stored && (pace.sparse || kind)) continue;
            double cost = c->paid[s] + t->cost[s];
            if (cost >= found->cost) break; /* and more, the earlier it begins */
            if (t->fall[s] > found->most || c->best[s] - t->least[s] > found->most) continue;
            found->cost = cost, found->pace = with_grid(pace, kind, s > end ? s : 0);
            break;
        }
    }
}

static void try_holds(cuts *c, int sparse, choice *found) {
    formats_pace pace = {.sparse = (uint32_t)sparse};
    double before[FORMATS_PACE_MOST_HOLD_AT + 1];
    uint64_t last = walk(c, sparse, 0, 0, 0, found->most);
    try_grids(c, pace, 0, last, found);
    uint32_t places =
        last < sizeof before / sizeof *before ? (uint32_t)last : FORMATS_PACE_MOST_HOLD_AT + 1;
    for (uint32_t at = 0; at < places; at++)
        before[at] = c->psnr[at] > c->best[at] ? c->psnr[at] : c->best[at];
    for (pace.hold = 2; pace.hold <= FORMATS_PACE_MOST_HOLD; pace.hold++)
        for (pace.hold_at = 0; pace.hold_at < places; pace.hold_at++) {
            uint64_t end = pace.hold_at + pace.hold;
            if (end > c->data || c->psnr[end] < 0) continue;
            double cost = cost_of(c, pace.hold_at, end);
            if (cost >= found->cost) continue;
            last = walk(c, sparse, end, before[pace.hold_at], cost, found->most);
            try_grids(c, pace, end, last, found);
        }
}

/* The cheapest pace that keeps the cuts from falling. There is one, as the whole is better than
 * nothing: to wait for it; if it is not, one that lets them fall not much further than need be. */
static uint32_t choose(cuts *c) {
    choice found = {.most = enough, .cost = 1e300};
    for (; found.cost == 1e300; found.most *= 1.25)
        for (int sparse = !c->all; sparse <= 1; sparse++) {
            follow_all(c, sparse);
            try_holds(c, sparse, &found);
        }
    return formats_pace_pack(found.pace);
}

taper_status codec_pace_choose(const taper_model *model, const formats_buffer *file,
                               const codec_originals *originals, uint32_t *pace) {
    *pace = 0;
    cuts c = {.originals = originals};
    if (!originals->n) return TAPER_OK;
    TAPER_TRY(formats_front_need(file->data, file->size, &c.front, NULL));
    c.data = file->size - c.front;
    c.all = c.data * originals->pixels <= MOST_WORK;
    taper_status status = take_memory(&c);
    if (status == TAPER_OK) status = render_cuts(&c, model, file);
    if (status == TAPER_OK) *pace = choose(&c);
    taper_decoder_free(c.decoder);
    free(c.memory), free(c.pixels);
    return status;
}
