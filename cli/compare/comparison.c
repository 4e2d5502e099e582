/* comparison.c -- deltas between curves; table, JSON and CSV. */
#include "cli/compare/comparison.h"
#include "cli/common/json.h"
#include <math.h>
#include <string.h>

enum { MAX_LEVELS = 8 };

const cli_rd_curve *cli_comparison_curve(const cli_comparison *c, const char *codec,
                                         const char *accounting) {
    for (size_t i = 0; i < c->n_curves; i++)
        if (!strcmp(c->curve[i].codec, codec) && !strcmp(c->curve[i].accounting, accounting))
            return &c->curve[i];
    return NULL;
}

const cli_delta *cli_comparison_delta(const cli_comparison *c, const cli_rd_curve *test,
                                      const cli_rd_curve *anchor) {
    for (size_t i = 0; i < c->n_deltas; i++)
        if (&c->curve[c->delta[i].test] == test && &c->curve[c->delta[i].anchor] == anchor)
            return &c->delta[i];
    return NULL;
}

static int is_pair(const cli_rd_curve *test, const cli_rd_curve *anchor) {
    if (!strcmp(anchor->codec, "taper") || !strcmp(anchor->codec, test->codec)) return 0;
    if (!strcmp(test->codec, "taper")) return 1;
    return !strcmp(anchor->codec, "jpeg") && !strcmp(anchor->accounting, test->accounting);
}

void cli_comparison_find_deltas(cli_comparison *c) {
    c->n_deltas = 0;
    for (size_t t = 0; t < c->n_curves; t++)
        for (size_t a = 0; a < c->n_curves && c->n_deltas < CLI_MAX_DELTAS; a++) {
            cli_delta delta = {.test = t, .anchor = a};
            if (is_pair(&c->curve[t], &c->curve[a]) &&
                cli_rd_delta(&c->curve[a], &c->curve[t], &delta.bd, NULL) == TAPER_OK)
                c->delta[c->n_deltas++] = delta;
        }
}

size_t cli_comparison_levels(const cli_comparison *c, double *db, size_t room) {
    const cli_rd_curve *own = cli_comparison_curve(c, "taper", "file");
    size_t n = 0;
    if (!own || !own->n) return 0;
    double level = 2.5 * ceil(own->point[0].psnr_db / 2.5);
    if (level < 20 && own->point[own->n - 1].psnr_db > 30) level = 20; /* below that nobody looks */
    for (; n < room && level <= own->point[own->n - 1].psnr_db; level += 2.5) db[n++] = level;
    return n;
}

char *cli_comparison_bytes_at(const cli_rd_curve *curve, double db, char to[16]) {
    taper_rd_point point[CLI_RD_MAX_POINTS];
    double rate;
    for (size_t i = 0; i < curve->n; i++)
        point[i] = (taper_rd_point){curve->point[i].bytes_per_image, curve->point[i].psnr_db};
    if (taper_quality_rate_at(point, curve->n, db, &rate, NULL) != TAPER_OK)
        snprintf(to, 16, "-");
    else
        snprintf(to, 16, rate < 99.95 ? "%.1f" : "%.0f", rate);
    return to;
}

char *cli_comparison_percent(const cli_delta *delta, char to[16]) {
    if (delta)
        snprintf(to, 16, "%+.1f %%", delta->bd.percent);
    else
        snprintf(to, 16, "-");
    return to;
}

bool cli_comparison_is_shown(const cli_comparison *c, const cli_rd_curve *curve) {
    return !c->is_builtin || strcmp(curve->accounting, "file+model") != 0;
}

char *cli_comparison_size(double bytes, char to[16]) {
    static const char *const unit[] = {"B", "kB", "MB", "GB", "TB"};
    size_t i = 0;
    for (; bytes >= 999.5 && i + 1 < sizeof unit / sizeof *unit; i++) bytes /= 1000;
    snprintf(to, 16, bytes < (i ? 9.95 : 99.95) && bytes != floor(bytes) ? "%.1f %s" : "%.0f %s",
             bytes, unit[i]);
    return to;
}

/* --- for people ------------------------------------------------------------------------------- */

static void print_row(const cli_comparison *c, const cli_rd_curve *curve, const double *db,
                      size_t levels, FILE *to) {
    char text[16];
    fprintf(to, "%-10s %-11s", curve->title, curve->accounting);
    for (size_t i = 0; i < levels; i++)
        fprintf(to, " %7s", cli_comparison_bytes_at(curve, db[i], text));
    static const char *const anchor[2] = {"file", "payload"};
    for (size_t i = 0; i < 2; i++) {
        const cli_rd_curve *jpeg = cli_comparison_curve(c, "jpeg", anchor[i]);
        if (!jpeg) continue;
        const cli_delta *delta = cli_comparison_delta(c, curve, jpeg);
        fprintf(to, " %13s", curve == jpeg ? "anchor" : cli_comparison_percent(delta, text));
    }
    fputc('\n', to);
}

