/* rival_fit.c -- see rival_fit.h. */
#include "cli/compare/rival_fit.h"
#include "codec/quality/metrics.h"
#include <stdlib.h>
#include <string.h>

enum { STEPS = 4 }; /* qualities from one of the ladder to the next */

void cli_rival_fit_free(cli_rival_fit *fit) {
    free(fit->bytes);
    *fit = (cli_rival_fit){0};
}

/* The quality at a place of the ladder, in quarters. */
static double quality_at(const cli_rival *rival, size_t place) {
    const double *q = rival->ladder + place / STEPS, part = (double)(place % STEPS) / STEPS;
    return part > 0 ? q[0] + part * (q[1] - q[0]) : q[0];
}

/* Code the image, and keep it in *best when it fits and is better. *fits: whether it fits. */
static taper_status try_place(const cli_rival *rival, const taper_image *image, size_t setting,
                              size_t place, bool is_payload, double budget, cli_rival_fit *best,
                              size_t *counted, taper_error *error) {
    cli_rival_coded coded;
    double mse;
    TAPER_TRY(
        cli_rival_code(rival, image, setting, quality_at(rival, place), &coded, error));
    *counted = is_payload ? coded.payload_bytes : coded.file_bytes;
    taper_status status = codec_mse(image, &coded.decoded, &mse, error);
    if (status == TAPER_OK && (double)*counted <= budget && (!best->bytes || mse < best->mse)) {
        cli_rival_fit_free(best);
        *best = (cli_rival_fit){coded.bytes, coded.file_bytes, *counted, mse};
        coded.bytes = NULL;
    }
    cli_rival_coded_free(&coded);
    return status;
}

/* One setting: halve the ladder for each budget; the next one begins where this one ended. */
static taper_status fit_setting(const cli_rival *rival, const taper_image *image, size_t setting,
                                bool is_payload, const double *budget, size_t n,
                                cli_rival_fit *fit, size_t *smallest, taper_error *error) {
    const size_t end = (rival->n_ladder - 1) * STEPS + 1;
    size_t begin = 0, counted = 0;
    for (size_t i = 0; i < n; i++) {
        size_t low = begin, high = end; /* low: the first that is not known to fit */
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            TAPER_TRY(try_place(rival, image, setting, middle, is_payload, budget[i], &fit[i],
                                &counted, error));
            if (counted < *smallest) *smallest = counted;
            if ((double)counted <= budget[i])
                low = middle + 1;
            else
                high = middle;
        }
        begin = low ? low - 1 : 0; /* which fits the next one too */
    }
    return TAPER_OK;
}

taper_status cli_rival_fit_all(const cli_rival *rival, const taper_image *image, bool is_payload,
                               const double *budget, size_t n, cli_rival_fit *fit,
                               size_t *smallest, taper_error *error) {
    taper_status status = TAPER_OK;
    memset(fit, 0, n * sizeof *fit);
    *smallest = SIZE_MAX;
    for (size_t s = 0; s < (image->channels == 1 ? 1 : rival->n_settings) && !status; s++)
        status = fit_setting(rival, image, s, is_payload, budget, n, fit, smallest, error);
    for (size_t i = 0; i < n && status != TAPER_OK; i++) cli_rival_fit_free(&fit[i]);
    return status;
}

taper_status cli_rival_fit_decode(const cli_rival *rival, const taper_image *image,
                                  const cli_rival_fit *fit, taper_image *out, taper_error *error) {
    cli_rival_coded coded = {.bytes = fit->bytes, .file_bytes = fit->size};
    TAPER_TRY(
        cli_rival_new_image(image->width, image->height, image->channels, &coded.decoded, error));
    const taper_status status = rival->decode(&coded, error);
    if (status != TAPER_OK) free(coded.decoded.pixels);
    *out = status == TAPER_OK ? coded.decoded : (taper_image){0};
    return status;
}
