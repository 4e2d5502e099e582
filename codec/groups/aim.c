/* aim.c -- see aim.h. */
#include "codec/groups/aim.h"
#include "codec/bitplane/quantiser.h"
#include "formats/image.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEPTHS = CODEC_MAX_PLANES + 1,
    WHOLE_PIXELS = 1 << 18, /* up to so many pixels the whole image is the sample */
    CROPS = 6,              /* of larger images CROPS x CROPS crops are */
    CROP_SIDE = 96          /* of about this side */
};

/* What clamping, the head and the restoration gain at least in nearly all of 52 photographs and
 * drawings: 0.3 dB up to 40 dB, and nothing at 46 dB. */
static double mse_with_gain(double mse) {
    const double db = 10 * log10(255 * 255 / mse);
    return mse * (1 - 0.07 * fmin(fmax((46 - db) / 6, 0), 1));
}

int codec_aim_is_possible(const taper_model *m) {
    return m->network.synthesis && !m->tables.density && m->tables.n_layers;
}

/* --- ends ------------------------------------------------------------------------------ */

/* The passes that a mean image needs for so many bytes: linear between the model's layers. */
static uint32_t passes_of(const codec_code_tables *t, double bytes) {
    codec_layer_end before = {0, 0};
    for (uint32_t l = 0; l < t->n_layers; before = t->layer[l++]) {
        const codec_layer_end to = t->layer[l];
        if (to.bytes_per_mpixel < bytes) continue;
        const double part = (bytes - before.bytes_per_mpixel) /
                            ((double)to.bytes_per_mpixel - before.bytes_per_mpixel);
        const uint32_t passes = (uint32_t)(part * (to.pass - before.pass));
        return before.pass + passes ? before.pass + passes : 1;
    }
    return t->n_passes;
}

uint32_t codec_aim_bytes_at(const codec_code_tables *t, int are_beyond, uint32_t k) {
    double bytes = t->layer[t->n_layers - 1].bytes_per_mpixel;
    for (uint32_t i = 1; i <= k; i++) bytes *= are_beyond || i <= 2 ? 0.8 : 0.9;
    return (uint32_t)bytes;
}

void codec_aim_ends(const codec_code_tables *t, int are_beyond, uint32_t *end) {
    end[0] = t->n_passes;
    for (uint32_t k = 1; k < CODEC_AIM_ENDS; k++) {
        end[k] = passes_of(t, codec_aim_bytes_at(t, are_beyond, k));
        if (end[k] > end[k - 1]) end[k] = end[k - 1];
    }
}

uint32_t codec_aim_choose(const double *mse, double max_mse) {
    uint32_t k = CODEC_AIM_ENDS - 1;
    while (k && !(mse[k] <= max_mse)) k--;
    return k;
}

/* --- the sample ------------------------------------------------------------------------ */

/* Crops of the image, equal in size, evenly spread. The whole image is one crop. */
typedef struct sample {
    uint32_t width, height, columns, rows; /* of a crop; how many there are */
    uint64_t windows;                      /* of a crop */
} sample;

static sample sample_of(codec_window window, const taper_image *image) {
    sample s = {image->width, image->height, 1, 1, 0};
    if ((uint64_t)image->width * image->height > WHOLE_PIXELS) {
        const uint32_t width = (CROP_SIDE + window.width - 1) / window.width * window.width;
        const uint32_t height = (CROP_SIDE + window.height - 1) / window.height * window.height;
        if (image->width > CROPS * width) s.width = width, s.columns = CROPS;
        if (image->height > CROPS * height) s.height = height, s.rows = CROPS;
        /* a strip: more crops along it, each as long as the strip is thick */
        if (s.columns == 1 && s.rows == 1) s.width = width, s.columns = CROPS;
    }
    const codec_grid grid = codec_windows_grid(window, s.width, s.height);
    s.windows = (uint64_t)grid.columns * grid.rows;
    return s;
}

/* Where crop i of n begins, of `side` pixels out of `all`. */
static uint32_t begin_of(uint32_t all, uint32_t side, uint32_t i, uint32_t n) {
    return n == 1 ? 0 : (uint32_t)((uint64_t)(all - side) * i / (n - 1));
}

