/* exact_fit.c -- see exact_fit.h. Floating point is in order here: the weights are rounded, and the
 * string carries them. */
#include "codec/exact/exact_fit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    N = CODEC_EXACT_INPUTS,
    CLASSES = CODEC_EXACT_CLASSES,
    CHANNELS = CODEC_EXACT_CHANNELS,
    MANY = 1 << 16,         /* pixels from which only a part is looked at */
    FEW_FOR_ONE = 1500,     /* pixels for which weights do not pay, */
    FEW_FOR_CLASSES = 30000 /* and weights of classes do not */
};

/* Sums of products of the inputs and of the residual, the lower triangle. */
typedef struct normal {
    double of[N + 1][N + 1];
    double count;
} normal;

struct codec_exact_fit {
    formats_block block;
    normal *sums; /* [CLASSES][CHANNELS] */
    codec_exact_rows rows;
    uint32_t channels;
    uint64_t pixels;
};

static void lay_out(codec_exact_fit *fit, uint32_t width, uint32_t channels, formats_layout *at) {
    fit->sums = formats_lay(at, CLASSES * CHANNELS, sizeof *fit->sums);
    codec_exact_rows_lay_out(&fit->rows, width, channels, at);
}

taper_status codec_exact_fit_open(codec_exact_fit **out, uint32_t width, uint32_t channels,
                                  formats_account *account) {
    *out = NULL;
    codec_exact_fit *fit = calloc(1, sizeof *fit);
    if (!fit) return TAPER_ERR_NOMEM;
    formats_layout at = {0};
    lay_out(fit, width, channels, &at);
    const taper_status status = formats_block_take_unset(&fit->block, &at, account);
    if (status) {
        free(fit);
        return status;
    }
    lay_out(fit, width, channels, &at);
    *out = fit;
    return TAPER_OK;
}

void codec_exact_fit_close(codec_exact_fit *fit) {
    if (!fit) return;
    formats_block_free(&fit->block);
    free(fit);
}

void codec_exact_fit_begin(codec_exact_fit *fit, uint32_t channels) {
    memset(fit->sums, 0, CLASSES * CHANNELS * sizeof *fit->sums);
    fit->channels = channels;
    fit->pixels = 0;
}

/* The residuals of row y of the image, to row r. */
static void set_residuals(codec_exact_rows *rows, const taper_image *original,
                          const taper_image *lossy, int r, uint32_t y) {
    for (uint32_t c = 0; c < rows->channels; c++) {
        int32_t *to = rows->channel[c].residual[r];
        size_t at = (size_t)y * rows->width * rows->channels + rows->place[c];
        for (uint32_t x = 0; x < rows->width; x++, at += rows->channels)
            to[x] = codec_exact_sample(original, at) - codec_exact_sample(lossy, at);
    }
}

/* How much a sample counts: noisy places would hide the others. */
static double importance(const codec_exact_rows *rows, uint32_t c, uint32_t x) {
    const codec_exact_channel *channel = &rows->channel[c];
    const int32_t *e = channel->residual[0] + x, *f = channel->residual[1] + x;
    const int32_t *l = channel->lossy[2] + x, *a = channel->lossy[1] + x;
    const int32_t w = l[-1] + e[-1], n = a[0] + f[0], nw = a[-1] + f[-1], ne = a[1] + f[1];
    const int32_t left = abs(e[-1]) + abs(f[0]) + abs(f[-1]) + abs(f[1]);
    const int32_t step = abs(w - nw) + abs(n - nw) + abs(ne - n);
    const double s = 1.5 + (left < step ? left : step) / 4.0;
    return 1 / s;
}

static void add_sample(normal *to, const int32_t *input, int n, int32_t residual, double weight) {
    double v[N + 1];
    for (int i = 0; i < n; i++) v[i] = input[i];
    v[n] = residual;
    for (int i = 0; i <= n; i++) {
        const double s = weight * v[i];
        for (int k = 0; k <= i; k++) to->of[i][k] += s * v[k];
    }
    to->count += 1;
}

