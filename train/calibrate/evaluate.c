/* evaluate.c -- see evaluate.h. */
#include "train/calibrate/evaluate.h"
#include "codec/bitplane/chunk_coder.h"
#include "codec/bitplane/quantiser.h"
#include "codec/render/picture_renderer.h"
#include "codec/render/window_renderer.h"
#include "formats/bytes.h"
#include <math.h>
#include <stdlib.h>

enum { BLOCK_IMAGES = 64 };

/* Windows of the largest run of images that are encoded at once. */
static size_t largest_run(const train_dataset *data, const train_selection *s) {
    size_t most = 0, windows;
    for (size_t i = 0; i < s->n;) {
        const size_t n = train_run_here(data, s, i, BLOCK_IMAGES, &windows);
        most = formats_larger(most, windows);
        i += n ? n : 1;
    }
    return most;
}

/* Codes of images that are here; those of others are 0. */
static taper_status encode_own(const taper_model *m, codec_backend *be, const train_dataset *data,
                               const train_selection *s, float *rows, float *codes) {
    for (size_t i = 0; i < s->n;) {
        size_t windows, n = train_run_here(data, s, i, BLOCK_IMAGES, &windows);
        if (n) {
            train_read_windows(data, s, m->window, i, n, rows);
            TAPER_TRY(codec_network_encode(&m->network, be, rows, windows, codes));
        } else {
            n = 1, windows = (size_t)s->grid[i].columns * s->grid[i].rows;
        }
        i += n, codes += windows * m->network.units;
    }
    return TAPER_OK;
}

taper_status train_encode_selection(const taper_model *m, codec_backend *be,
                                    const train_dataset *data, const train_selection *s,
                                    float **codes, taper_error *error) {
    const size_t inputs = m->network.inputs, units = m->network.units;
    float *rows = malloc((largest_run(data, s) + 1) * inputs * sizeof *rows);
    *codes = calloc((s->windows + 1) * units, sizeof **codes);
    taper_status status = rows && *codes ? TAPER_OK : TAPER_ERR_NOMEM;
    if (status == TAPER_OK) status = encode_own(m, be, data, s, rows, *codes);
    free(rows);
    if (status == TAPER_OK) {
        status = train_sum_floats(data->ranks, *codes, s->windows * units, error);
        if (status == TAPER_OK) return status;
    } else {
        formats_fail(error, status, "no memory for the codes of %zu windows", s->windows);
    }
    free(*codes);
    *codes = NULL;
    return status;
}

static double psnr_of(const taper_image *a, const taper_image *b) {
    size_t n = (size_t)a->width * a->height * a->channels;
    const uint8_t *x = a->pixels, *y = b->pixels;
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += (uint64_t)((x[i] - y[i]) * (x[i] - y[i]));
    return sum ? 10 * log10(255.0 * 255.0 * (double)n / (double)sum) : 100;
}

/* The group in its present state, rendered piece by piece. */
typedef struct rendering {
    const taper_model *model;
    codec_backend *be;
    const codec_group *group;
    codec_window_renderer renderer;
    int16_t *value; /* [capacity][values] */
    size_t capacity, first, n;
    uint8_t *pixels;
} rendering;

/* The PSNR of an image whose windows begin at `at`. */
static taper_status measure_image(rendering *r, const taper_image *image, size_t at, size_t windows,
                                  double *psnr) {
    if (at < r->first || at + windows > r->first + r->n) {
        r->first = at;
        r->n = formats_smaller(r->group->n - at, r->capacity);
        TAPER_TRY(
            codec_window_renderer_run(&r->renderer, r->be, (uint32_t)at, (uint32_t)r->n, r->value));
    }
    taper_image out = *image;
    out.pixels = r->pixels;
    const int16_t *value = r->value + (at - r->first) * r->model->network.inputs;
    TAPER_TRY(codec_render_windows(r->model, r->group->pass, r->be->pool, value, &out));
    *psnr = psnr_of(image, &out);
    return TAPER_OK;
}

/* psnr[s->n]: of each image; a rank measures its own. */
static taper_status measure_images(rendering *r, const train_dataset *data,
                                   const train_selection *s, double *psnr, taper_error *error) {
    size_t at = 0;
    for (size_t i = 0; i < s->n; i++) {
        const size_t windows = (size_t)s->grid[i].columns * s->grid[i].rows;
        if (train_is_here(data, s->image[i]))
            TAPER_TRY(measure_image(r, &data->image[s->image[i]], at, windows, &psnr[i]));
        at += windows;
    }
    return train_sum_doubles(data->ranks, psnr, s->n, error);
}