/* Copy a crop to pixels, which it then owns no more than before. */
static taper_image crop_of(const taper_image *image, const sample *s, uint32_t column, uint32_t row,
                           uint8_t *pixels) {
    taper_image crop = *image;
    const size_t sample_bytes = image->depth / 8u, pixel = sample_bytes * image->channels;
    const uint32_t x = begin_of(image->width, s->width, column, s->columns),
                   y = begin_of(image->height, s->height, row, s->rows);
    crop.width = s->width, crop.height = s->height;
    crop.pixels = pixels;
    for (uint32_t r = 0; r < s->height; r++)
        memcpy(pixels + r * (size_t)s->width * pixel,
               (const uint8_t *)image->pixels + ((size_t)(y + r) * image->width + x) * pixel,
               s->width * pixel);
    return crop;
}

/* --- errors of units ------------------------------------------------------------------- */

/* The state of one estimate. */
typedef struct estimate {
    const taper_model *model;
    const codec_network *network;
    codec_backend backend;
    sample sample;
    uint8_t *crop;           /* pixels of a crop */
    float *window, *code;    /* [windows of a crop][inputs], and a block of codes */
    float *decoded;          /* a block of windows; NULL: the units span all windows */
    double (*error)[DEPTHS]; /* [units] sums of squared errors, in squared steps, by known planes */
    uint8_t *done;           /* [units] fractions of the plane that are known */
    double outside;          /* sum of squared errors that no unit reaches */
    uint64_t pixels;         /* in these sums, without those that fill windows */
} estimate;

static void lay_out(estimate *e, const taper_image *image, formats_layout *at) {
    const uint64_t inputs = e->model->network.inputs, units = e->model->tables.units;
    const uint64_t pixels = (uint64_t)e->sample.width * e->sample.height;
    e->error = formats_lay(at, units, sizeof *e->error);
    e->window = formats_lay(at, e->sample.windows * inputs, sizeof *e->window);
    e->code = formats_lay(at, CODEC_ROWS_AT_ONCE * units, sizeof *e->code);
    e->decoded =
        formats_lay(at, units < inputs ? CODEC_ROWS_AT_ONCE * inputs : 0, sizeof *e->decoded);
    e->done = formats_lay(at, units, 1);
    e->crop = formats_lay(at, pixels * image->channels, image->depth / 8u);
}

uint64_t codec_aim_bytes(const taper_model *m, const taper_image *image) {
    formats_layout at = {0};
    estimate e = {.model = m, .sample = sample_of(m->window, image)};
    lay_out(&e, image, &at);
    return at.used + codec_network_scratch_bytes(&m->network);
}

/* Add the error of one value, |x| / step, of unit u at each depth. */
static void add_value(const codec_code_tables *t, uint32_t u, double size, double *error) {
    const uint32_t planes = t->planes[u];
    const uint32_t magnitude =
        size < 1 << CODEC_MAX_PLANES ? (uint32_t)size : 1 << CODEC_MAX_PLANES;
    const double square = size * size;
    for (uint32_t d = 0; d <= planes; d++) {
        const uint32_t q = d ? magnitude >> (planes - d) : 0;
        if (q == 0) {
            error[d] += square;
            continue;
        }
        const uint8_t *recon = t->recon[codec_ratio_bin(codec_log_ratio(t, u, d))];
        const uint32_t level = q < CODEC_RECON_LEVELS ? q : CODEC_RECON_LEVELS;
        const double known = (q + recon[level - 1] / 256.0) * (double)(1u << (planes - d));
        error[d] += (size - known) * (size - known);
    }
}

static void add_codes(estimate *e, uint32_t n) {
    const codec_code_tables *t = &e->model->tables;
    for (uint32_t u = 0; u < t->units; u++) {
        double small = 0; /* values below a step are 0 at every depth */
        for (uint32_t p = 0; p < n; p++) {
            const double size = fabs((double)e->code[(size_t)p * t->units + u] / t->step[u]);
            if (size < 1)
                small += size * size;
            else
                add_value(t, u, size, e->error[u]);
        }
        for (uint32_t d = 0; d <= t->planes[u]; d++) e->error[u][d] += small;
    }
}

/* Add what the windows have outside the span of all units. */
static taper_status add_outside(estimate *e, const float *window, uint32_t n) {
    const size_t values = (size_t)n * e->network->inputs;
    if (e->model->tables.units >= e->network->inputs) return TAPER_OK;
    TAPER_TRY(codec_network_decode(e->network, &e->backend, e->code, n, e->decoded));
    for (size_t i = 0; i < values; i++) {
        const double d = (double)window[i] - e->decoded[i];
        e->outside += d * d;
    }
    return TAPER_OK;
}

