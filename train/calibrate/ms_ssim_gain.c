/* ms_ssim_gain.c -- see ms_ssim_gain.h. */
#include "train/calibrate/ms_ssim_gain.h"
#include "codec/backend/pool.h"
#include "codec/taper_quality.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* NOISE is well above the rounding error of 8 bits (a mean square of 1/12), and below the constant
 * of SSIM's structure term, 58. */
enum { SIDE = 192, PIXELS = 16 * SIDE * SIDE, NOISE = 8 };

typedef struct sample {
    taper_image image; /* its pixels are owned */
    float *rows;       /* [windows][values] */
    size_t windows;
} sample;

typedef struct measurement {
    const taper_model *model;
    const double *gain;
    sample *sample;
    size_t n, values;
    double *loss; /* [units] mean of 1 - MS-SSIM; NAN: no memory */
} measurement;

/* --- sample images --------------------------------------------------------------------- */

/* Copies the middle of an image, at most SIDE x SIDE. */
static taper_status cut_middle(const taper_image *from, taper_image *to) {
    uint32_t width = from->width < SIDE ? from->width : SIDE,
             height = from->height < SIDE ? from->height : SIDE;
    size_t bytes = from->channels, row = width * bytes;
    const size_t first =
        ((size_t)(from->height - height) / 2 * from->width + (from->width - width) / 2) * bytes;
    *to = (taper_image){width, height, from->channels, 8, malloc(row * height)};
    if (!to->pixels) return TAPER_ERR_NOMEM;
    for (uint32_t y = 0; from->pixels && y < height; y++)
        memcpy((uint8_t *)to->pixels + y * row,
               (const uint8_t *)from->pixels + first + (size_t)y * from->width * bytes, row);
    return TAPER_OK;
}

/* Image i of the data; the rank that has it gives it to the others. */
static taper_status take_sample(sample *s, const train_dataset *data, size_t i,
                                codec_window window) {
    if (cut_middle(&data->image[i], &s->image) != TAPER_OK) return TAPER_ERR_NOMEM;
    TAPER_TRY(train_broadcast(data->ranks, s->image.pixels, formats_image_samples(&s->image),
                              train_owner(data, i), NULL));
    codec_grid grid = codec_windows_grid(window, s->image.width, s->image.height);
    s->windows = (size_t)grid.columns * grid.rows;
    s->rows = malloc(s->windows * codec_window_values(window) * sizeof *s->rows);
    if (!s->rows) return TAPER_ERR_NOMEM;
    codec_windows_read(window, &s->image, s->rows);
    return TAPER_OK;
}

/* Takes evenly spaced images of the training part, as many as PIXELS allow. */
static taper_status take_samples(measurement *m, const train_dataset *data) {
    uint64_t mean = data->pixels / data->n + 1;
    if (mean > SIDE * SIDE) mean = SIDE * SIDE;
    size_t most = (size_t)(PIXELS / mean), step = data->n / most + 1;
    m->sample = calloc(data->n / step + 1, sizeof *m->sample);
    if (!m->sample) return TAPER_ERR_NOMEM;
    for (size_t i = 0; i < data->n; i += step) {
        int held_out = train_is_validation(data, i); /* image i - 1 is not held out */
        if (held_out && step == 1) continue;
        size_t at = i - (size_t)held_out;
        TAPER_TRY(take_sample(&m->sample[m->n++], data, at, m->model->window));
    }
    return TAPER_OK;
}

static void free_samples(measurement *m) {
    for (size_t i = 0; i < m->n; i++) free(m->sample[i].image.pixels), free(m->sample[i].rows);
    free(m->sample), free(m->loss);
}

/* --- one unit -------------------------------------------------------------------------- */

/* 1 - MS-SSIM of the sample with the unit's pattern added. work: [windows][values]; pixels: the
 * size of the sample. */
static taper_status lose(const measurement *m, const sample *s, uint32_t u, float *work,
                         uint8_t *pixels, double *loss) {
    const float *pattern = m->model->network.synthesis + (size_t)u * m->values;
    double samples = (double)s->image.width * s->image.height * m->model->window.channels;
    float a = (float)sqrt(NOISE * samples / (fmax(m->gain[u], 1e-9) * (double)s->windows));
    for (size_t w = 0; w < s->windows; w++) {
        uint32_t word[4];
        train_philox(0, w, TRAIN_STREAM_SIGN | (uint64_t)u << 8, word);
        float x = word[0] & 1 ? a : -a;
        for (size_t v = w * m->values, i = 0; i < m->values; i++, v++)
            work[v] = s->rows[v] + x * pattern[i];
    }
    taper_image noisy = s->image;
    taper_quality quality = {.size = sizeof quality};
    noisy.pixels = pixels;
    TAPER_TRY(codec_windows_write(m->model->window, work, &noisy));
    TAPER_TRY(taper_quality_measure(&s->image, &noisy, &quality, NULL));
    *loss = 1 - quality.ms_ssim;
    return TAPER_OK;
}

static void measure_unit(void *context, size_t u) {
    const measurement *m = context;
    size_t rows = 0, bytes = 0;
    for (size_t i = 0; i < m->n; i++) {
        const taper_image *image = &m->sample[i].image;
        size_t size = (size_t)image->width * image->height * image->channels;
        rows = m->sample[i].windows > rows ? m->sample[i].windows : rows;
        bytes = size > bytes ? size : bytes;
    }
    float *work = malloc(rows * m->values * sizeof *work);
    uint8_t *pixels = malloc(bytes);
    taper_status status = work && pixels ? TAPER_OK : TAPER_ERR_NOMEM;
    double sum = 0, loss = 0;
    for (size_t i = 0; i < m->n && status == TAPER_OK; i++) {
        status = lose(m, &m->sample[i], (uint32_t)u, work, pixels, &loss);
        sum += loss;
    }
    free(work), free(pixels);
    m->loss[u] = status == TAPER_OK ? sum / (double)m->n : NAN;
}

/* --- all units ------------------------------------------------------------------------- */

taper_status train_ms_ssim_gains(const taper_model *model, const train_dataset *data,
                                 codec_pool *pool, double *gain) {
    static const double least = 1e-6; /* loss of a unit without effect, such as colour in grey */
    uint32_t units = model->network.units;
    measurement m = {.model = model, .gain = gain, .values = model->network.inputs};
    m.loss = calloc(units, sizeof *m.loss);
    taper_status status = m.loss ? take_samples(&m, data) : TAPER_ERR_NOMEM;
    if (status == TAPER_OK) codec_pool_run(pool, measure_unit, &m, units);
    double logs = 0;
    for (uint32_t u = 0; u < units && status == TAPER_OK; u++) {
        if (isnan(m.loss[u])) status = TAPER_ERR_NOMEM;
        logs += log(fmax(m.loss[u], least));
    }
    for (uint32_t u = 0; u < units && status == TAPER_OK; u++)
        gain[u] *= fmax(m.loss[u], least) / exp(logs / units);
    free_samples(&m);
    return status;
}