/* Mean PSNR of the group in its present state. */
static taper_status measure(const taper_model *m, codec_backend *be, const codec_group *g,
                            const train_dataset *data, const train_selection *s, double *mean,
                            taper_error *error) {
    rendering r = {.model = m, .be = be, .group = g, .capacity = s->largest + 512};
    size_t bytes = 1;
    for (size_t i = 0; i < s->n; i++)
        bytes = formats_larger(bytes, formats_image_samples(&data->image[s->image[i]]));
    r.value = malloc(r.capacity * m->network.inputs * sizeof *r.value);
    r.pixels = malloc(bytes);
    double *psnr = calloc(s->n + 1, sizeof *psnr), sum = 0;
    taper_status status = codec_window_renderer_begin(&r.renderer, m, g, 0, g->n, 1, NULL);
    if (!r.value || !r.pixels || !psnr) status = TAPER_ERR_NOMEM;
    if (status == TAPER_OK) status = measure_images(&r, data, s, psnr, error);
    for (size_t i = 0; i < s->n && psnr; i++) sum += psnr[i];
    *mean = sum / (double)s->n;
    codec_window_renderer_end(&r.renderer);
    free(r.value), free(r.pixels), free(psnr);
    return status;
}

/* Quantised codes of a selection, coded layer by layer. */
typedef struct coding {
    const taper_model *model;
    codec_backend *be;
    codec_chunk_coder *coder;
    const int16_t *q;
    double *bits; /* [n_passes] scratch */
} coding;

static taper_status walk_layers(const coding *c, const train_dataset *data,
                                const train_selection *s, train_rd_curve *curve,
                                taper_error *error) {
    const codec_code_tables *t = &c->model->tables;
    formats_buffer out = formats_buffer_make(FORMATS_MOST_BYTES);
    taper_status status = TAPER_OK;
    double total = 0;
    curve->n = 0;
    for (uint32_t l = 0, pass = 0; l < t->n_layers && status == TAPER_OK; l++) {
        formats_buffer_clear(&out);
        status = codec_chunk_encode(c->coder, c->q, t->layer[l].pass, &out, c->bits);
        for (; pass < t->layer[l].pass; pass++) total += c->bits[pass];
        train_rd_point *point = &curve->point[curve->n++];
        point->bytes_per_image = total / 8 / (double)s->n;
        if (status == TAPER_OK)
            status = measure(c->model, c->be, &c->coder->group, data, s, &point->psnr_db, error);
    }
    formats_buffer_free(&out);
    return status;
}

taper_status train_evaluate(const taper_model *m, codec_backend *be, const train_dataset *data,
                            const train_selection *s, train_rd_curve *curve, taper_error *error) {
    const codec_code_tables *t = &m->tables;
    float *codes = NULL;
    TAPER_TRY(train_encode_selection(m, be, data, s, &codes, error));
    codec_chunk_coder coder;
    taper_status status = codec_chunk_coder_alloc(&coder, t, s->grid, s->n, error);
    double *bits = calloc(t->n_passes + 1, sizeof *bits);
    int16_t *q =
        status == TAPER_OK ? malloc(((size_t)t->units * coder.group.stride + 1) * sizeof *q) : NULL;
    if (status == TAPER_OK && (!bits || !q)) status = TAPER_ERR_NOMEM;
    for (size_t i = 0; i < s->windows && status == TAPER_OK; i++)
        for (uint32_t u = 0; u < t->units; u++)
            q[(size_t)u * coder.group.stride + i] = codec_quantise(t, u, codes[i * t->units + u]);
    free(codes);
    if (status == TAPER_OK)
        status = walk_layers(&(coding){m, be, &coder, q, bits}, data, s, curve, error);
    codec_chunk_coder_free(&coder);
    free(bits), free(q);
    if (status == TAPER_OK || status == TAPER_ERR_IO) return status;
    return formats_fail(error, status, "no memory to evaluate %zu windows", s->windows);
}

double train_bytes_at(const train_rd_curve *c, double psnr) {
    for (uint32_t i = 1; i < c->n; i++) {
        const train_rd_point *a = &c->point[i - 1], *b = &c->point[i];
        if (!(a->psnr_db <= psnr && psnr <= b->psnr_db) || a->psnr_db == b->psnr_db) continue;
        double part = (psnr - a->psnr_db) / (b->psnr_db - a->psnr_db);
        return exp(log(a->bytes_per_image) +
                   part * (log(b->bytes_per_image) - log(a->bytes_per_image)));
    }
    return NAN;
}

double train_compare_curves(const train_rd_curve *a, const train_rd_curve *b) {
    enum { PLACES = 16 };
    double low = fmax(a->point[0].psnr_db, b->point[0].psnr_db);
    double high = fmin(a->point[a->n - 1].psnr_db, b->point[b->n - 1].psnr_db), sum = 0, n = 0;
    for (int i = 1; i < PLACES; i++) {
        double psnr = low + (high - low) * i / PLACES,
               difference = log(train_bytes_at(a, psnr)) - log(train_bytes_at(b, psnr));
        if (isfinite(difference)) sum += difference, n++;
    }
    return n ? sum / n : INFINITY;
}
