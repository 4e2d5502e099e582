/* builtin_comparison.c -- see builtin_comparison.h. */
#include "train/builtin_comparison.h"
#include "codec/model/builtin_models.h"
#include "codec/taper_quality.h"
#include "train/train_parts.h"
#include <stdlib.h>

enum { MOST_PIXELS = 1 << 20 };

static const char *const names[TRAIN_BUILTIN_MODELS] = {"photo", "tiny"};

/* A subset of the part's images, evenly spaced by pixels, as a dataset; pixels are borrowed. */
static taper_status take_images(train_dataset *few, const train_dataset *data, taper_error *error) {
    const codec_window pixel = {1, 1, data->channels, NULL};
    train_selection s;
    if (train_select(&s, data, pixel, TRAIN_PART_VALIDATION, MOST_PIXELS) != TAPER_OK)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to select images");
    *few = (train_dataset){.image = calloc(s.n + 1, sizeof *few->image),
                           .group = calloc(s.n + 1, sizeof *few->group),
                           .channels = data->channels,
                           .ranks = data->ranks};
    for (size_t i = 0; few->image && few->group && i < s.n; i++) {
        if (data->group) few->group[few->n] = data->group[s.image[i]];
        few->image[few->n++] = data->image[s.image[i]];
    }
    train_selection_free(&s);
    if (few->image && few->group) return TAPER_OK;
    free(few->image), free(few->group);
    return formats_fail(error, TAPER_ERR_NOMEM, "no memory for images");
}

/* Rate and distortion of the model in a file. */
static taper_status measure(const void *bytes, size_t size, train_job *job, train_rd_curve *curve,
                            taper_error *error) {
    taper_model *model;
    train_selection s = {0};
    TAPER_TRY(taper_model_load(&model, bytes, size, NULL, error));
    taper_status status = train_renew_analysis(model, job, error);
    if (status == TAPER_OK)
        status = train_select(&s, job->data, model->window, TRAIN_PART_ALL, SIZE_MAX);
    if (status == TAPER_OK) status = train_evaluate(model, job->be, job->data, &s, curve, error);
    train_selection_free(&s);
    taper_model_free(model);
    return status;
}

/* A curve with model bytes added. It starts at 20 dB if both models reach 30 dB. */
typedef struct rates {
    taper_rd_point point[CODEC_MAX_LAYERS_IN_MODEL];
    size_t n;
} rates;

static double highest(const train_rd_curve *c) { return c->n ? c->point[c->n - 1].psnr_db : 0; }

static rates take_rates(const train_rd_curve *c, double least_db) {
    rates r = {.n = 0};
    const double least = train_bytes_at(c, least_db); /* NAN: it begins above */
    if (least > 0) r.point[r.n++] = (taper_rd_point){least, least_db};
    for (uint32_t i = 0; i < c->n && r.n < CODEC_MAX_LAYERS_IN_MODEL; i++)
        if (c->point[i].psnr_db > least_db)
            r.point[r.n++] = (taper_rd_point){c->point[i].bytes_per_image, c->point[i].psnr_db};
    return r;
}

static taper_status delta(const rates *own, const rates *builtin, double model_bytes,
                          taper_bd_rate *out) {
    rates with = *own;
    for (size_t i = 0; i < with.n; i++) with.point[i].rate += model_bytes;
    return taper_quality_bd_rate(builtin->point, builtin->n, with.point, with.n, out, NULL);
}

/* The least number of images for which the model saves more than its own bytes; 0: none. */
static uint64_t find_break_even(const rates *own, const rates *builtin, double model_bytes) {
    enum { MOST_BITS = 40 };
    taper_bd_rate bd;
    uint64_t fewer = 0;
    for (uint64_t step = 1ULL << MOST_BITS; step; step >>= 1)
        if (delta(own, builtin, model_bytes / (double)(fewer + step), &bd) == TAPER_OK &&
            bd.percent > 0)
            fewer += step;
    return fewer >> MOST_BITS ? 0 : fewer + 1;
}

/* Returns 0 if there is no common quality range. */
static int compare(const train_rd_curve *own, const train_rd_curve *builtin, double model_bytes,
                   uint64_t set_images, train_builtin_result *r) {
    enum { LEAST_DB = 20, LOOKED_AT = 30 };
    const int looks_up = highest(own) > LOOKED_AT && highest(builtin) > LOOKED_AT;
    const rates a = take_rates(own, looks_up ? LEAST_DB : 0);
    const rates b = take_rates(builtin, looks_up ? LEAST_DB : 0);
    taper_bd_rate with, bd;
    if (delta(&a, &b, 0, &bd) != TAPER_OK) return 0;
    if (delta(&a, &b, model_bytes / (double)set_images, &with) != TAPER_OK) return 0;
    r->percent = bd.percent, r->with_model_percent = with.percent;
    r->from_db = bd.from_db, r->to_db = bd.to_db, r->at_db = (bd.from_db + bd.to_db) / 2;
    r->pays_from = bd.percent < 0 ? find_break_even(&a, &b, model_bytes) : 0;
    return taper_quality_rate_at(a.point, a.n, r->at_db, &r->bytes, NULL) == TAPER_OK &&
           taper_quality_rate_at(b.point, b.n, r->at_db, &r->builtin_bytes, NULL) == TAPER_OK;
}

taper_status train_compare_builtin(const formats_buffer *file, const train_dataset *data,
                                   uint64_t set_images, codec_backend *be, const train_hooks *hooks,
                                   train_builtin_comparison *out, taper_error *error) {
    static const train_hooks none;
    train_dataset few;
    train_rd_curve own, builtin;
    *out = (train_builtin_comparison){.set_images = set_images ? set_images : data->available,
                                      .held_out = data->n >= TRAIN_VALIDATION_PERIOD};
    TAPER_TRY(take_images(&few, data, error));
    train_job job = {.data = &few, .be = be, .hooks = hooks ? hooks : &none};
    train_say(&job, "comparing with the built-in models", -1);
    out->images = few.n;
    taper_status status = measure(file->data, file->size, &job, &own, error);
    for (size_t i = 0; i < TRAIN_BUILTIN_MODELS && status == TAPER_OK; i++) {
        codec_builtin_model m = {0};
        train_builtin_result *r = &out->result[out->n];
        if (!codec_builtin_model_named(names[i], &m)) continue;
        status = measure(m.bytes, m.size, &job, &builtin, error);
        r->name = m.name;
        if (status == TAPER_OK)
            out->n += (size_t)compare(&own, &builtin, (double)file->size, out->set_images, r);
    }
    free(few.image), free(few.group);
    return status;
}

const train_builtin_result *train_best_builtin(const train_builtin_comparison *c) {
    const train_builtin_result *best = c->n ? c->result : NULL;
    for (size_t i = 1; i < c->n; i++)
        if (c->result[i].percent > best->percent) best = &c->result[i];
    return best;
}
