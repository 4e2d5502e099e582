/* metrics.c -- MSE, PSNR, SSIM and MS-SSIM; see codec/taper_quality.h.
 *
 * The directory codec/quality/: metrics, and bd_rate: the mean difference of two curves.
 *
 * SSIM uses float planes, one channel at a time. The Gaussian is separable: for each row of windows
 * the five moments (a, b, aa, bb, ab) are summed along the columns and then along the row. Both
 * loops process four adjacent samples at a time, with sums in registers. 128 is subtracted from
 * every sample first: variances do not change, and smaller squares make their difference more exact
 * in single precision. */
#include "codec/taper_quality.h"
#include "formats/image.h"
#include "formats/sized.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SSIM_WINDOW = 11, MS_SSIM_SCALES = 5 };
enum { MOMENTS = 5, LANES = 4, SLACK = SSIM_WINDOW + LANES };
typedef float lanes
    __attribute__((vector_size(LANES * sizeof(float)))); /* gcc and clang, any machine */

static const double k_offset = 128.0;
static const double k_c1 = (0.01 * 255) * (0.01 * 255), k_c2 = (0.03 * 255) * (0.03 * 255);
static const double k_scale_weight[MS_SSIM_SCALES] = {0.0448, 0.2856, 0.3001, 0.2363, 0.1333};

typedef struct plane_pair { /* one channel of both images */
    float *a, *b;
    size_t width, height;
} plane_pair;

typedef struct window {
    int side; /* odd */
    float weight[SSIM_WINDOW];
} window;

static uint32_t sample(const taper_image *image, size_t i) {
    if (image->depth == 8) return ((const uint8_t *)image->pixels)[i];
    return (((const uint16_t *)image->pixels)[i] + 128u) / 257u;
}

static int colours(const taper_image *image) { return image->channels < 3 ? 1 : 3; }

static taper_status check_pair(const taper_image *a, const taper_image *b, taper_error *error) {
    if (!a || !b || !formats_image_is_legal(a) || !formats_image_is_legal(b))
        return formats_fail(error, TAPER_ERR_ARG, "not an image to measure");
    if (a->width != b->width || a->height != b->height)
        return formats_fail(error, TAPER_ERR_ARG,
                            "cannot measure %ux%u pixels against %ux%u: sizes must agree", a->width,
                            a->height, b->width, b->height);
    if (colours(a) != colours(b))
        return formats_fail(error, TAPER_ERR_ARG,
                            "cannot measure a grey image against a colour one");
    return TAPER_OK;
}

/* --- mean squared error ----------------------------------------------------------------------- */

/* The sum of squared differences. 8-bit images without alpha, the usual case, are one array of
 * bytes. */
static double squared_error(const taper_image *a, const taper_image *b) {
    const size_t pixels = (size_t)a->width * a->height, n_colours = (size_t)colours(a);
    double total = 0;
    if (a->depth == 8 && b->depth == 8 && a->channels == n_colours && b->channels == n_colours) {
        const uint8_t *pa = a->pixels, *pb = b->pixels;
        for (size_t from = 0; from < pixels * n_colours;) {
            size_t to = from + 32768 < pixels * n_colours ? from + 32768 : pixels * n_colours;
            uint32_t sum = 0; /* 32768 * 255^2 fits */
            for (; from < to; from++) {
                int d = pa[from] - pb[from];
                sum += (uint32_t)(d * d);
            }
            total += sum;
        }
        return total;
    }
    for (size_t i = 0; i < pixels; i++)
        for (size_t c = 0; c < n_colours; c++) {
            double d =
                (double)sample(a, i * a->channels + c) - (double)sample(b, i * b->channels + c);
            total += d * d;
        }
    return total;
}

double taper_quality_psnr_db(double mse) {
    if (mse <= 0) return TAPER_PSNR_CEILING_DB;
    double db = 10 * log10(255.0 * 255.0 / mse);
    return db > TAPER_PSNR_CEILING_DB ? TAPER_PSNR_CEILING_DB : db;
}

