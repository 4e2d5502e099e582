/* report.c -- plots, CSV and the page of a comparison. */
#include "cli/compare/report.h"
#include "cli/common/page.h"
#include "cli/common/plot.h"
#include "cli/compare/examples.h"
#include "formats/folder_walk.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static taper_status write_file(const cli_report *r, const char *folder, const char *name,
                               const char *text, size_t n, taper_error *error) {
    char *path = formats_path_join(folder, name);
    if (!path) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the report");
    taper_status status =
        formats_file_write(path, text, n, FORMATS_ATOMIC_OVERWRITE, r->watch, error);
    free(path);
    return status;
}

/* --- plots ------------------------------------------------------------------------------------ */

typedef struct curves { /* as the plot takes them */
    double x[CLI_MAX_CURVES][CLI_RD_MAX_POINTS], y[CLI_MAX_CURVES][CLI_RD_MAX_POINTS];
    char name[CLI_MAX_CURVES][64];
    cli_series series[CLI_MAX_CURVES];
} curves;

/* MS-SSIM crowds against 1; on a scale of decibels curves can be told apart there. */
static double ms_ssim_db(double ms_ssim) { return ms_ssim < 1 ? -10 * log10(1 - ms_ssim) : NAN; }

static void fill_curves(const cli_comparison *c, int ms_ssim, curves *to) {
    for (size_t i = 0; i < c->n_curves; i++) {
        const cli_rd_curve *curve = &c->curve[i];
        int is_own = !strcmp(curve->codec, "taper");
        for (size_t k = 0; k < curve->n; k++) {
            to->x[i][k] = curve->point[k].bpp;
            to->y[i][k] = ms_ssim ? ms_ssim_db(curve->point[k].ms_ssim) : curve->point[k].psnr_db;
        }
        snprintf(to->name[i], sizeof to->name[i], "%s, %s", curve->title, curve->accounting);
        to->series[i] = (cli_series){.name = to->name[i],
                                     .x = to->x[i],
                                     .y = to->y[i],
                                     .n = curve->n,
                                     .colour = curve->colour,
                                     .dashed = strcmp(curve->accounting, "file") != 0,
                                     .bold = is_own,
                                     .markers = true};
    }
}

static taper_status write_plot(const cli_report *r, const char *folder, const char *name,
                               int ms_ssim, taper_error *error) {
    char *stem = formats_path_join(folder, name);
    curves *room = malloc(sizeof *room);
    taper_status status = TAPER_ERR_NOMEM;
    if (stem && room) {
        fill_curves(r->comparison, ms_ssim, room);
        cli_plot plot = {.title = r->title,
                         .x_label = "bits per pixel",
                         .y_label = ms_ssim ? "MS-SSIM, dB: -10 log10(1 - mean)"
                                            : "PSNR, dB: mean over images",
                         .log_x = true,
                         .series = room->series,
                         .n_series = r->comparison->n_curves};
        status = cli_plot_write(&plot, stem, false, r->watch, error);
    } else {
        formats_fail(error, status, "no memory for a plot");
    }
    free(room);
    free(stem);
    return status;
}

static void put_plot(const char *folder, const char *name, const char *alt, FILE *page) {
    char *path = formats_path_join(folder, name);
    uint8_t *svg = NULL;
    size_t n;
    if (path && formats_file_read(path, 1 << 24, &svg, &n, NULL) == TAPER_OK)
        cli_page_svg(page, (char *)svg, n, alt);
    free(svg);
    free(path);
}

/* --- tables ----------------------------------------------------------------------------------- */

enum { LEVELS = 8, CELL = 24 };

static void put_rates(const cli_comparison *c, FILE *page) {
    double db[LEVELS];
    const size_t levels = cli_comparison_levels(c, db, LEVELS), columns = levels + 2;
    char text[CLI_MAX_CURVES + 1][LEVELS][CELL];
    const char *head[LEVELS + 2] = {"codec", "accounting"}, *cell[CLI_MAX_CURVES * (LEVELS + 2)];
    bool strong[CLI_MAX_CURVES];
    for (size_t k = 0; k < levels; k++) {
        snprintf(text[CLI_MAX_CURVES][k], CELL, "%g dB", db[k]);
        head[k + 2] = text[CLI_MAX_CURVES][k];
    }
    for (size_t i = 0; i < c->n_curves; i++) {
        const char **row = cell + i * columns;
        row[0] = c->curve[i].title;
        row[1] = c->curve[i].accounting;
        strong[i] = !strcmp(c->curve[i].codec, "taper");
        for (size_t k = 0; k < levels; k++)
            row[k + 2] = cli_comparison_bytes_at(&c->curve[i], db[k], text[i][k]);
    }
    const cli_page_table table = {.columns = columns,
                                  .rows = c->n_curves,
                                  .head = head,
                                  .cell = cell,
                                  .text_columns = 2,
                                  .strong = strong};
    cli_page_heading(page, "Bytes per image at equal quality");
    cli_page_put_table(page, &table);
    cli_page_note(page, "Interpolated on the measured curves (pchip on log-rate). Quality is the "
                        "mean over images of each image's PSNR. A dash: outside what was "
                        "measured.");
}

