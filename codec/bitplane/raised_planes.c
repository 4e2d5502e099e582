/* raised_planes.c -- see raised_planes.h. */
#include "codec/bitplane/raised_planes.h"
#include <stdlib.h>
#include <string.h>

/* A raised plane that is not in the order yet. */
typedef struct raised_pass {
    uint32_t at;       /* the model's pass that follows it */
    uint32_t rd_slope; /* may exceed 255 */
    codec_pass pass;
} raised_pass;

int codec_raised_planes_fit(const codec_code_tables *t, const formats_raised *raised, uint32_t n) {
    if (t->density) return !n;
    for (uint32_t i = 0; i < n; i++)
        if (raised[i].unit >= t->units ||
            t->planes[raised[i].unit] + raised[i].planes > CODEC_MAX_PLANES)
            return 0;
    return 1;
}

uint32_t codec_raised_planes_count(const formats_raised *raised, uint32_t n) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += raised[i].planes;
    return sum;
}

/* What is needed to put the raised planes in order. */
typedef struct sorting {
    raised_pass *pass; /* [planes] */
    uint32_t *first;   /* [units + 1] index of a unit's first slope */
} sorting;

/* Lay out the arrays that are not the model's. */
static void lay_out(codec_code_tables *out, sorting *by, const codec_code_tables *model,
                    uint64_t planes, formats_layout *at) {
    const uint64_t passes = model->n_passes + planes + 1;
    out->planes = formats_lay(at, model->units, 1);
    if (model->head_depth) out->head_depth = formats_lay(at, model->units, 1);
    out->pass = formats_lay(at, passes, sizeof *out->pass);
    out->model_pass = formats_lay(at, passes, sizeof *out->model_pass);
    by->pass = formats_lay(at, planes, sizeof *by->pass);
    by->first = formats_lay(at, model->units + (uint64_t)1, sizeof *by->first);
}

uint64_t codec_raised_planes_bytes(const codec_code_tables *model, uint64_t planes) {
    codec_code_tables counted;
    sorting by;
    formats_layout at = {0};
    if (planes) lay_out(&counted, &by, model, planes, &at);
    return at.used;
}

/* The slope of the model's pass i. first: [units] index of a unit's first slope. */
static uint32_t rd_slope_of(const codec_code_tables *t, const uint32_t *first, uint32_t i) {
    codec_pass pass = t->pass[i];
    return t->rd_slope[first[pass.unit] + pass.depth * t->fractions + pass.fraction];
}

/* The first pass of the model whose slope is not larger. */
static uint32_t place_of(const codec_code_tables *t, const uint32_t *first, uint32_t rd_slope) {
    uint32_t low = 0, high = t->n_passes;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (rd_slope_of(t, first, middle) > rd_slope)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int compare(const void *a, const void *b) {
    const raised_pass *x = a, *y = b;
    if (x->rd_slope != y->rd_slope) return x->rd_slope < y->rd_slope ? 1 : -1;
    return x->pass.unit < y->pass.unit ? -1 : x->pass.unit > y->pass.unit;
}

/* Sort all raised planes by descending slope, then ascending unit. */
static void sort_raised(const codec_code_tables *t, const formats_raised *raised, uint32_t n,
                        const sorting *by) {
    uint32_t *first = by->first, count = 0;
    for (uint32_t u = 0; u < t->units; u++) first[u + 1] = first[u] + t->planes[u] * t->fractions;
    uint32_t least = t->n_passes ? rd_slope_of(t, first, t->n_passes - 1) : 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t u = raised[i].unit, own = t->planes[u] ? t->rd_slope[first[u]] : least;
        for (uint32_t above = raised[i].planes; above; above--) {
            uint32_t rd_slope = own + 16 * above, depth = raised[i].planes - above;
            by->pass[count++] =
                (raised_pass){place_of(t, first, rd_slope),
                              rd_slope,
                              {(uint16_t)u, (uint8_t)depth, (uint8_t)(t->fractions - 1)}};
        }
    }
    qsort(by->pass, count, sizeof *by->pass, compare);
}

/* Merge the model's passes and the raised ones into out, whose planes are already raised. */
static void merge(const codec_code_tables *model, const raised_pass *raised, uint32_t n,
                  codec_code_tables *out) {
    uint32_t next = 0, at = 0;
    for (uint32_t i = 0; i <= model->n_passes; i++) {
        for (; next < n && raised[next].at == i; next++, at++) {
            out->pass[at] = raised[next].pass;
            out->model_pass[at] = i;
        }
        out->model_pass[at] = i;
        if (i == model->n_passes) break;
        codec_pass pass = model->pass[i];
        pass.depth = (uint8_t)(pass.depth + out->planes[pass.unit] - model->planes[pass.unit]);
        out->pass[at++] = pass;
    }
    out->n_passes = at;
}

taper_status codec_raised_planes_make(codec_code_tables *out, const codec_code_tables *model,
                                      const formats_raised *raised, uint32_t n,
                                      formats_account *account, taper_error *error) {
    const uint32_t more = codec_raised_planes_count(raised, n);
    codec_code_tables t = *model; /* a shallow copy, except for what is laid out */
    sorting by;
    formats_layout at = {0};
    memset(out, 0, sizeof *out);
    if (!codec_raised_planes_fit(model, raised, n))
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the container raises planes that its model cannot have");
    lay_out(&t, &by, model, more, &at);
    taper_status status = formats_block_take(&t.block, &at, account);
    if (status != TAPER_OK)
        return formats_fail(error, status, "no memory for %u raised planes", more);
    lay_out(&t, &by, model, more, &at);
    sort_raised(model, raised, n, &by);
    memcpy(t.planes, model->planes, model->units);
    if (t.head_depth) memcpy(t.head_depth, model->head_depth, model->units);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t u = raised[i].unit;
        t.planes[u] = (uint8_t)(t.planes[u] + raised[i].planes);
        if (t.head_depth) t.head_depth[u] = (uint8_t)(t.head_depth[u] + raised[i].planes);
    }
    merge(model, by.pass, more, &t);
    *out = t;
    return TAPER_OK;
}

void codec_raised_planes_free(codec_code_tables *t) {
    formats_block_free(&t->block);
    memset(t, 0, sizeof *t);
}

uint32_t codec_raised_planes_end(const codec_code_tables *t, uint32_t end) {
    if (!t->model_pass) return end;
    uint32_t low = 0, high = t->n_passes;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->model_pass[middle] < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
