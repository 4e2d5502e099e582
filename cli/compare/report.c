/* report.c -- plots, CSV and the page of a comparison. */
#include "cli/compare/report.h"
#include "cli/common/messages.h"
#include "cli/common/page.h"
#include "cli/common/plot.h"
#include "cli/compare/examples.h"
#include "formats/imageset/folder_walk.h"
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
    size_t n;
} curves;

/* Values of MS-SSIM are close to 1; on a scale of decibels the curves can be distinguished. */
static double ms_ssim_db(double ms_ssim) { return ms_ssim < 1 ? -10 * log10(1 - ms_ssim) : NAN; }

static void fill_curves(const cli_comparison *c, int ms_ssim, curves *to) {
    to->n = 0;
    for (size_t k = 0; k < c->n_curves; k++) {
        const cli_rd_curve *curve = &c->curve[k];
        const size_t i = to->n;
        int is_own = !strcmp(curve->codec, "taper");
        if (!cli_comparison_is_shown(c, curve)) continue;
        to->n++;
        for (size_t j = 0; j < curve->n; j++) {
            to->x[i][j] = curve->point[j].bpp;
            to->y[i][j] = ms_ssim ? ms_ssim_db(curve->point[j].ms_ssim) : curve->point[j].psnr_db;
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
        cli_plot plot = {.x_label = "bits per pixel",
                         .y_label = ms_ssim ? "MS-SSIM, dB: -10 log10(1 - mean)"
                                            : "PSNR, dB: mean over images",
                         .log_x = true,
                         .series = room->series,
                         .n_series = room->n};
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

/* As cli_comparison_bytes_at, as a size. */
static char *size_at(const cli_rd_curve *curve, double db, char to[16]) {
    cli_comparison_bytes_at(curve, db, to);
    return strcmp(to, "-") ? cli_comparison_size(strtod(to, NULL), to) : to;
}

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
    size_t rows = 0;
    for (size_t i = 0; i < c->n_curves; i++) {
        const char **row = cell + rows * columns;
        if (!cli_comparison_is_shown(c, &c->curve[i])) continue;
        row[0] = c->curve[i].title;
        row[1] = c->curve[i].accounting;
        strong[rows++] = !strcmp(c->curve[i].codec, "taper");
        for (size_t k = 0; k < levels; k++) row[k + 2] = size_at(&c->curve[i], db[k], text[i][k]);
    }
    const cli_page_table table = {.columns = columns,
                                  .rows = rows,
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
    size_t rows = 0;
    for (size_t k = 0; k < c->n_deltas; k++) {
        const cli_delta *d = &c->delta[k];
        const cli_rd_curve *test = &c->curve[d->test], *anchor = &c->curve[d->anchor];
        const size_t i = rows;
        if (!cli_comparison_is_shown(c, test)) continue;
        rows++;
        cli_comparison_percent(d, text[i][0]);
        snprintf(text[i][1], CELL, "%.1f to %.1f", d->bd.from_db, d->bd.to_db);
        const char *row[COLUMNS] = {test->title,        test->accounting, anchor->title,
                                    anchor->accounting, text[i][0],       text[i][1]};
        memcpy(cell + i * COLUMNS, row, sizeof row);
        strong[i] = !strcmp(test->codec, "taper") && !strcmp(anchor->codec, "jpeg");
    }
    const cli_page_table table = {.columns = COLUMNS,
                                  .rows = rows,
                                  .head = head,
                                  .cell = cell,
                                  .text_columns = 4,
                                  .strong = strong};
    if (!rows) return;
    cli_page_heading(page, "BD-rate");
    cli_page_put_table(page, &table);
    cli_page_note(page, "Mean difference of bytes at equal PSNR over the common range; negative is "
                        "better. Accounting 'file' counts all bytes; 'payload' counts only the "
                        "entropy-coded data of another codec, as if its headers were free, which "
                        "favours that codec.");
    if (!c->is_builtin)
        cli_page_note(page, "'file+model' adds the model's bytes once for the whole set.");
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

/* "36 % fewer bytes", or more. */
static void say_bytes(const cli_delta *delta, FILE *to) {
    const double percent = delta->bd.percent;
    if (fabs(percent) < 0.5)
        fputs("as many bytes", to);
    else
        fprintf(to, "%.*f %% %s bytes", fabs(percent) < 1.5, fabs(percent),
                percent < 0 ? "fewer" : "more");
}

static const cli_delta *against(const cli_comparison *c, const char *codec) {
    const cli_rd_curve *own = cli_comparison_curve(c, "taper", "file");
    const cli_rd_curve *other = cli_comparison_curve(c, codec, "file");
    return own && other ? cli_comparison_delta(c, own, other) : NULL;
}

/* "36 % fewer bytes than JPEG at equal PSNR". */
static void put_headline(const cli_report *r, FILE *to) {
    const cli_delta *jpeg = against(r->comparison, "jpeg");
    if (!jpeg) {
        fprintf(to, "taper on %llu image%s", (unsigned long long)r->comparison->images,
                formats_plural(r->comparison->images, "s"));
        return;
    }
    say_bytes(jpeg, to);
    fprintf(to, " %s JPEG at equal PSNR", fabs(jpeg->bd.percent) < 0.5 ? "as" : "than");
}

/* The effect of the model's bytes, for a model that is not built in. */
static void put_model_share(const cli_report *r, FILE *to) {
    const cli_comparison *c = r->comparison;
    const cli_rd_curve *with = cli_comparison_curve(c, "taper", "file+model");
    const cli_rd_curve *jpeg = cli_comparison_curve(c, "jpeg", "file");
    const cli_delta *delta = with && jpeg ? cli_comparison_delta(c, with, jpeg) : NULL;
    char size[16];
    if (c->is_builtin || !with) return;
    fprintf(to, " The model takes %s more, once for all images",
            cli_comparison_size((double)r->subject->model_bytes, size));
    if (delta) {
        fputs("; with it: ", to);
        say_bytes(delta, to);
    }
    fputc('.', to);
}

static void put_lead(const cli_report *r, FILE *to) {
    const cli_comparison *c = r->comparison;
    const cli_delta *jpeg = against(c, "jpeg");
    const cli_rd_curve *own = cli_comparison_curve(c, "taper", "file");
    const char *lead = "Against ";
    char size[16];
    if (jpeg)
        fprintf(to, "Mean over %llu image%s from %.0f to %.0f dB; %s. ",
                (unsigned long long)c->images, formats_plural(c->images, "s"), jpeg->bd.from_db,
                jpeg->bd.to_db, r->what);
    for (size_t i = 0; i < c->n_contenders; i++) {
        const cli_delta *d = against(c, c->contender[i].rival->name);
        if (!d || d == jpeg) continue;
        fprintf(to, "%s%s: ", lead, c->contender[i].rival->title);
        say_bytes(d, to);
        lead = "; ";
    }
    if (*lead == ';') fputs(". ", to);
    if (own && own->n)
        fprintf(to, "The whole container takes %s an image; every cut of it decodes.",
                cli_comparison_size(own->point[own->n - 1].bytes_per_image, size));
    put_model_share(r, to);
}

/* The text that put writes. The caller frees it; NULL without memory. */
static char *text_of(void (*put)(const cli_report *, FILE *), const cli_report *r) {
    char *text = NULL;
    size_t n;
    FILE *to = open_memstream(&text, &n);
    if (!to) return NULL;
    put(r, to);
    if (fclose(to) == 0) return text;
    free(text);
    return NULL;
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

static void put_curves(const char *folder, const taper_error *plot_failure, FILE *page) {
    cli_page_heading(page, "Rate and distortion");
    if (plot_failure->status != TAPER_OK) {
        cli_page_text(page, cli_explain(plot_failure).text);
        return;
    }
    cli_page_beside_begin(page);
    put_plot(folder, "rd.svg", "PSNR over bits per pixel", page);
    put_plot(folder, "ms_ssim.svg", "MS-SSIM over bits per pixel", page);
    cli_page_beside_end(page);
}

static void put_end(const cli_report *r, FILE *page) {
    put_contenders(r, page);
    cli_page_heading(page, "How it was made");
    cli_page_code(page, r->command);
    put_model(r, page);
    cli_page_note(page, "PSNR over all channels of 8-bit samples. MS-SSIM per channel, with as "
                        "many of the five scales as the image has room for. All points: rd.csv.");
    if (r->examples.most) cli_page_script(page);
    cli_page_end(page, NULL);
}

static taper_status put_page(const cli_report *r, const char *folder,
                             const taper_error *plot_failure, FILE *page, taper_error *error) {
    char *headline = text_of(put_headline, r), *lead = text_of(put_lead, r);
    if (headline && lead) cli_page_begin(page, headline, lead);
    const bool has_begun = headline && lead;
    free(headline), free(lead);
    if (!has_begun) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the page");
    TAPER_TRY(cli_examples_put(r->comparison, r->subject, r->originals, &r->examples, page, error));
    put_rates(r->comparison, page);
    put_deltas(r->comparison, page);
    put_curves(folder, plot_failure, page);
    put_end(r, page);
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

/* Write index.html with the hashes of all files of the report. Frees *text. */
static taper_status write_page(const cli_report *r, const char *folder, char *text, size_t n,
                               taper_error *error) {
    taper_status status = cli_own_report_seal(&text, &n, folder, error);
    if (status == TAPER_OK) status = write_file(r, folder, "index.html", text, n, error);
    free(text);
    return status;
}

/* A page that stands until the examples are made, so that -f replaces a report that ended early. */
static taper_status write_first_page(const cli_report *r, const char *folder, taper_error *error) {
    static const char words[] = "<!DOCTYPE html>\n<p>This comparison is not finished.</p>\n";
    char *text = malloc(sizeof words);
    if (!text) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the page");
    memcpy(text, words, sizeof words);
    return write_page(r, folder, text, sizeof words - 1, error);
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
    TAPER_TRY(write_first_page(r, folder, error));
    char *text = NULL;
    size_t n = 0;
    FILE *page = open_memstream(&text, &n);
    if (!page) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the page");
    status = put_page(r, folder, plot_failure, page, error);
    int failed = ferror(page);
    if ((fclose(page) != 0 || failed) && status == TAPER_OK)
        status = formats_fail(error, TAPER_ERR_NOMEM, "no memory for the page");
    const char *changed = status == TAPER_OK ? cli_own_report_foreign(folder) : NULL;
    if (changed)
        status = formats_fail(error, TAPER_ERR_EXISTS,
                              "its file %s was changed while the examples were made: the page is "
                              "not written; give another -o",
                              changed);
    if (status == TAPER_OK) return write_page(r, folder, text, n, error);
    free(text);
    return status;
}