void cli_comparison_print(const cli_comparison *c, FILE *to) {
    double db[MAX_LEVELS];
    size_t levels = cli_comparison_levels(c, db, MAX_LEVELS);
    fprintf(to,
            "%llu image%s, %.0f pixels each on average; bytes per image at a mean PSNR, and "
            "BD-rate\n\n",
            (unsigned long long)c->images, formats_plural(c->images, "s"),
            c->images ? (double)c->pixels / (double)c->images : 0);
    fprintf(to, "%-10s %-11s", "codec", "accounting");
    for (size_t i = 0; i < levels; i++) fprintf(to, " %4.4g dB", db[i]);
    if (cli_comparison_curve(c, "jpeg", "file")) fprintf(to, " %13s", "vs JPEG file");
    if (cli_comparison_curve(c, "jpeg", "payload")) fprintf(to, " %13s", "vs its scans");
    fputc('\n', to);
    for (size_t i = 0; i < c->n_curves; i++)
        if (cli_comparison_is_shown(c, &c->curve[i])) print_row(c, &c->curve[i], db, levels, to);
    for (size_t i = 0; i < c->n_contenders; i++)
        if (c->contender[i].failure[0])
            fprintf(to, "%-10s %s\n", c->contender[i].rival->title, c->contender[i].failure);
    fprintf(to,
            "\naccounting  file: all bytes; %s\n"
            "            payload: entropy-coded data alone, as if headers were free\n",
            c->is_builtin ? "the model is part of taper and not counted;"
                          : "file+model: with the model's bytes added once for the set;");
}

/* --- for programs ----------------------------------------------------------------------------- */

static void json_curve(cli_json *j, const cli_rd_curve *curve) {
    cli_json_open(j, NULL, '{');
    cli_json_string(j, "codec", curve->codec);
    cli_json_string(j, "accounting", curve->accounting);
    cli_json_open(j, "points", '[');
    for (size_t i = 0; i < curve->n; i++) {
        const cli_rd_point *p = &curve->point[i];
        cli_json_open(j, NULL, '{');
        cli_json_number(j, "bytes_per_image", p->bytes_per_image);
        cli_json_number(j, "bpp", p->bpp);
        cli_json_number(j, "psnr_db", p->psnr_db);
        cli_json_number(j, "psnr_of_mean_mse_db", p->psnr_of_mean_mse_db);
        cli_json_number(j, "ms_ssim", p->ms_ssim);
        cli_json_number(j, "ssim", p->ssim);
        cli_json_close(j);
    }
    cli_json_close(j);
    cli_json_close(j);
}

static void json_delta(cli_json *j, const cli_comparison *c, const cli_delta *delta) {
    cli_json_open(j, NULL, '{');
    cli_json_string(j, "codec", c->curve[delta->test].codec);
    cli_json_string(j, "accounting", c->curve[delta->test].accounting);
    cli_json_string(j, "anchor", c->curve[delta->anchor].codec);
    cli_json_string(j, "anchor_accounting", c->curve[delta->anchor].accounting);
    cli_json_number(j, "percent", delta->bd.percent);
    cli_json_number(j, "from_db", delta->bd.from_db);
    cli_json_number(j, "to_db", delta->bd.to_db);
    cli_json_close(j);
}

void cli_comparison_print_json(const cli_comparison *c, FILE *to) {
    cli_json j;
    cli_json_begin(&j, to);
    cli_json_uint(&j, "images", c->images);
    cli_json_uint(&j, "pixels", c->pixels);
    cli_json_open(&j, "curves", '[');
    for (size_t i = 0; i < c->n_curves; i++) json_curve(&j, &c->curve[i]);
    cli_json_close(&j);
    cli_json_open(&j, "bd_rate", '[');
    for (size_t i = 0; i < c->n_deltas; i++) json_delta(&j, c, &c->delta[i]);
    cli_json_close(&j);
    cli_json_open(&j, "rivals", '[');
    for (size_t i = 0; i < c->n_contenders; i++) {
        const cli_contender *contender = &c->contender[i];
        cli_json_open(&j, NULL, '{');
        cli_json_string(&j, "codec", contender->rival->name);
        cli_json_string(&j, "version", contender->version[0] ? contender->version : NULL);
        cli_json_string(&j, "failure", contender->failure[0] ? contender->failure : NULL);
        cli_json_close(&j);
    }
    cli_json_close(&j);
    cli_json_end(&j);
}

void cli_comparison_print_csv(const cli_comparison *c, FILE *to) {
    fputs("codec,accounting,setting,quality,bytes_per_image,bpp,psnr_db,psnr_of_mean_mse_db,ssim,"
          "ms_ssim\n",
          to);
    for (size_t i = 0; i < c->n_curves; i++)
        for (size_t k = 0; k < c->curve[i].n; k++) {
            const cli_rd_curve *curve = &c->curve[i];
            const cli_rd_point *p = &curve->point[k];
            fprintf(to, "%s,%s,%s,%.10g,%.8g,%.8g,%.7g,%.7g,%.7g,%.7g\n", curve->codec,
                    curve->accounting, curve->settings ? curve->settings[p->setting] : "cut",
                    p->quality, p->bytes_per_image, p->bpp, p->psnr_db, p->psnr_of_mean_mse_db,
                    p->ssim, p->ms_ssim);
        }
}