static void add_row(codec_exact_fit *fit, const codec_exact_rows *rows, uint32_t step) {
    for (uint32_t x = rows->y * 7 % step; x < rows->width; x += step) {
        for (uint32_t c = 0; c < rows->channels; c++) {
            int32_t input[N];
            const int n = codec_exact_inputs(rows, c, x, input);
            add_sample(&fit->sums[codec_exact_class(rows, c, x) * CHANNELS + c], input, n,
                       rows->channel[c].residual[0][x], importance(rows, c, x));
        }
    }
}

void codec_exact_fit_add(codec_exact_fit *fit, const taper_image *original,
                         const taper_image *lossy, uint32_t first, uint32_t end) {
    codec_exact_rows *rows = &fit->rows;
    const uint32_t step = (uint64_t)(end - first) * lossy->width > MANY ? 2 : 1;
    codec_exact_rows_begin(rows, lossy, first);
    for (uint32_t r = 1; r <= 2 && r <= first; r++)
        set_residuals(rows, original, lossy, (int)r, first - r);
    for (uint32_t y = first; y < end; y++) {
        set_residuals(rows, original, lossy, 0, y);
        add_row(fit, rows, step);
        if (y + 1 < end) codec_exact_rows_next(rows, lossy);
    }
    fit->pixels += (uint64_t)(end - first) * lossy->width;
}

/* Solve by a Cholesky factorisation; directions without data get 0. */
static void solve(const normal *sums, int n, int16_t *weight) {
    double l[N][N], y[N];
    for (int i = 0; i < n; i++) {
        for (int k = 0; k <= i; k++) {
            double s = sums->of[i][k] + (i == k ? 1e-3 * sums->count * 0.01 + 1e-6 : 0);
            for (int j = 0; j < k; j++) s -= l[i][j] * l[k][j];
            l[i][k] = i == k ? sqrt(s > 1e-9 ? s : 1e-9) : s / l[k][k];
        }
        double s = sums->of[n][i];
        for (int k = 0; k < i; k++) s -= l[i][k] * y[k];
        y[i] = s / l[i][i];
    }
    for (int i = n; i-- > 0;) {
        for (int k = i + 1; k < n; k++) y[i] -= l[k][i] * y[k];
        y[i] /= l[i][i];
        const double w = y[i] * (1 << CODEC_EXACT_WEIGHT_BITS);
        weight[i] = !(fabs(w) <= CODEC_EXACT_WEIGHT_MOST) ? 0 : (int16_t)lrint(w);
    }
}

static void add_scaled(normal *to, const normal *from, int n, double scale) {
    for (int i = 0; i <= n; i++)
        for (int k = 0; k <= i; k++) to->of[i][k] += scale * from->of[i][k];
    to->count += scale * from->count;
}

void codec_exact_fit_solve(const codec_exact_fit *fit, codec_exact_weights *out) {
    memset(out, 0, sizeof *out);
    out->channels = fit->channels;
    if (fit->pixels < FEW_FOR_ONE) return;
    out->classes = fit->pixels < FEW_FOR_CLASSES ? 1 : CLASSES;
    for (uint32_t c = 0; c < fit->channels; c++) {
        const int n = codec_exact_input_count(fit->channels, c);
        normal all = {0};
        for (int k = 0; k < CLASSES; k++) add_scaled(&all, &fit->sums[k * CHANNELS + c], n, 1);
        if (out->classes == 1) solve(&all, n, out->of[0][c]);
        if (out->classes == 1) continue;
        for (int k = 0; k < CLASSES; k++) {
            normal one = fit->sums[k * CHANNELS + c];
            add_scaled(&one, &all, n, 300 / all.count);
            solve(&one, n, out->of[k][c]);
        }
    }
}