/* Each of taper's accountings against each curve of the rivals, and the rivals against JPEG. */
static void put_deltas(const cli_comparison *c, FILE *page) {
    static const char *const head[] = {"codec",      "accounting", "against",
                                       "accounting", "BD-rate",    "over, dB"};
    enum { COLUMNS = 6 };
    const char *cell[CLI_MAX_DELTAS * COLUMNS];
    char text[CLI_MAX_DELTAS][2][CELL];
    bool strong[CLI_MAX_DELTAS];
    for (size_t i = 0; i < c->n_deltas; i++) {
        const cli_delta *d = &c->delta[i];
        const cli_rd_curve *test = &c->curve[d->test], *anchor = &c->curve[d->anchor];
        cli_comparison_percent(d, text[i][0]);
        snprintf(text[i][1], CELL, "%.1f to %.1f", d->bd.from_db, d->bd.to_db);
        const char *row[COLUMNS] = {test->title,        test->accounting, anchor->title,
                                    anchor->accounting, text[i][0],       text[i][1]};
        memcpy(cell + i * COLUMNS, row, sizeof row);
        strong[i] = !strcmp(test->codec, "taper") && !strcmp(anchor->codec, "jpeg");
    }
    const cli_page_table table = {.columns = COLUMNS,
                                  .rows = c->n_deltas,
                                  .head = head,
                                  .cell = cell,
                                  .text_columns = 4,
                                  .strong = strong};
    if (!c->n_deltas) return;
    cli_page_heading(page, "BD-rate");
    cli_page_put_table(page, &table);
    cli_page_note(
        page,
        "Mean difference of bytes at equal PSNR over the common range; negative is better. "
        "Accounting 'file' counts all bytes; 'file+model' adds the model's bytes once for the "
        "whole set; 'payload' counts only a rival's entropy-coded data, as if its headers were "
        "free, which flatters the rival.");
}

static void put_contenders(const cli_report *r, FILE *page) {
    static const char *const head[] = {"codec", "library", "payload is"};
    const cli_comparison *c = r->comparison;
    const char *cell[(CLI_MAX_RIVALS + 1) * 3];
    char own[160];
    snprintf(own, sizeof own, "libtaper %s", taper_version());
    const char *first[3] = {"taper", own, ""};
    memcpy(cell, first, sizeof first);
    for (size_t i = 0; i < c->n_contenders; i++) {
        const cli_contender *k = &c->contender[i];
        const char *row[3] = {k->rival->title, k->failure[0] ? k->failure : k->version,
                              k->rival->payload_is ? k->rival->payload_is : "not measured"};
        memcpy(cell + (i + 1) * 3, row, sizeof row);
    }
    const cli_page_table table = {
        .columns = 3, .rows = c->n_contenders + 1, .head = head, .cell = cell, .text_columns = 3};
    cli_page_heading(page, "Codecs");
    cli_page_put_table(page, &table);
    cli_page_note(page, "JPEG: optimised Huffman tables, the smaller of baseline and "
                        "progressive, 4:4:4 or 4:2:0, whichever is better at each rate. JPEG "
                        "2000: a bare codestream. AVIF: 4:4:4, speed 2. JPEG XL: effort 7, "
                        "without container. WebP: method 6.");
}

/* --- the page --------------------------------------------------------------------------------- */

