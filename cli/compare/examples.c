/* examples.c -- see examples.h. */
#include "cli/compare/examples.h"
#include "cli/common/page.h"
#include "codec/quality/metrics.h"
#include "formats/image.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_EXAMPLES = 6, MAX_RATES = 5, SHOWN = 192, SMALL = 128 };

typedef struct gallery {
    const cli_comparison *comparison;
    const cli_subject *subject;
    const cli_originals *originals;
    FILE *page;
    size_t n_rates, n_images;
    const cli_rd_point *rate[MAX_RATES]; /* points of our curve; quality is the cut */
    size_t image[MAX_EXAMPLES];
    taper_image original[MAX_EXAMPLES];
    taper_image ours[MAX_EXAMPLES][MAX_RATES];
} gallery;

/* The points nearest to five levels of quality, from poor to good; each once. */
static void choose_rates(gallery *g) {
    static const double wanted[MAX_RATES] = {21, 25, 28, 31, 36};
    const cli_rd_curve *curve = cli_comparison_curve(g->comparison, "taper", "file");
    for (size_t w = 0; curve && w < MAX_RATES; w++) {
        const cli_rd_point *best = NULL;
        for (size_t i = 0; i < curve->n; i++)
            if (!best ||
                fabs(curve->point[i].psnr_db - wanted[w]) < fabs(best->psnr_db - wanted[w]))
                best = &curve->point[i];
        if (best && (!g->n_rates || best > g->rate[g->n_rates - 1])) g->rate[g->n_rates++] = best;
    }
}

static taper_status read_originals(gallery *g, size_t n, taper_error *error) {
    const cli_originals *from = g->originals;
    if (n > MAX_EXAMPLES) n = MAX_EXAMPLES;
    if (n > from->count) n = from->count;
    for (size_t k = 0; k < n; k++) {
        size_t i = (2 * k + 1) * from->count / (2 * n);
        g->image[k] = i;
        g->n_images = k + 1;
        TAPER_TRY(cli_originals_read(from, i, &g->original[k], error));
    }
    return TAPER_OK;
}

static taper_status render_ours(gallery *g, taper_error *error) {
    for (size_t r = 0; r < g->n_rates; r++) {
        taper_decoder *decoder = NULL;
        const cli_subject *subject = g->subject;
        cli_subject_cut cut;
        TAPER_TRY(cli_subject_cut_open(subject, (uint64_t)g->rate[r]->quality, &cut, error));
        taper_status status = cli_subject_decoder(subject, &cut.source, &decoder, error);
        for (size_t k = 0; k < g->n_images && status == TAPER_OK; k++)
            status = cli_subject_render(decoder, g->image[k], &g->ours[k][r], error);
        taper_decoder_free(decoder);
        cli_subject_cut_close(&cut);
        if (status != TAPER_OK) return status;
    }
    return TAPER_OK;
}

/* --- JPEG ------------------------------------------------------------------------------------- */

static size_t bytes_of(const cli_rival_coded *coded, int payload) {
    return payload ? coded->payload_bytes : coded->file_bytes;
}

/* The best JPEG of the image with at most budget bytes into *best, found by halving the scale of
 * quality in each setting; best->bytes stays NULL when there is none, and *smallest is what the
 * smallest takes. */
static taper_status jpeg_within(const taper_image *image, double budget, int payload,
                                cli_rival_coded *best, size_t *smallest, taper_error *error) {
    const cli_rival *jpeg = &cli_rival_jpeg;
    double best_mse = INFINITY;
    *best = (cli_rival_coded){0};
    *smallest = SIZE_MAX;
    for (size_t setting = 0; setting < (image->channels == 1 ? 1 : jpeg->n_settings); setting++)
        for (int low = 1, high = 100; low <= high;) {
            int quality = low + (high - low) / 2;
            double mse;
            cli_rival_coded coded;
            TAPER_TRY(cli_rival_code(jpeg, image, setting, quality, &coded, error));
            size_t bytes = bytes_of(&coded, payload);
            if (bytes < *smallest) *smallest = bytes;
            if ((double)bytes > budget)
                high = quality - 1;
            else
                low = quality + 1;
            if ((double)bytes <= budget &&
                codec_mse(image, &coded.decoded, &mse, NULL) == TAPER_OK && mse < best_mse) {
                best_mse = mse;
                cli_rival_coded_free(best);
                *best = coded;
            } else {
                cli_rival_coded_free(&coded);
            }
        }
    return TAPER_OK;
}

/* --- cells ------------------------------------------------------------------------------------ */

/* The middle of the image at 8 bits, at most SHOWN pixels a side; the caller frees its pixels. */
static taper_status crop(const taper_image *image, taper_image *out, taper_error *error) {
    taper_image whole;
    TAPER_TRY(cli_rival_prepare(image, &whole, error));
    uint32_t width = whole.width < SHOWN ? whole.width : SHOWN,
             height = whole.height < SHOWN ? whole.height : SHOWN;
    taper_status status = cli_rival_new_image(width, height, whole.channels, out, error);
    const size_t left = (whole.width - width) / 2, top = (whole.height - height) / 2;
    for (uint32_t y = 0; y < height && status == TAPER_OK; y++)
        memcpy((uint8_t *)out->pixels + (size_t)y * width * whole.channels,
               (uint8_t *)whole.pixels + ((top + y) * whole.width + left) * whole.channels,
               (size_t)width * whole.channels);
    free(whole.pixels);
    return status;
}

static taper_status put_cell(gallery *g, const taper_image *image, const char *alt,
                             const char *cost, const char *worth, taper_error *error) {
    taper_image shown;
    TAPER_TRY(crop(image, &shown, error));
    taper_status status = cli_page_picture(g->page, &shown, alt, cost, worth, error);
    free(shown.pixels);
    return status;
}

