/* pace.c -- see pace.h. */
#include "pace.h"
#include "metrics.h"
#include <stdlib.h>
#include <string.h>

enum {
    DENSE = 160,      /* bytes from the start that are all looked at */
    LATE_CUTS = 160,  /* cuts that the grid leaves, about */
    LATE_SIXTEENTHS = 9, /* of the data: where the grid begins */
    MOST_DRAWN = 2000, /* cuts that are drawn before the search ends with the best that it has */
    DOUBLINGS = 6,     /* of the grid's step, and halvings of where it begins */
    PHASES = 8,        /* of a grid that are tried */
    MOST_HOLDS = 16
};

/* Falls below the best of all shorter cuts, dB. */
static const double enough = 0.042; /* at most, with some room below the promised 0.05 */
/* In a stride, so that the cuts between are not looked at: of 1,024 pixels, of all. */
static const double rise = 0.08, least_rise = 0.02;

/* --- originals ------------------------------------------------------------------------- */

static size_t image_bytes(const taper_image *image) {
    return (size_t)image->width * image->height * image->channels * (image->depth / 8u);
}

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
    copy.pixels = malloc(image_bytes(image));
    if (!copy.pixels) return TAPER_ERR_NOMEM;
    memcpy(copy.pixels, image->pixels, image_bytes(image));
    o->image[o->n++] = copy;
    return TAPER_OK;
}

void codec_originals_free(codec_originals *o) {
    drop_images(o);
    *o = (codec_originals){0};
}

/* --- cuts ------------------------------------------------------------------------------ */

/* What is known of the cuts of a container. */
typedef struct cuts {
    const taper_model *model;
    const formats_buffer *file;
    const codec_originals *originals;
    uint64_t front, data; /* bytes */
    double rise;          /* enough of it to pass over what lies between: less noise, less rise */
    double *psnr;         /* [data + 1] the set's mean, < 0: not drawn yet */
    taper_decoder *decoder;
    uint64_t pushed; /* of the data */
    uint32_t drawn;  /* cuts */
    taper_status status;
} cuts;

static taper_status push_to(cuts *c, uint64_t bytes) {
    const uint8_t *from = c->file->data;
    if (!c->decoder || bytes < c->pushed) {
        taper_decoder_free(c->decoder);
        TAPER_TRY(taper_decoder_new(&c->decoder, c->model, NULL, NULL));
        TAPER_TRY(taper_decoder_push(c->decoder, from, (size_t)c->front, NULL));
        c->pushed = 0;
    }
    from += c->front + c->pushed;
    TAPER_TRY(taper_decoder_push(c->decoder, from, (size_t)(bytes - c->pushed), NULL));
    c->pushed = bytes;
    return TAPER_OK;
}

static taper_status draw_mean(cuts *c, double *mean) {
    double sum = 0, mse = 0;
    for (size_t i = 0; i < c->originals->n; i++) {
        const taper_image *original = &c->originals->image[i];
        taper_image out = *original;
        out.pixels = malloc(image_bytes(original));
        if (!out.pixels) return TAPER_ERR_NOMEM;
        taper_status status = taper_decoder_render(c->decoder, i, &out, NULL, NULL);
        if (status == TAPER_OK) status = codec_mse(original, &out, &mse, NULL);
        free(out.pixels);
        TAPER_TRY(status);
        sum += codec_psnr_db(mse);
    }
    *mean = sum / (double)c->originals->n;
    return TAPER_OK;
}

/* The PSNR of the cut after so many bytes of the data. */
static double psnr_at(cuts *c, uint64_t bytes) {
    if (c->psnr[bytes] < 0 && c->status == TAPER_OK) {
        c->drawn++;
        c->status = push_to(c, bytes);
        if (c->status == TAPER_OK) c->status = draw_mean(c, &c->psnr[bytes]);
    }
    return c->psnr[bytes];
}

/* The deepest fall of this pace below the best before it, up to so many bytes; or some fall above
 * `most`. Every `stride` bytes, and all between where these do not rise. */
static double deepest_fall(cuts *c, uint32_t pace, uint64_t end, uint64_t stride, double most) {
    double best = 0, deepest = 0;
    formats_pace parts = formats_pace_parts(pace);
    uint64_t grid = parts.log2_step ? parts.grid_at : UINT64_MAX, looked = 0;
    for (uint64_t s = 0; s <= end && deepest <= most; s++) {
        if (formats_pace_drawn(pace, s) != s && s < c->data) continue;
        uint64_t next = s + stride - 1;
        if (s >= DENSE && s >= looked && next < end && next < grid) {
            looked = s + stride;
            if (psnr_at(c, next) >= best + c->rise) s = next;
        }
        double psnr = psnr_at(c, s);
        if (best - psnr > deepest) deepest = best - psnr;
        if (psnr > best) best = psnr;
    }
    return deepest;
}

/* --- choice ---------------------------------------------------------------------------- */

