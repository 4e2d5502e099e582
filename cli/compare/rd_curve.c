/* rd_curve.c -- runs coders over sets of images and sums their rates and qualities. */
#include "cli/compare/rd_curve.h"
#include "cli/common/parallel.h"
#include "codec/taper_quality.h"
#include <pthread.h>
#include <stdlib.h>

typedef struct running_job {
    const cli_rd_job *job;
    cli_rd_sum *partial;  /* [runs][columns] */
    pthread_mutex_t lock; /* guards the following members */
    size_t failed_run, failed_image;
    taper_error error;
} running_job;

static void add_sum(cli_rd_sum *to, const cli_rd_sum *from) {
    to->images += from->images;
    to->pixels += from->pixels;
    to->file_bytes += from->file_bytes;
    to->payload_bytes += from->payload_bytes;
    to->mse += from->mse;
    to->psnr_db += from->psnr_db;
    to->ssim += from->ssim;
    to->ms_ssim += from->ms_ssim;
}

static taper_status do_image(const cli_rd_job *job, unsigned thread, size_t i, cli_rd_sum *sums,
                             taper_error *error) {
    taper_image original = {0};
    taper_status status = job->read(job->user, i, &original, error);
    for (size_t c = 0; c < job->columns && status == TAPER_OK; c++) {
        cli_rd_sum one = {0};
        status = job->code(job->coder, thread, i, c, &original, &one, error);
        if (status == TAPER_OK) add_sum(&sums[c], &one);
    }
    free(original.pixels);
    return status;
}

/* A failure stops all later runs, but not the earlier ones, which may also fail: the reported error
 * is then always the same. */
static int is_past_failure(running_job *r, size_t run) {
    pthread_mutex_lock(&r->lock);
    int past = run > r->failed_run;
    pthread_mutex_unlock(&r->lock);
    return past;
}

static void do_run(void *user, size_t run, unsigned thread) {
    running_job *r = user;
    const cli_rd_job *job = r->job;
    for (size_t i = job->run_start[run]; i < job->run_start[run + 1] && !is_past_failure(r, run);
         i++) {
        taper_error error = {0};
        if (do_image(job, thread, i, r->partial + run * job->columns, &error) != TAPER_OK) {
            pthread_mutex_lock(&r->lock);
            if (run < r->failed_run) {
                r->failed_run = run;
                r->failed_image = i;
                r->error = error;
            }
            pthread_mutex_unlock(&r->lock);
            return;
        }
        if (job->done) job->done(job->user, 1);
    }
}

taper_status cli_rd_run(const cli_rd_job *job, cli_rd_sum *sums, size_t *failed,
                        taper_error *error) {
    running_job r = {.job = job, .failed_run = SIZE_MAX};
    if (job->columns && job->runs > SIZE_MAX / sizeof *r.partial / job->columns)
        return formats_fail(error, TAPER_ERR_NOMEM,
                            "too many images for the memory of this machine");
    r.partial = calloc(job->runs * job->columns + 1, sizeof *r.partial);
    if (!r.partial)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %zu sums",
                            job->runs * job->columns);
    pthread_mutex_init(&r.lock, NULL);
    cli_parallel(job->threads, job->runs, do_run, &r);
    pthread_mutex_destroy(&r.lock);

    for (size_t c = 0; c < job->columns; c++) {
        sums[c] = (cli_rd_sum){0};
        for (size_t run = 0; run < job->runs; run++)
            add_sum(&sums[c], &r.partial[run * job->columns + c]);
    }
    free(r.partial);
    if (r.failed_run == SIZE_MAX) return TAPER_OK;
    if (failed) *failed = r.failed_image;
    if (error) *error = r.error;
    return r.error.status != TAPER_OK ? r.error.status : TAPER_ERR_ARG;
}

size_t *cli_rd_even_runs(size_t n, size_t *runs) {
    /* Short, so that the threads end together; not so short that the sums need much memory. */
    size_t length = n / 4096 + 1;
    *runs = (n + length - 1) / length;
    size_t *start = malloc((*runs + 1) * sizeof *start);
    for (size_t r = 0; start && r <= *runs; r++) start[r] = r * length < n ? r * length : n;
    return start;
}

taper_status cli_rd_measure(const taper_image *original, const taper_image *decoded,
                            cli_rd_sum *out, taper_error *error) {
    taper_quality q = {.size = sizeof q};
    TAPER_TRY(taper_quality_measure(original, decoded, &q, error));
    out->images = 1;
    out->pixels = (uint64_t)original->width * original->height;
    out->mse = q.mse;
    out->psnr_db = q.psnr_db;
    out->ssim = q.ssim;
    out->ms_ssim = q.ms_ssim;
    return TAPER_OK;
}