static taper_status put_measured(gallery *g, size_t k, const taper_image *image, double bytes,
                                 const char *alt, taper_error *error) {
    char cost[48], worth[48];
    double mse;
    TAPER_TRY(codec_mse(&g->original[k], image, &mse, error));
    snprintf(cost, sizeof cost, bytes < 100 ? "%.1f B" : "%.0f B", bytes);
    snprintf(worth, sizeof worth, "%.2f dB", codec_psnr_db(mse));
    return put_cell(g, image, alt, cost, worth, error);
}

/* Our share of a cut for image k. */
static double share(const gallery *g, size_t k, size_t r) {
    return g->rate[r]->bpp / 8 * g->original[k].width * g->original[k].height;
}

static taper_status put_our_row(gallery *g, size_t k, taper_error *error) {
    char label[200], size[48];
    const cli_originals *from = g->originals;
    const char *name = formats_imageset_name(from->set, from->index[g->image[k]]);
    if (name)
        snprintf(label, sizeof label, "%.150s: taper", name);
    else
        snprintf(label, sizeof label, "image %zu: taper", from->index[g->image[k]] + 1);
    cli_page_row(g->page, label, true);
    snprintf(size, sizeof size, "%u x %u", g->original[k].width, g->original[k].height);
    TAPER_TRY(put_cell(g, &g->original[k], "original", "original", size, error));
    for (size_t r = 0; r < g->n_rates; r++)
        TAPER_TRY(put_measured(g, k, &g->ours[k][r], share(g, k, r), "taper", error));
    return TAPER_OK;
}

/* One row of JPEGs; in one cell when there is none small enough for any of the rates. */
static void put_jpeg_cells(gallery *g, size_t k, int payload, const cli_rival_coded *best,
                           size_t smallest, taper_status *status, taper_error *error) {
    char why[80];
    size_t found = 0;
    for (size_t r = 0; r < g->n_rates; r++) found += best[r].bytes != NULL;
    cli_page_row(g->page,
                 payload ? "JPEG, its scans alone counted" : "JPEG, the whole file counted", false);
    cli_page_no_picture(g->page, NULL);
    snprintf(why, sizeof why,
             found ? "no JPEG so small: the least is %zu B"
                   : "No JPEG is so small: the least is %zu B.",
             smallest);
    if (!found) cli_page_row_note(g->page, g->n_rates, why);
    for (size_t r = 0; r < g->n_rates && found && *status == TAPER_OK; r++)
        if (best[r].bytes)
            *status = put_measured(g, k, &best[r].decoded, (double)bytes_of(&best[r], payload),
                                   "JPEG", error);
        else
            cli_page_no_picture(g->page, why);
}

static taper_status put_jpeg_row(gallery *g, size_t k, int payload, taper_error *error) {
    taper_image plain;
    cli_rival_coded best[MAX_RATES] = {{0}};
    size_t smallest = 0;
    TAPER_TRY(cli_rival_prepare(&g->original[k], &plain, error));
    taper_status status = TAPER_OK;
    for (size_t r = 0; r < g->n_rates && status == TAPER_OK; r++)
        status = jpeg_within(&plain, share(g, k, r), payload, &best[r],
                             r == 0 ? &smallest : &(size_t){0}, error);
    if (status == TAPER_OK) put_jpeg_cells(g, k, payload, best, smallest, &status, error);
    for (size_t r = 0; r < g->n_rates; r++) cli_rival_coded_free(&best[r]);
    free(plain.pixels);
    return status;
}

static taper_status put_grid(gallery *g, taper_error *error) {
    char head[MAX_RATES][64];
    const char *heads[MAX_RATES + 1] = {""};
    for (size_t r = 0; r < g->n_rates; r++) {
        snprintf(head[r], sizeof head[r], "%.3g bpp\n%.1f dB over the set", g->rate[r]->bpp,
                 g->rate[r]->psnr_db);
        heads[r + 1] = head[r];
    }
    cli_page_grid_begin(g->page, g->n_rates + 1, heads);
    taper_status status = TAPER_OK;
    for (size_t k = 0; k < g->n_images && status == TAPER_OK; k++) {
        const taper_image *original = &g->original[k];
        status = put_our_row(g, k, error);
        if (status == TAPER_OK && original->width <= SMALL && original->height <= SMALL)
            status = put_jpeg_row(g, k, 1, error);
        if (status == TAPER_OK) status = put_jpeg_row(g, k, 0, error);
    }
    cli_page_grid_end(g->page);
    return status;
}

static taper_status fill_and_put(gallery *g, size_t max, taper_error *error) {
    TAPER_TRY(read_originals(g, max, error));
    TAPER_TRY(render_ours(g, error));
    cli_page_heading(g->page, "Side by side");
    cli_page_text(g->page, "Each column is one cut of the same container. Under our pictures "
                           "stands the image's share of the cut, by its pixels; JPEG takes at "
                           "most as many bytes for that very image. Captions give bytes and the "
                           "PSNR of the whole image.");
    return put_grid(g, error);
}

taper_status cli_examples_put(const cli_comparison *comparison, const cli_subject *subject,
                              const cli_originals *originals, size_t max, FILE *page,
                              taper_error *error) {
    gallery *g = calloc(1, sizeof *g);
    if (!g) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for examples");
    *g = (gallery){comparison, subject, originals, .page = page};
    choose_rates(g);
    taper_status status = g->n_rates && max ? fill_and_put(g, max, error) : TAPER_OK;
    for (size_t k = 0; k < MAX_EXAMPLES; k++) {
        formats_image_free(&g->original[k]);
        for (size_t r = 0; r < MAX_RATES; r++) formats_image_free(&g->ours[k][r]);
    }
    free(g);
    return status;
}
