/* rival_fit.c -- see rival_fit.h. Encodings are kept, as the searches for different
 * numbers of bytes need many of the same qualities. */
#include "cli/compare/rival_fit.h"
#include "codec/taper_quality.h"
#include <stdlib.h>
#include <string.h>

enum { STEPS = 4, MOST_PLACES = 64 }; /* qualities from one of the ladder to the next; all */

void cli_rival_fit_free(cli_rival_fit *fit) {
    free(fit->bytes);
    *fit = (cli_rival_fit){0};
}

/* The quality at a place of the ladder. */
static double quality_at(const cli_rival *rival, size_t place) {
    const double *q = rival->ladder + place / STEPS, part = (double)(place % STEPS) / STEPS;
    return part > 0 ? q[0] + part * (q[1] - q[0]) : q[0];
}

typedef struct attempts {
    const cli_rival *rival;
    const taper_image *image;
    size_t setting;
    bool is_payload;
    cli_rival_fit at[MOST_PLACES]; /* bytes NULL: not coded yet */
} attempts;

static taper_status code(attempts *a, size_t place, taper_error *error) {
    cli_rival_coded coded;
    double mse;
    if (a->at[place].bytes) return TAPER_OK;
    TAPER_TRY(
        cli_rival_code(a->rival, a->image, a->setting, quality_at(a->rival, place), &coded, error));
    taper_status status = taper_quality_mse(a->image, &coded.decoded, &mse, error);
    if (status == TAPER_OK) {
        cli_rival_fit *at = &a->at[place];
        at->counted = a->is_payload ? coded.payload_bytes : coded.file.size;
        at->bytes = formats_buffer_take(&coded.file, &at->size);
        at->mse = mse;
    }
    cli_rival_coded_free(&coded);
    return status;
}

/* Halve the ladder. */
static taper_status search(attempts *a, double budget, taper_error *error) {
    size_t low = 0, high = (a->rival->n_ladder - 1) * STEPS + 1;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        TAPER_TRY(code(a, middle, error));
        if ((double)a->at[middle].counted <= budget)
            low = middle + 1;
        else
            high = middle;
    }
    return TAPER_OK;
}

/* A better attempt than *best is copied there. */
static taper_status keep_best(const attempts *a, double budget, cli_rival_fit *best,
                              taper_error *error) {
    const cli_rival_fit *found = NULL;
    for (size_t i = 0; i < MOST_PLACES; i++) {
        const cli_rival_fit *f = &a->at[i];
        if (!f->bytes || (double)f->counted > budget || (best->bytes && f->mse >= best->mse))
            continue;
        if (!found || f->mse < found->mse) found = f;
    }
    if (!found) return TAPER_OK;
    cli_rival_fit_free(best);
    uint8_t *bytes = malloc(found->size);
    if (!bytes) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a rival's file");
    memcpy(bytes, found->bytes, found->size);
    *best = *found;
    best->bytes = bytes;
    return TAPER_OK;
}

static taper_status fit_setting(attempts *a, const double *budget, size_t n, cli_rival_fit *fit,
                                size_t *smallest, taper_error *error) {
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < n && !status; i++) status = search(a, budget[i], error);
    for (size_t i = 0; i < n && !status; i++) status = keep_best(a, budget[i], &fit[i], error);
    for (size_t i = 0; i < MOST_PLACES; i++) {
        if (a->at[i].bytes && a->at[i].counted < *smallest) *smallest = a->at[i].counted;
        cli_rival_fit_free(&a->at[i]);
    }
    return status;
}

taper_status cli_rival_fit_all(const cli_rival *rival, const taper_image *image, bool is_payload,
                               const double *budget, size_t n, cli_rival_fit *fit, size_t *smallest,
                               taper_error *error) {
    const size_t settings = image->channels == 1 ? 1 : rival->n_settings;
    taper_status status = TAPER_OK;
    memset(fit, 0, n * sizeof *fit);
    *smallest = SIZE_MAX;
    for (size_t s = 0; s < settings && !status; s++) {
        attempts a = {
            .rival = rival, .image = image, .setting = s, .is_payload = is_payload, .at = {{0}}};
        status = fit_setting(&a, budget, n, fit, smallest, error);
    }
    for (size_t i = 0; i < n && status != TAPER_OK; i++) cli_rival_fit_free(&fit[i]);
    return status;
}

taper_status cli_rival_fit_decode(const cli_rival *rival, const taper_image *image,
                                  const cli_rival_fit *fit, taper_image *out, taper_error *error) {
    cli_rival_coded coded = {.file = {.data = fit->bytes, .size = fit->size}};
    const taper_status status = cli_rival_decode(rival, image, &coded, error);
    if (status != TAPER_OK) free(coded.decoded.pixels);
    *out = status == TAPER_OK ? coded.decoded : (taper_image){0};
    return status;
}