/* What a pace costs: of the bytes of a cut, those that are not drawn, in the mean of all cuts. */
static double cost_of(const cuts *c, uint32_t pace) {
    double sum = 0;
    for (uint64_t s = 0; s < c->data; s++)
        sum += (double)(s - formats_pace_drawn(pace, s)) / (double)(c->front + s);
    return sum / (double)(c->data + 1);
}

/* The first of the cuts looked at that falls too far; end + 1: none. */
static uint64_t reach_of(cuts *c, uint32_t pace, uint64_t end) {
    double best = 0;
    for (uint64_t s = 0; s <= end; s++) {
        if (formats_pace_drawn(pace, s) != s) continue;
        double psnr = psnr_at(c, s);
        if (psnr < best - enough) return s;
        if (psnr > best) best = psnr;
    }
    return end + 1;
}

/* Holds in the bytes that come first, none to begin with, each the shortest of those that keep
 * these from falling up to some place. */
static uint32_t list_holds(cuts *c, formats_pace *list) {
    uint64_t end = c->data < DENSE ? c->data : DENSE, reach = reach_of(c, 0, end);
    uint32_t n = 0;
    list[n++] = (formats_pace){0};
    for (uint32_t hold = 2; hold <= FORMATS_PACE_MOST_HOLD; hold++)
        for (uint32_t at = 0; at + hold <= end && reach <= end && n < MOST_HOLDS; at++) {
            formats_pace pace = {.hold_at = at, .hold = hold};
            uint64_t its = at < reach ? reach_of(c, formats_pace_pack(pace), end) : 0;
            if (its > reach) list[n++] = pace, reach = its;
        }
    return n;
}

/* The best that was found. */
typedef struct choice {
    uint32_t pace;
    double fall, cost;
} choice;

static int is_good(const choice *best) { return best->fall <= enough; }

/* Does this pace keep the cuts from falling? */
static int try_pace(cuts *c, formats_pace pace, uint64_t stride, choice *best) {
    uint32_t packed = formats_pace_pack(pace);
    double cost = cost_of(c, packed);
    if (is_good(best) && cost >= best->cost) return 0;
    double fall = deepest_fall(c, packed, c->data, stride, is_good(best) ? enough : best->fall);
    if (fall <= enough || fall < best->fall) *best = (choice){packed, fall, cost};
    return fall <= enough;
}

static uint32_t late_step(uint64_t late) {
    uint32_t log2 = 0;
    while (late >> log2 > LATE_CUTS && log2 < FORMATS_PACE_MOST_STEP) log2++;
    return log2;
}

/* With this hold, grids from fine and late to coarse and early, until one does. */
static void try_grids(cuts *c, formats_pace pace, choice *best) {
    uint64_t late = c->data * LATE_SIXTEENTHS / 16, end = pace.hold_at + pace.hold;
    uint32_t least = late_step(c->data - late);
    for (uint32_t sum = 0; sum <= 2 * DOUBLINGS; sum++)
        for (uint32_t halvings = 0; halvings <= sum && halvings <= DOUBLINGS; halvings++) {
            pace.log2_step = least + sum - halvings;
            if (pace.log2_step > FORMATS_PACE_MOST_STEP) continue;
            uint32_t step = 1u << pace.log2_step, phases = step < PHASES ? step : PHASES;
            for (uint32_t phase = 0; phase < phases; phase++) {
                uint64_t at = late >> halvings > end ? late >> halvings : end;
                at += phase * step / phases;
                if (c->drawn > MOST_DRAWN || c->status != TAPER_OK) return;
                if (at > FORMATS_PACE_MOST_GRID_AT) continue;
                pace.grid_at = (uint32_t)at;
                if (try_pace(c, pace, (uint64_t)1 << least, best)) return;
            }
        }
}

static uint32_t choose(cuts *c) {
    formats_pace hold[MOST_HOLDS];
    uint32_t n = list_holds(c, hold);
    choice best = {.fall = 1e9};
    for (uint32_t i = n; i-- > 0;) try_grids(c, hold[i], &best);
    return best.pace;
}

taper_status codec_pace_choose(const taper_model *model, const formats_buffer *file,
                               const codec_originals *originals, uint32_t *pace) {
    *pace = 0;
    cuts c = {.model = model, .file = file, .originals = originals};
    if (!originals->n) return TAPER_OK;
    TAPER_TRY(formats_front_need(file->data, file->size, &c.front, NULL));
    c.data = file->size - c.front;
    c.rise = rise * 1024 / (double)originals->pixels;
    c.rise = c.rise > rise ? rise : c.rise < least_rise ? least_rise : c.rise;
    c.psnr = malloc((size_t)(c.data + 1) * sizeof *c.psnr);
    if (!c.psnr) return TAPER_ERR_NOMEM;
    for (uint64_t i = 0; i <= c.data; i++) c.psnr[i] = -1;
    *pace = choose(&c);
    if (c.status != TAPER_OK) *pace = 0;
    taper_decoder_free(c.decoder);
    free(c.psnr);
    return c.status;
}
