/* jpeg_noise.c -- see jpeg_noise.h. Reads the coefficients by libjpeg, which is about a third of
 * the work of decoding. As in jpeg.c, no local changes after setjmp. */
#include "formats/images/jpeg_noise.h"
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

enum { MOST_BYTES = 128 << 20, MOST_SCANS = 200 };

typedef struct noise_job {
    struct jpeg_decompress_struct decoder;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf escape;
    double mse;
} noise_job;

static void on_error(j_common_ptr decoder) {
    noise_job *job = decoder->client_data;
    longjmp(job->escape, 1);
}

static void on_message(j_common_ptr decoder, int level) { (void)decoder, (void)level; }

static void on_output(j_common_ptr decoder) { (void)decoder; }

static void on_progress(j_common_ptr decoder) {
    const noise_job *job = decoder->client_data;
    if (job->decoder.input_scan_number > MOST_SCANS) on_error(decoder);
}

/* --- one component --------------------------------------------------------------------- */

/* The mean square of what became 0, if values have a Laplace distribution of which this share has
 * magnitudes above half a step. */
static double error_of_zeros(double step, double share) {
    const double a = step / 2;
    if (share <= 0) return 0;
    if (share >= 1) return step * step / 12;
    const double rate = -log(share) / a, inside = 2 / (rate * rate);
    return (inside - share * (a * a + 2 * a / rate + inside)) / (1 - share);
}

/* Count the blocks, and at each place of a block the coefficients that are not 0. */
static double count_coefficients(noise_job *job, jvirt_barray_ptr plane,
                                 const jpeg_component_info *of, double *count) {
    j_common_ptr decoder = (j_common_ptr)&job->decoder;
    for (JDIMENSION y = 0; y < of->height_in_blocks; y++) {
        uint32_t row[DCTSIZE2] = {0};
        JBLOCKROW block = job->decoder.mem->access_virt_barray(decoder, plane, y, 1, FALSE)[0];
        for (JDIMENSION x = 0; x < of->width_in_blocks; x++)
            for (int k = 0; k < DCTSIZE2; k++) row[k] += block[x][k] != 0;
        for (int k = 0; k < DCTSIZE2; k++) count[k] += row[k];
    }
    return (double)of->width_in_blocks * of->height_in_blocks;
}

static double noise_of(noise_job *job, jvirt_barray_ptr plane, const jpeg_component_info *of) {
    double count[DCTSIZE2] = {0}, sum = 0;
    const double blocks = count_coefficients(job, plane, of, count);
    for (int k = 0; of->quant_table && k < DCTSIZE2; k++) {
        const double step = of->quant_table->quantval[k], share = count[k] / blocks;
        sum += share * step * step / 12 + (1 - share) * error_of_zeros(step, share);
    }
    return sum / DCTSIZE2;
}

/* --- the picture ----------------------------------------------------------------------- */

/* What an error of a component adds to the mean over RGB. Smooth enlarging by 2 averages errors: a
 * sample has weights of 3/4 and 1/4 in each direction. */
static double weight_of(const noise_job *job, int c) {
    static const double ycc[3] = {1, (0.344 * 0.344 + 1.772 * 1.772) / 3,
                                  (1.402 * 1.402 + 0.714 * 0.714) / 3};
    const struct jpeg_decompress_struct *d = &job->decoder;
    const jpeg_component_info *of = &d->comp_info[c];
    double weight = d->jpeg_color_space == JCS_YCbCr ? ycc[c] : 1.0 / d->num_components;
    if (of->h_samp_factor < d->max_h_samp_factor) weight *= 0.625;
    if (of->v_samp_factor < d->max_v_samp_factor) weight *= 0.625;
    return weight;
}

static int is_small(const struct jpeg_decompress_struct *d) {
    uint64_t samples = 0;
    for (int c = 0; c < d->num_components; c++)
        samples += (uint64_t)d->image_width * d->image_height *
                   (uint64_t)d->comp_info[c].h_samp_factor *
                   (uint64_t)d->comp_info[c].v_samp_factor /
                   (uint64_t)(d->max_h_samp_factor * d->max_v_samp_factor);
    return samples <= MOST_BYTES / sizeof(JCOEF);
}

static void estimate(noise_job *job, const void *bytes, size_t n) {
    struct jpeg_decompress_struct *d = &job->decoder;
    if (setjmp(job->escape)) {
        job->mse = 0;
        return;
    }
    jpeg_create_decompress(d);
    jpeg_mem_src(d, bytes, n);
    d->progress = &job->progress;
    job->progress.progress_monitor = on_progress;
    jpeg_read_header(d, TRUE);
    const int is_known = d->jpeg_color_space == JCS_GRAYSCALE || d->jpeg_color_space == JCS_YCbCr ||
                         d->jpeg_color_space == JCS_RGB;
    if (!is_known || !is_small(d)) return;
    jvirt_barray_ptr *planes = jpeg_read_coefficients(d);
    for (int c = 0; c < d->num_components; c++)
        job->mse += weight_of(job, c) * noise_of(job, planes[c], &d->comp_info[c]);
}

double formats_jpeg_noise(const void *bytes, size_t n) {
    noise_job job = {.mse = 0};
    if (n > ULONG_MAX) return 0;
    job.decoder.client_data = &job;
    job.decoder.err = jpeg_std_error(&job.errors);
    job.errors.error_exit = on_error;
    job.errors.emit_message = on_message;
    job.errors.output_message = on_output;
    estimate(&job, bytes, n);
    jpeg_destroy_decompress(&job.decoder);
    return job.mse;
}
