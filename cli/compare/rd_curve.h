/* rd_curve.h -- rate and distortion of a codec over a set of images, several images at a time.
 *
 * A JOB runs a coder over all images at several COLUMNS (a column is one setting and quality of a
 * rival, or one cut of a container) and adds up rate and quality. Images come in RUNS of
 * neighbours; one thread does one run, and the sums of the runs are added in their order, so that
 * the figures do not depend on the number of threads. Memory: a few images per thread, and a few
 * numbers per run and column. */
#ifndef CLI_COMPARE_RD_CURVE_H
#define CLI_COMPARE_RD_CURVE_H
#include "cli/compare/rival.h"
#include "codec/quality/bd_rate.h"

/* What images cost and are worth in one column, summed over them; of one image, what it is. */
typedef struct cli_rd_sum {
    uint64_t images, pixels;
    uint64_t file_bytes, payload_bytes; /* 0 where a set's bytes are known only as a whole */
    double mse, psnr_db, ssim, ms_ssim;
} cli_rd_sum;

/* A point of a curve, as printed: means over images. */
typedef struct cli_rd_point {
    double bytes_per_image, bpp; /* bpp: all bits / all pixels */
    double psnr_db;              /* mean of the images' PSNR */
    double psnr_of_mean_mse_db;
    double ssim, ms_ssim;
    double quality; /* of a rival, in its own scale; of a container, the cut in bytes */
    size_t setting; /* of a rival */
} cli_rd_point;

enum { CLI_RD_MAX_POINTS = 64 };

/* A curve in one accounting, points by rising rate. */
typedef struct cli_rd_curve {
    const char *codec, *title;   /* "jpeg", "JPEG" */
    const char *accounting;      /* "file", "file+model", "payload" */
    const char *const *settings; /* names of a rival's settings; NULL for taper */
    unsigned colour;
    size_t n;
    cli_rd_point point[CLI_RD_MAX_POINTS];
} cli_rd_curve;

typedef struct cli_rd_job {
    void *user;  /* of read and done */
    void *coder; /* of code */
    size_t columns;
    size_t runs;
    const size_t *run_start; /* [runs + 1]: run r is images run_start[r] .. run_start[r + 1] - 1 */
    unsigned threads;
    /* Original i into *out, whose pixels the job frees. Called from several threads at once. */
    taper_status (*read)(void *user, size_t i, taper_image *out, taper_error *error);
    /* Code the original, measure against it, fill *out, which is zeroed. thread: 0 .. threads - 1,
     * never two calls at a time for one. Images of a run come in rising order to one thread; for
     * each, all columns in order. */
    taper_status (*code)(void *coder, unsigned thread, size_t i, size_t column,
                         const taper_image *original, cli_rd_sum *out, taper_error *error);
    void (*done)(void *user, size_t images); /* so many more are done; may be NULL */
} cli_rd_job;

/* Run the job; sums: [columns], filled. On failure the error is that of the earliest run that
 * failed, *failed (may be NULL) is the image's number, and the sums mean nothing. */
taper_status cli_rd_run(const cli_rd_job *job, cli_rd_sum *sums, size_t *failed,
                        taper_error *error);

/* Cut n images into runs for coders that do not mind how: *runs and an array [*runs + 1] that the
 * caller frees; NULL when there is no memory. */
size_t *cli_rd_even_runs(size_t n, size_t *runs);

/* PSNR, SSIM and the rest of decoded against original, and its pixels, into *out. */
taper_status cli_rd_measure(const taper_image *original, const taper_image *decoded,
                            cli_rd_sum *out, taper_error *error);

/* Means; total_bytes is what the images together take in the accounting meant. */
cli_rd_point cli_rd_mean(const cli_rd_sum *sum, double total_bytes);

/* All settings and qualities of a rival over the images that read yields, in both accountings. Only
 * the best setting at each rate is left in a curve. payload->n is 0 when the rival has no such
 * accounting. threads, read, user, done as in cli_rd_job. */
taper_status cli_rd_rival(const cli_rival *rival, const cli_rd_job *images, cli_rd_curve *file,
                          cli_rd_curve *payload, size_t *failed, taper_error *error);

/* BD-rate of one curve against another, on bytes per image and mean PSNR. */
taper_status cli_rd_delta(const cli_rd_curve *anchor, const cli_rd_curve *test,
                          codec_bd_result *out, taper_error *error);
#endif