cli_rd_point cli_rd_mean(const cli_rd_sum *sum, double total_bytes) {
    const double n = (double)sum->images;
    return (cli_rd_point){.bytes_per_image = total_bytes / n,
                          .bpp = total_bytes * 8 / (double)sum->pixels,
                          .psnr_db = sum->psnr_db / n,
                          .psnr_of_mean_mse_db = taper_quality_psnr_db(sum->mse / n),
                          .ssim = sum->ssim / n,
                          .ms_ssim = sum->ms_ssim / n};
}

/* --- rivals ----------------------------------------------------------------------------------- */

/* A column is a setting and a quality. For grey images, settings without effect repeat the first.
 *  */
static taper_status rival_code(void *coder, unsigned thread, size_t i, size_t column,
                               const taper_image *original, cli_rd_sum *out, taper_error *error) {
    (void)thread, (void)i;
    const cli_rival *rival = coder;
    size_t setting = original->channels < 3 ? 0 : column / rival->n_ladder;
    double quality = rival->ladder[column % rival->n_ladder];
    taper_image plain;
    TAPER_TRY(cli_rival_prepare(original, &plain, error));
    cli_rival_coded coded;
    taper_status status = cli_rival_code(rival, &plain, setting, quality, &coded, error);
    if (status == TAPER_OK) {
        out->file_bytes = coded.file.size;
        out->payload_bytes = coded.payload_bytes;
        status = cli_rd_measure(&plain, &coded.decoded, out, error);
        cli_rival_coded_free(&coded);
    }
    free(plain.pixels);
    return status;
}

static int by_rate(const void *left, const void *right) {
    const cli_rd_point *a = left, *b = right;
    return (a->bytes_per_image > b->bytes_per_image) - (a->bytes_per_image < b->bytes_per_image);
}

/* Keep the best setting at each rate. */
static taper_status best_curve(const cli_rival *rival, const cli_rd_sum *sums, int payload,
                               cli_rd_curve *curve, taper_error *error) {
    const size_t columns = rival->n_settings * rival->n_ladder;
    cli_rd_point all[CLI_RD_MAX_POINTS];
    taper_rd_point plain[CLI_RD_MAX_POINTS] = {{0}};
    int setting[CLI_RD_MAX_POINTS] = {0};
    unsigned char keep[CLI_RD_MAX_POINTS];
    *curve =
        (cli_rd_curve){.codec = rival->name, .title = rival->title, .settings = rival->settings};
    curve->accounting = payload ? "payload" : "file";
    for (size_t c = 0; c < columns; c++) {
        all[c] =
            cli_rd_mean(&sums[c], (double)(payload ? sums[c].payload_bytes : sums[c].file_bytes));
        all[c].quality = rival->ladder[c % rival->n_ladder];
        all[c].setting = c / rival->n_ladder;
        plain[c] = (taper_rd_point){all[c].bytes_per_image, all[c].psnr_db};
        setting[c] = (int)all[c].setting;
    }
    TAPER_TRY(taper_quality_best(plain, setting, columns, keep, error));
    for (size_t c = 0; c < columns; c++)
        if (keep[c]) curve->point[curve->n++] = all[c];
    qsort(curve->point, curve->n, sizeof *curve->point, by_rate);
    return TAPER_OK;
}

taper_status cli_rd_rival(const cli_rival *rival, const cli_rd_job *images, cli_rd_curve *file,
                          cli_rd_curve *payload, size_t *failed, taper_error *error) {
    cli_rd_sum sums[CLI_RD_MAX_POINTS];
    cli_rd_job job = *images;
    job.coder = (void *)rival; /* only read */
    job.columns = rival->n_settings * rival->n_ladder;
    job.code = rival_code;
    *payload = (cli_rd_curve){0};
    TAPER_TRY(cli_rival_load(rival, error));
    if (job.columns > CLI_RD_MAX_POINTS)
        return formats_fail(error, TAPER_ERR_UNSUPPORTED, "too many settings");
    TAPER_TRY(cli_rd_run(&job, sums, failed, error));
    TAPER_TRY(best_curve(rival, sums, 0, file, error));
    return rival->payload_is ? best_curve(rival, sums, 1, payload, error) : TAPER_OK;
}

taper_status cli_rd_delta(const cli_rd_curve *anchor, const cli_rd_curve *test, taper_bd_rate *out,
                          taper_error *error) {
    taper_rd_point a[CLI_RD_MAX_POINTS], t[CLI_RD_MAX_POINTS];
    for (size_t i = 0; i < anchor->n; i++)
        a[i] = (taper_rd_point){anchor->point[i].bytes_per_image, anchor->point[i].psnr_db};
    for (size_t i = 0; i < test->n; i++)
        t[i] = (taper_rd_point){test->point[i].bytes_per_image, test->point[i].psnr_db};
    return taper_quality_bd_rate(a, anchor->n, t, test->n, out, error);
}
