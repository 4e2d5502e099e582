/* rd_curve.h -- rate and distortion of a codec over a set of images, several images at a time.
 *
 * A job runs a coder over all images at several columns, and sums rate and quality. A column is one
 * setting and quality of another codec, or one cut of a container. Consecutive images form a run,
 * which one thread processes. The sums of runs are added in order, so that results do not depend on
 * the number of threads. Memory: a few images per thread, and a few numbers per run and column. */
#ifndef CLI_COMPARE_RD_CURVE_H
#define CLI_COMPARE_RD_CURVE_H
#include "cli/compare/rival.h"
#include "codec/taper_quality.h"

/* Rate and quality in one column, of one image or summed over images. */
typedef struct cli_rd_sum {
    uint64_t images, pixels;
    uint64_t file_bytes, payload_bytes; /* 0 if only the bytes of the whole set are known */
    double mse, psnr_db, ssim, ms_ssim;
} cli_rd_sum;

/* A point of a curve, as printed: means over images. */
typedef struct cli_rd_point {
    double bytes_per_image, bpp; /* bpp: all bits / all pixels */
    double psnr_db;              /* mean of the images' PSNR */
    double psnr_of_mean_mse_db;
    double ssim, ms_ssim;
    double quality; /* of another codec, in its own scale; of a container, the cut in bytes */
    size_t setting; /* of a rival */
} cli_rd_point;

enum { CLI_RD_MAX_POINTS = 64 };

/* A curve in one accounting, points by ascending rate. */
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
    /* Code the original, compare, and fill *out, which is zeroed. thread: 0 .. threads - 1, never
     * two calls at a time with the same value. One thread gets the images of a run in ascending
     * order, and for each all columns in order. */
    taper_status (*code)(void *coder, unsigned thread, size_t i, size_t column,
                         const taper_image *original, cli_rd_sum *out, taper_error *error);
    void (*done)(void *user, size_t images); /* `images` more are done; may be NULL */
} cli_rd_job;

/* Run the job; fills sums[columns]. On failure the error is that of the earliest run that failed,
 * *failed (may be NULL) is the number of the image, and sums are undefined. */
taper_status cli_rd_run(const cli_rd_job *job, cli_rd_sum *sums, size_t *failed,
                        taper_error *error);

/* Divide n images into runs, for coders without requirements: *runs and an array [*runs + 1], the
 * caller's to free; NULL without memory. */
size_t *cli_rd_even_runs(size_t n, size_t *runs);

/* Compare decoded with original: PSNR, SSIM, ... and the number of pixels, into *out. */
taper_status cli_rd_measure(const taper_image *original, const taper_image *decoded,
                            cli_rd_sum *out, taper_error *error);

/* Means over images. total_bytes: of all images, in the accounting that is wanted. */
cli_rd_point cli_rd_mean(const cli_rd_sum *sum, double total_bytes);

/* All settings and qualities of a rival over the images that read yields, in both accountings. Only
 * the best setting at each rate is left in a curve. payload->n is 0 when the rival has no such
 * accounting. threads, read, user, done as in cli_rd_job. */
taper_status cli_rd_rival(const cli_rival *rival, const cli_rd_job *images, cli_rd_curve *file,
                          cli_rd_curve *payload, size_t *failed, taper_error *error);

/* BD-rate of one curve against another, on bytes per image and mean PSNR. */
taper_status cli_rd_delta(const cli_rd_curve *anchor, const cli_rd_curve *test, taper_bd_rate *out,
                          taper_error *error);
#endif