static void put_lead(const cli_report *r, char *to, size_t room) {
    char percent[2][16];
    const cli_comparison *c = r->comparison;
    const cli_rd_curve *own = cli_comparison_curve(c, "taper", "file");
    const cli_rd_curve *jpeg[2] = {cli_comparison_curve(c, "jpeg", "file"),
                                   cli_comparison_curve(c, "jpeg", "payload")};
    int used = snprintf(to, room,
                        "%llu image%s, one container of %.4g bytes per image whole, cut anywhere.",
                        (unsigned long long)c->images, formats_plural(c->images, "s"),
                        own && own->n ? own->point[own->n - 1].bytes_per_image : 0);
    if (!own || !jpeg[0] || !jpeg[1] || used < 0 || (size_t)used >= room) return;
    const cli_delta *delta[2] = {cli_comparison_delta(c, own, jpeg[0]),
                                 cli_comparison_delta(c, own, jpeg[1])};
    if (!delta[0] || !delta[1]) return;
    snprintf(to + used, room - (size_t)used,
             " Bytes at equal PSNR against JPEG: %s counting all of JPEG's bytes, %s "
             "counting its scans alone.",
             cli_comparison_percent(delta[0], percent[0]),
             cli_comparison_percent(delta[1], percent[1]));
}

static void put_model(const cli_report *r, FILE *page) {
    char text[300];
    const taper_model_info *m = r->model;
    if (!m) return;
    snprintf(text, sizeof text,
             "Model: family %s, window %ux%u, %u channel%s, %u unit%s, %u pass%s, %llu bytes, id "
             "%016llx.",
             taper_family_name(m->family), m->window_width, m->window_height, m->channels,
             formats_plural(m->channels, "s"), m->units, formats_plural(m->units, "s"), m->passes,
             formats_plural(m->passes, "es"), (unsigned long long)m->file_bytes,
             (unsigned long long)m->id);
    cli_page_note(page, text);
}

static taper_status put_page(const cli_report *r, const char *folder,
                             const taper_error *plot_failure, FILE *page, taper_error *error) {
    char lead[400];
    put_lead(r, lead, sizeof lead);
    cli_page_begin(page, r->title, lead);
    cli_page_heading(page, "Rate and distortion");
    if (plot_failure->status == TAPER_OK) {
        put_plot(folder, "rd.svg", "PSNR over bits per pixel", page);
    } else {
        cli_page_text(page, plot_failure->text);
    }
    TAPER_TRY(
        cli_examples_put(r->comparison, r->subject, r->originals, r->max_examples, page, error));
    put_rates(r->comparison, page);
    put_deltas(r->comparison, page);
    if (plot_failure->status == TAPER_OK) {
        cli_page_heading(page, "The same in MS-SSIM");
        put_plot(folder, "ms_ssim.svg", "MS-SSIM over bits per pixel", page);
    }
    put_contenders(r, page);
    cli_page_heading(page, "How it was made");
    cli_page_code(page, r->command);
    put_model(r, page);
    cli_page_note(page, "PSNR over all channels of 8-bit samples. MS-SSIM per channel, with as "
                        "many of the five scales as the image has room for. All points: rd.csv.");
    cli_page_end(page, NULL);
    return TAPER_OK;
}

static taper_status write_csv(const cli_report *r, const char *folder, taper_error *error) {
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    if (to) cli_comparison_print_csv(r->comparison, to);
    taper_status status = to && fclose(to) == 0 ? TAPER_OK : TAPER_ERR_NOMEM;
    if (status == TAPER_OK)
        status = write_file(r, folder, "rd.csv", text, n, error);
    else
        formats_fail(error, status, "no memory for the report");
    free(text);
    return status;
}

taper_status cli_report_write(const cli_report *r, const char *folder, taper_error *plot_failure,
                              taper_error *error) {
    *plot_failure = (taper_error){0};
    TAPER_TRY(write_csv(r, folder, error));
    taper_status status = write_plot(r, folder, "rd", 0, plot_failure);
    if (status == TAPER_OK) status = write_plot(r, folder, "ms_ssim", 1, plot_failure);
    if (status != TAPER_OK && status != TAPER_ERR_UNSUPPORTED) {
        if (error) *error = *plot_failure;
        return status;
    }
    char *text = NULL;
    size_t n = 0;
    FILE *page = open_memstream(&text, &n);
    if (!page) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the page");
    status = put_page(r, folder, plot_failure, page, error);
    int failed = ferror(page);
    if ((fclose(page) != 0 || failed) && status == TAPER_OK)
        status = formats_fail(error, TAPER_ERR_NOMEM, "no memory for the page");
    if (status == TAPER_OK) status = cli_own_report_seal(&text, &n, folder, error);
    if (status == TAPER_OK) status = write_file(r, folder, "index.html", text, n, error);
    free(text);
    return status;
}
