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

taper_status train_encode_selection(const taper_model *m, codec_backend *be,
                                    const train_dataset *data, const train_selection *s,
                                    float **codes, taper_error *error) {
    size_t inputs = m->network.inputs, units = m->network.units, most = 0, done = 0;
    for (size_t i = 0; i < s->n; i += BLOCK_IMAGES) {
        size_t windows = 0;
        for (size_t k = i; k < i + BLOCK_IMAGES && k < s->n; k++)
            windows += (size_t)s->grid[k].columns * s->grid[k].rows;
        most = windows > most ? windows : most;
    }
    float *rows = malloc((most + 1) * inputs * sizeof *rows);
    *codes = malloc((s->windows + 1) * units * sizeof **codes);
    taper_status status = rows && *codes ? TAPER_OK : TAPER_ERR_NOMEM;
    for (size_t i = 0; i < s->n && status == TAPER_OK; i += BLOCK_IMAGES) {
        size_t n = train_read_windows(data, s, m->window, i, BLOCK_IMAGES, rows);
        status = codec_network_encode(&m->network, be, rows, n, *codes + done * units);
        done += n;
    }
    free(rows);
    if (status == TAPER_OK) return status;
    free(*codes);
    *codes = NULL;
    return formats_fail(error, status, "no memory for the codes of %zu windows", s->windows);
}

static double psnr_of(const taper_image *a, const taper_image *b) {
    size_t n = (size_t)a->width * a->height * a->channels;
    const uint8_t *x = a->pixels, *y = b->pixels;
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += (uint64_t)((x[i] - y[i]) * (x[i] - y[i]));
    return sum ? 10 * log10(255.0 * 255.0 * (double)n / (double)sum) : 100;
}

/* Mean PSNR of the group in its present state. */
static taper_status measure(const taper_model *m, codec_backend *be, const codec_group *g,
                            const train_dataset *data, const train_selection *s, double *psnr) {
    size_t at = 0, bytes = 1, capacity = s->largest + 512;
    for (size_t i = 0; i < s->n; i++)
        bytes = formats_larger(bytes, formats_image_samples(&data->image[s->image[i]]));
    int16_t *value = malloc(capacity * m->network.inputs * sizeof *value);
    uint8_t *pixels = malloc(bytes);
    codec_window_renderer renderer;
    taper_status status = codec_window_renderer_begin(&renderer, m, g, 0, g->n, 1, NULL);
    if (!value || !pixels) status = TAPER_ERR_NOMEM;
    double sum = 0;
    size_t rendered_first = 0, rendered = 0;
    for (size_t i = 0; i < s->n && status == TAPER_OK; i++) {
        const taper_image *image = &data->image[s->image[i]];
        size_t windows = (size_t)s->grid[i].columns * s->grid[i].rows;
        if (at + windows > rendered_first + rendered) {
            rendered_first = at;
            rendered = g->n - at < capacity ? g->n - at : capacity;
            status =
                codec_window_renderer_run(&renderer, be, (uint32_t)at, (uint32_t)rendered, value);
        }
        taper_image out = *image;
        out.pixels = pixels;
        if (status == TAPER_OK)
            status = codec_render_windows(m, g->pass, be->pool,
                                          value + (at - rendered_first) * m->network.inputs, &out);
        if (status != TAPER_OK) break;
        sum += psnr_of(image, &out);
        at += windows;
    }
    *psnr = sum / (double)s->n;
    codec_window_renderer_end(&renderer);
    free(value), free(pixels);
    return status;
}

static taper_status walk_layers(const taper_model *m, codec_backend *be, codec_chunk_coder *coder,
                                const int16_t *q, double *bits, const train_dataset *data,
                                const train_selection *s, train_rd_curve *curve) {
    const codec_code_tables *t = &m->tables;
    formats_buffer out = formats_buffer_make(FORMATS_MOST_BYTES);
    taper_status status = TAPER_OK;
    double total = 0;
    curve->n = 0;
    for (uint32_t l = 0, pass = 0; l < t->n_layers && status == TAPER_OK; l++) {
        formats_buffer_clear(&out);
        status = codec_chunk_encode(coder, q, t->layer[l].pass, &out, bits);
        for (; pass < t->layer[l].pass; pass++) total += bits[pass];
        train_rd_point *point = &curve->point[curve->n++];
        point->bytes_per_image = total / 8 / (double)s->n;
        if (status == TAPER_OK) status = measure(m, be, &coder->group, data, s, &point->psnr_db);
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
    if (status == TAPER_OK) status = walk_layers(m, be, &coder, q, bits, data, s, curve);
    codec_chunk_coder_free(&coder);
    free(bits), free(q);
    return status == TAPER_OK
               ? status
               : formats_fail(error, status, "no memory to evaluate %zu windows", s->windows);
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