taper_status taper_quality_mse(const taper_image *a, const taper_image *b, double *mse,
                               taper_error *error) {
    TAPER_TRY(check_pair(a, b, error));
    TAPER_TRY(formats_need(mse, "the place of the error", error));
    *mse = squared_error(a, b) / ((double)a->width * a->height * colours(a));
    return TAPER_OK;
}

/* --- structural similarity -------------------------------------------------------------------- */

static size_t row_stride(size_t width) { return (width + LANES - 1) / LANES * LANES; }
static size_t scratch_floats(size_t width) { return 2 * (MOMENTS * row_stride(width) + SLACK); }

static window gaussian_window(size_t width, size_t height) {
    size_t smaller = width < height ? width : height;
    window win = {.side = SSIM_WINDOW};
    if (smaller < SSIM_WINDOW) win.side = (int)(smaller - (smaller % 2 == 0));
    double weight[SSIM_WINDOW], sum = 0;
    for (int k = 0; k < win.side; k++) {
        double d = k - win.side / 2;
        weight[k] = exp(-d * d / (2 * 1.5 * 1.5));
        sum += weight[k];
    }
    for (int k = 0; k < win.side; k++) win.weight[k] = (float)(weight[k] / sum);
    return win;
}

static inline lanes load(const float *from) {
    lanes v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* column[m][x] = moment m of the window's column at x, rows top..top+side-1, for `stride` columns.
 * Up to three columns after the end of the row are padding. */
static void column_moments(const plane_pair *p, const window *win, size_t top, size_t stride,
                           float *column) {
    for (size_t x = 0; x < stride; x += LANES) {
        lanes sum[MOMENTS] = {{0}};
        const float *a = p->a + top * p->width + x, *b = p->b + top * p->width + x;
        for (int k = 0; k < win->side; k++, a += p->width, b += p->width) {
            lanes va = load(a), vb = load(b), wa = win->weight[k] * va, wb = win->weight[k] * vb;
            sum[0] += wa;
            sum[1] += wb;
            sum[2] += wa * va;
            sum[3] += wb * vb;
            sum[4] += wa * vb;
        }
        for (size_t m = 0; m < MOMENTS; m++)
            memcpy(column + m * stride + x, &sum[m], sizeof sum[m]);
    }
}

/* moment[m][x] = sum_k weight[k] column[m][x + k] for n windows, rounded up to full vectors. */
static void row_moments(const float *column, const window *win, size_t stride, size_t n,
                        float *moment) {
    for (size_t m = 0; m < MOMENTS; m++, column += stride, moment += stride)
        for (size_t x = 0; x < n; x += LANES) {
            lanes sum = {0};
            for (int k = 0; k < win->side; k++) sum += win->weight[k] * load(column + x + k);
            memcpy(moment + x, &sum, sizeof sum);
        }
}

/* The mean SSIM of one plane, and the mean of its contrast-structure factor. scratch:
 * scratch_floats(width). SLACK floats after the planes must be readable. */
static void plane_ssim(const plane_pair *p, float *scratch, double *ssim, double *contrast) {
    const window win = gaussian_window(p->width, p->height);
    const size_t across = p->width - (size_t)win.side + 1, down = p->height - (size_t)win.side + 1;
    const size_t stride = row_stride(p->width);
    const float c1 = (float)k_c1, c2 = (float)k_c2, offset = (float)k_offset;
    float *column = scratch, *moment = scratch + MOMENTS * stride + SLACK;
    double sum_ssim = 0, sum_contrast = 0;
    for (size_t y = 0; y < down; y++) {
        column_moments(p, &win, y, stride, column);
        row_moments(column, &win, stride, across, moment);
        double row_ssim = 0, row_contrast = 0;
        for (size_t x = 0; x < across; x++) {
            const float *at = moment + x;
            float a = at[0], b = at[stride];
            float aa = at[2 * stride] - a * a, bb = at[3 * stride] - b * b,
                  ab = at[4 * stride] - a * b;
            float cs = (2 * ab + c2) / (aa + bb + c2);
            a += offset;
            b += offset;
            row_contrast += cs;
            row_ssim += cs * ((2 * a * b + c1) / (a * a + b * b + c1));
        }
        sum_ssim += row_ssim;
        sum_contrast += row_contrast;
    }
    *ssim = sum_ssim / ((double)across * (double)down);
    *contrast = sum_contrast / ((double)across * (double)down);
}

/* Halve a plane in place: the mean of each 2 x 2 block. An odd last row or column is repeated, like
 * the symmetric extension in the authors' program. */
static void halve(float *plane, size_t width, size_t height) {
    const size_t to_width = (width + 1) / 2, to_height = (height + 1) / 2;
    for (size_t y = 0; y < to_height; y++) {
        const float *row0 = plane + 2 * y * width;
        const float *row1 = 2 * y + 1 < height ? row0 + width : row0;
        for (size_t x = 0; x < to_width; x++) {
            size_t x0 = 2 * x, x1 = 2 * x + 1 < width ? 2 * x + 1 : 2 * x;
            plane[y * to_width + x] = 0.25f * (row0[x0] + row0[x1] + row1[x0] + row1[x1]);
        }
    }
}

int taper_quality_scales(uint32_t width, uint32_t height) {
    int scales = 1;
    for (; scales < MS_SSIM_SCALES; scales++) {
        width = width / 2 + width % 2;
        height = height / 2 + height % 2;
        if (width < SSIM_WINDOW || height < SSIM_WINDOW) break;
    }
    return scales;
}

/* SSIM and MS-SSIM of one channel. Overwrites the planes. */
static void channel_similarity(plane_pair p, int scales, float *scratch, double *ssim,
                               double *ms_ssim) {
    double weight_sum = 0, product = 1;
    for (int s = 0; s < scales; s++) weight_sum += k_scale_weight[s];
    for (int s = 0; s < scales; s++) {
        double full, contrast;
        plane_ssim(&p, scratch, &full, &contrast);
        if (s == 0) *ssim = full;
        double factor = s == scales - 1 ? full : contrast;
        product *= pow(factor > 0 ? factor : 0,
                       k_scale_weight[s] / weight_sum); /* negative numbers have no power */
        if (s == scales - 1) break;
        halve(p.a, p.width, p.height);
        halve(p.b, p.width, p.height);
        p.width = (p.width + 1) / 2;
        p.height = (p.height + 1) / 2;
    }
    *ms_ssim = product;
}

static void fill_plane(const taper_image *image, size_t channel, float *plane) {
    const size_t pixels = (size_t)image->width * image->height;
    for (size_t i = 0; i < pixels; i++)
        plane[i] = (float)sample(image, i * image->channels + channel) - (float)k_offset;
}

taper_status taper_quality_measure(const taper_image *a, const taper_image *b, taper_quality *out,
                                   taper_error *error) {
    TAPER_TRY(check_pair(a, b, error));
    TAPER_TRY(formats_need(out, "the place of the result", error));
    const uint64_t pixels = (uint64_t)a->width * a->height;
    if (pixels > SIZE_MAX / sizeof(float) / 16)
        return formats_fail(error, TAPER_ERR_ARG, "image too large to measure on this machine");
    const size_t plane_floats = (size_t)pixels + SLACK;
    float *planes = calloc(2 * plane_floats + scratch_floats(a->width), sizeof(float));
    if (!planes)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to measure %ux%u pixels", a->width,
                            a->height);
    float *scratch = planes + 2 * plane_floats;
    const plane_pair p = {planes, planes + plane_floats, a->width, a->height};
    const int n_colours = colours(a);
    taper_quality q = {.scales = taper_quality_scales(a->width, a->height)};
    for (int c = 0; c < n_colours; c++) {
        double ssim = 0, ms_ssim = 0;
        fill_plane(a, (size_t)c, p.a);
        fill_plane(b, (size_t)c, p.b);
        channel_similarity(p, q.scales, scratch, &ssim, &ms_ssim);
        q.ssim += ssim / n_colours;
        q.ms_ssim += ms_ssim / n_colours;
    }
    free(planes);
    q.mse = squared_error(a, b) / ((double)pixels * n_colours);
    q.psnr_db = taper_quality_psnr_db(q.mse);
    return formats_sized_give(out, &q, sizeof q, "taper_quality", error);
}