static taper_status add_crop(estimate *e, const taper_image *crop) {
    const size_t inputs = e->network->inputs;
    codec_windows_read(e->model->window, crop, e->window);
    for (uint64_t at = 0; at < e->sample.windows; at += CODEC_ROWS_AT_ONCE) {
        const uint64_t left = e->sample.windows - at;
        const uint32_t n = left < CODEC_ROWS_AT_ONCE ? (uint32_t)left : CODEC_ROWS_AT_ONCE;
        const float *window = e->window + at * inputs;
        TAPER_TRY(codec_network_encode(e->network, &e->backend, window, n, e->code));
        add_codes(e, n);
        TAPER_TRY(add_outside(e, window, n));
    }
    e->pixels += (uint64_t)crop->width * crop->height;
    return TAPER_OK;
}

static taper_status add_image(estimate *e, const taper_image *image) {
    for (uint32_t row = 0; row < e->sample.rows; row++)
        for (uint32_t column = 0; column < e->sample.columns; column++) {
            const taper_image crop = crop_of(image, &e->sample, column, row, e->crop);
            TAPER_TRY(add_crop(e, &crop));
        }
    return TAPER_OK;
}

/* --- errors of pixels ------------------------------------------------------------------ */

/* The mean factor by which the post-filter along one direction multiplies errors. Of a pair of
 * pixels the mean is kept, and the difference is mixed. */
static double lap_gain(const codec_lap *lap, uint32_t side) {
    double gain = 0;
    for (uint32_t r = 0; lap && r < lap->reach; r++) {
        double row = 0;
        for (uint32_t k = 0; k < lap->reach; k++) {
            const double v = lap->stored[r * lap->reach + k] / (double)CODEC_LAP_ONE;
            row += v * v;
        }
        gain += (1 + row) / 2 - 1;
    }
    return 1 + 2 * gain / side;
}

/* What one squared step of a unit's error, summed over the windows, adds to the mean squared error.
 */
static double weight_of(const estimate *e, uint32_t u, double scale) {
    const size_t inputs = e->network->inputs;
    const float *row = e->network->synthesis + u * inputs;
    double sum = 0;
    for (size_t i = 0; i < inputs; i++) sum += (double)row[i] * row[i];
    return sum * e->model->tables.step[u] * e->model->tables.step[u] * scale;
}

/* The share of a plane's gain that its first `known` fractions have. They contain the values that
 * are most likely to become known, so it is more than their number says: of three fractions about a
 * half, a third and a sixth. */
static double share_of(const codec_code_tables *t, uint32_t known) {
    return 1 - pow(1 - (double)known / t->fractions, 1.6);
}

/* Follow the order of passes. */
static void follow(estimate *e, const uint32_t *end, double rounding, double *mse) {
    const codec_code_tables *t = &e->model->tables;
    const codec_window window = e->model->window;
    const double scale = lap_gain(window.lap, window.width) * lap_gain(window.lap, window.height) /
                         ((double)e->pixels * window.channels);
    double sum = 0, share[CODEC_MAX_FRACTIONS + 1];
    for (uint32_t f = 0; f <= t->fractions; f++) share[f] = share_of(t, f);
    for (uint32_t u = 0; u < t->units; u++) {
        const double weight = weight_of(e, u, scale);
        for (uint32_t d = 0; d <= t->planes[u]; d++) e->error[u][d] *= weight;
        sum += e->error[u][0];
    }
    for (uint32_t p = 0, k = CODEC_AIM_ENDS; k;) {
        for (; p < end[k - 1]; p++) {
            const codec_pass pass = t->pass[p];
            const double *error = e->error[pass.unit];
            const uint32_t known = pass.fraction + 1u, before = e->done[pass.unit];
            sum -= (error[pass.depth] - error[pass.depth + 1]) * (share[known] - share[before]);
            e->done[pass.unit] = (uint8_t)(known == t->fractions ? 0 : known);
        }
        mse[--k] = mse_with_gain(fmax(sum, 1e-9) + e->outside * scale + rounding);
    }
}

taper_status codec_aim_errors(const taper_model *m, const codec_network *network,
                              const codec_backend *backend, const taper_image *image,
                              const uint32_t *end, double *mse) {
    estimate e = {.model = m,
                  .network = network,
                  .backend = *backend, /* a copy: other threads use it */
                  .sample = sample_of(m->window, image)};
    formats_layout at = {0};
    formats_block block;
    lay_out(&e, image, &at);
    TAPER_TRY(formats_block_take(&block, &at, NULL));
    lay_out(&e, image, &at);
    const taper_status status = add_image(&e, image);
    if (status == TAPER_OK) follow(&e, end, image->depth == 8 ? 1 / 12.0 : 0, mse);
    formats_block_free(&block);
    return status;
}
