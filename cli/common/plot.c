/* plot.c -- writes gnuplot scripts and runs gnuplot on them.
 *
 * gnuplot reads the script from its standard input, one end of a socket pair. Unlike a pipe, a
 * socket allows MSG_NOSIGNAL, so that a gnuplot that ends early does not end this process. gnuplot
 * writes to temporary names, which are renamed after it has succeeded. */
#include "cli/common/plot.h"
#include "formats/file.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Okabe and Ito (2008), without their yellow, which is too light for lines. */
static const char *const k_colour[CLI_PLOT_COLOURS] = {"#D55E00", "#0072B2", "#009E73", "#CC79A7",
                                                       "#E69F00", "#56B4E9", "#333333"};
static const int k_marker[CLI_PLOT_COLOURS] = {7, 5, 9, 11, 13, 6, 4}; /* gnuplot's point types */

static bool can_draw(const cli_plot *plot, double x, double y) {
    return isfinite(x) && isfinite(y) && (!plot->log_x || x > 0) && (!plot->log_y || y > 0);
}

static size_t drawn_points(const cli_plot *plot, const cli_series *s) {
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) n += can_draw(plot, s->x[i], s->y[i]);
    return n;
}

/* --- text ------------------------------------------------------------------------------------- */

/* A gnuplot string: single quotes, where only the quote itself is special; control characters
 * become spaces. */
static void put_quoted(FILE *to, const char *text) {
    fputc('\'', to);
    for (; *text; text++) {
        if (*text == '\'') fputc('\'', to);
        fputc((unsigned char)*text < 32 || *text == 127 ? ' ' : *text, to);
    }
    fputc('\'', to);
}

static void put_label(FILE *to, const char *what, const char *text) {
    fprintf(to, "set %s ", what);
    put_quoted(to, text);
    fputs(" noenhanced\n", to);
}

static void put_style(FILE *to) {
    fputs("set encoding utf8\n"
          "set border 3 linecolor '#666666'\n"
          "set tics nomirror out\n"
          "set grid xtics ytics linecolor '#e4e4e4' linewidth 1\n",
          to);
}

static void put_data(FILE *to, const cli_plot *plot) {
    for (size_t s = 0; s < plot->n_series; s++) {
        fprintf(to, "$series%zu << EOD\n", s);
        for (size_t i = 0; i < plot->series[s].n; i++)
            if (can_draw(plot, plot->series[s].x[i], plot->series[s].y[i]))
                fprintf(to, "%.10g %.10g\n", plot->series[s].x[i], plot->series[s].y[i]);
        fputs("EOD\n", to);
    }
}

static void put_curves(FILE *to, const cli_plot *plot) {
    const char *lead = "plot ";
    for (size_t i = 0; i < plot->n_series; i++) {
        const cli_series *s = &plot->series[i];
        unsigned colour = s->colour % CLI_PLOT_COLOURS;
        if (!drawn_points(plot, s)) continue; /* gnuplot fails on an empty block */
        fprintf(to, "%s$series%zu with %s linecolor '%s' linewidth %s", lead, i,
                s->markers ? "linespoints" : "lines", k_colour[colour], s->bold ? "3" : "1.6");
        if (s->dashed) fputs(" dashtype 2", to);
        if (s->markers)
            fprintf(to, " pointtype %d pointsize %s", k_marker[colour], s->bold ? "0.7" : "0.5");
        fputs(" title ", to);
        put_quoted(to, s->name);
        lead = ", \\\n     ";
    }
    fputc('\n', to);
}

/* A logarithmic axis ends just outside the points, not at the next power of ten, and has tics at 1,
 * 2 and 5, or at 1 and 3 where it is long. */
static void put_log_axis(FILE *to, const cli_plot *plot, char axis) {
    double lowest = INFINITY, highest = 0;
    for (size_t s = 0; s < plot->n_series; s++)
        for (size_t i = 0; i < plot->series[s].n; i++) {
            double x = plot->series[s].x[i], y = plot->series[s].y[i], v = axis == 'x' ? x : y;
            if (!can_draw(plot, x, y)) continue;
            lowest = fmin(lowest, v);
            highest = fmax(highest, v);
        }
    fprintf(to, "set logscale %c\nset %crange [%.4g:%.4g]\n", axis, axis, lowest / 1.15,
            highest * 1.15);
    if (highest / lowest >= 3e3) return; /* gnuplot's own tics, one a decade */
    const char *lead = "(";
    const bool is_long = highest / lowest > 50;
    fprintf(to, "set %ctics ", axis);
    for (double decade = pow(10, floor(log10(lowest / 1.15))); decade <= highest * 1.15;
         decade *= 10)
        for (int k = 0; k < (is_long ? 2 : 3); k++) {
            const int step = (is_long ? (const int[3]){1, 3, 0} : (const int[3]){1, 2, 5})[k];
            fprintf(to, "%s'%g' %g", lead, decade * step, decade * step);
            lead = ", ";
        }
    fputs(")\n", to);
}

/* The SVG is narrow, with the legend below in two columns or, of long names, one; the curves have
 * the same room whatever the legend takes. */
static void put_narrow(FILE *to, const cli_plot *plot) {
    enum { LONG_NAME = 18, ROOM = 400, LINE = 24 };
    size_t names = 0, longest = 0;
    for (size_t i = 0; i < plot->n_series; i++) {
        const size_t n = strlen(plot->series[i].name);
        if (!drawn_points(plot, &plot->series[i])) continue;
        names++;
        if (n > longest) longest = n;
    }
    const size_t columns = longest > LONG_NAME ? 1 : 2;
    fprintf(to,
            "set key below Left reverse maxcols %zu samplen 2 spacing 1 noenhanced\n"
            "set terminal svg size 560,%zu dynamic font 'sans-serif,16'\n"
            "set output stem.'.svg'\n",
            columns, ROOM + LINE * ((names + columns - 1) / columns));
}

/* The script draws both files; `stem` can be set beforehand, as this program does. */
static void put_script(FILE *to, const cli_plot *plot, const char *base) {
    fputs("# Draws the plot anew: gnuplot FILE, in the folder where it lies.\n", to);
    fputs("if (!exists('stem')) stem = ", to);
    put_quoted(to, base);
    fputc('\n', to);
    put_style(to);
    if (plot->title) put_label(to, "title", plot->title);
    put_label(to, "xlabel", plot->x_label);
    fputs("set xlabel offset 0,0.5\n", to);
    put_label(to, "ylabel", plot->y_label);
    if (plot->log_x) put_log_axis(to, plot, 'x');
    if (plot->log_y) put_log_axis(to, plot, 'y');
    put_data(to, plot);
    put_narrow(to, plot);
    put_curves(to, plot);
    fputs("set key outside right center vertical Left reverse maxcols 1 samplen 2.5 spacing 1.25 "
          "noenhanced\n"
          "set terminal pngcairo size 1440,810 font 'sans-serif,16' background '#ffffff' linewidth "
          "1.5\n"
          "set output stem.'.png'\n"
          "replot\n"
          "unset output\n",
          to);
}

static void put_csv(FILE *to, const cli_plot *plot, const char *base) {
    (void)base;
    fputs("series,x,y\n", to);
    for (size_t s = 0; s < plot->n_series; s++)
        for (size_t i = 0; i < plot->series[s].n; i++) {
            fputc('"', to);
            for (const char *c = plot->series[s].name; *c; c++)
                fputs(*c == '"' ? "\"\"" : (char[2]){*c, 0}, to);
            fprintf(to, "\",%.10g,%.10g\n", plot->series[s].x[i], plot->series[s].y[i]);
        }
}

/* --- running gnuplot -------------------------------------------------------------------------- */

static taper_status send_all(int to, const char *text, size_t n, taper_error *error) {
    while (n) {
        ssize_t sent = send(to, text, n, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0)
            return formats_fail(error, TAPER_ERR_IO, "gnuplot stopped reading: %s",
                                strerror(errno));
        text += sent;
        n -= (size_t)sent;
    }
    return TAPER_OK;
}

/* Start gnuplot with its standard input on *to, which is the caller's to close. */
static taper_status start_gnuplot(pid_t *child, int *to, taper_error *error) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        return formats_fail(error, TAPER_ERR_IO, "cannot make a channel to gnuplot: %s",
                            strerror(errno));
    char name[] = "gnuplot";
    char *arguments[] = {name, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pair[1], STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclose(&actions, pair[0]);
    if (pair[1] != STDIN_FILENO) posix_spawn_file_actions_addclose(&actions, pair[1]);
    int failure = posix_spawnp(child, name, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(pair[1]);
    if (failure == 0) {
        *to = pair[0];
        return TAPER_OK;
    }
    close(pair[0]);
    if (failure == ENOENT)
        return formats_fail(
            error, TAPER_ERR_UNSUPPORTED,
            "plots need gnuplot, which is not installed; install gnuplot-nox and run again");
    return formats_fail(error, TAPER_ERR_IO, "cannot start gnuplot: %s", strerror(failure));
}

/* Run gnuplot on the script with its output under another stem. */
static taper_status run_gnuplot(const char *script, size_t n, const char *stem,
                                taper_error *error) {
    char *preamble = NULL;
    size_t preamble_size = 0;
    FILE *text = open_memstream(&preamble, &preamble_size);
    if (!text) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a plot");
    fputs("stem = ", text);
    put_quoted(text, stem);
    fputc('\n', text);
    if (fclose(text) != 0) {
        free(preamble);
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a plot");
    }
    pid_t child;
    int to = -1, end = -1;
    taper_status status = start_gnuplot(&child, &to, error);
    if (status == TAPER_OK) {
        status = send_all(to, preamble, preamble_size, error);
        if (status == TAPER_OK) status = send_all(to, script, n, error);
        close(to);
        while (waitpid(child, &end, 0) < 0 && errno == EINTR) continue;
        if (status == TAPER_OK && !(WIFEXITED(end) && WEXITSTATUS(end) == 0))
            status = formats_fail(error, TAPER_ERR_IO,
                                  "gnuplot failed on the plot; its messages are above");
    }
    free(preamble);
    return status;
}

/* --- dark and light --------------------------------------------------------------------------- */

/* gnuplot writes colours as attributes, which style rules override. On a dark page lines are
 * lighter. A file that is viewed alone then has a dark background; within a page it has none. */
static const char k_style[] = "<style>\n"
                              "#gnuplot_canvas .gridline{stroke:#8883}\n"
                              "@media(prefers-color-scheme:dark){\n"
                              "svg:root{background:#14181d}\n"
                              "#gnuplot_canvas text{fill:#e3e7eb}\n"
                              "#gnuplot_canvas [stroke*='102, 102, 102']{stroke:#9aa5b1}\n"
                              "#gnuplot_canvas [stroke*='213,  94,   0']{stroke:#ff8a3d}\n"
                              "#gnuplot_canvas [color*='213,  94,   0']{color:#ff8a3d}\n"
                              "#gnuplot_canvas [stroke*='0, 114, 178']{stroke:#3fa3e6}\n"
                              "#gnuplot_canvas [color*='0, 114, 178']{color:#3fa3e6}\n"
                              "#gnuplot_canvas [stroke*='0, 158, 115']{stroke:#22c796}\n"
                              "#gnuplot_canvas [color*='0, 158, 115']{color:#22c796}\n"
                              "#gnuplot_canvas [stroke*=' 51,  51,  51']{stroke:#d3d9df}\n"
                              "#gnuplot_canvas [color*=' 51,  51,  51']{color:#d3d9df}\n"
                              "}\n"
                              "</style>\n";

/* Write the SVG to its place, with the style behind the start of its <svg>. */
static taper_status place_svg(const char *from, const char *to, const formats_atomic_watch *watch,
                              taper_error *error) {
    enum { MOST = 1 << 26 };
    uint8_t *svg = NULL;
    size_t n = 0, size = 0, at = 0;
    char *text = NULL;
    TAPER_TRY(formats_file_read(from, MOST, &svg, &n, error));
    while (at + 4 < n && memcmp(svg + at, "<svg", 4) != 0) at++;
    while (at < n && svg[at++] != '>') continue;
    FILE *out = open_memstream(&text, &size);
    if (out) fwrite(svg, 1, at, out);
    if (out) fputs(k_style, out);
    if (out) fwrite(svg + at, 1, n - at, out);
    taper_status status =
        out && fclose(out) == 0
            ? formats_file_write(to, text, size, FORMATS_ATOMIC_OVERWRITE, watch, error)
            : formats_fail(error, TAPER_ERR_NOMEM, "no memory for a plot");
    free(svg), free(text);
    if (status == TAPER_OK) remove(from);
    return status;
}

/* Put what gnuplot wrote in place; a short file is a failure of gnuplot that it did not report. */
static taper_status place(const char *from, const char *to, const formats_atomic_watch *watch,
                          taper_error *error) {
    FILE *file = fopen(from, "rb");
    int has_bytes = file && fgetc(file) != EOF;
    if (file) fclose(file);
    if (!has_bytes)
        return formats_fail(error, TAPER_ERR_IO, "gnuplot wrote nothing: is the folder writable?");
    if (strcmp(from + strlen(from) - 4, ".svg") == 0) return place_svg(from, to, watch, error);
    if (rename(from, to) != 0)
        return formats_fail(error, TAPER_ERR_IO, "cannot rename: %s", strerror(errno));
    return TAPER_OK;
}

static char *join(const char *left, const char *right) {
    size_t n = strlen(left) + strlen(right) + 1;
    char *text = malloc(n);
    if (text) snprintf(text, n, "%s%s", left, right);
    return text;
}

static taper_status draw(const char *script, size_t n, const char *stem,
                         const formats_atomic_watch *watch, taper_error *error) {
    static const char *const suffix[2] = {".svg", ".png"};
    char temporary[32], *temporary_stem, *from[2] = {NULL}, *to[2] = {NULL};
    snprintf(temporary, sizeof temporary, ".%ld.tmp", (long)getpid());
    temporary_stem = join(stem, temporary);
    taper_status status = temporary_stem ? TAPER_OK : TAPER_ERR_NOMEM;
    for (int i = 0; i < 2 && status == TAPER_OK; i++) {
        from[i] = join(temporary_stem, suffix[i]);
        to[i] = join(stem, suffix[i]);
        if (!from[i] || !to[i])
            status = TAPER_ERR_NOMEM;
        else if (watch && watch->will_create)
            watch->will_create(watch->user, from[i]);
    }
    if (status == TAPER_OK)
        status = run_gnuplot(script, n, temporary_stem, error);
    else
        formats_fail(error, status, "no memory for a plot");
    for (int i = 0; i < 2; i++) {
        if (status == TAPER_OK) status = place(from[i], to[i], watch, error);
        if (status != TAPER_OK && from[i]) remove(from[i]);
        if (from[i] && watch && watch->gone) watch->gone(watch->user, from[i]);
        free(from[i]);
        free(to[i]);
    }
    free(temporary_stem);
    return status;
}

/* --- all of it -------------------------------------------------------------------------------- */

typedef void put_fn(FILE *to, const cli_plot *plot, const char *base);
/* Make a text in memory (*text is the caller's) and write it to stem + suffix. */
static taper_status write_text(put_fn *put, const cli_plot *plot, const char *stem,
                               const char *suffix, const formats_atomic_watch *watch, char **text,
                               size_t *n, taper_error *error) {
    const char *slash = strrchr(stem, '/');
    char *path = join(stem, suffix);
    *text = NULL;
    FILE *to = path ? open_memstream(text, n) : NULL;
    if (to) put(to, plot, slash ? slash + 1 : stem);
    int failed = !to || ferror(to);
    if ((to && fclose(to) != 0) || failed) {
        free(path);
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a plot");
    }
    taper_status status =
        formats_file_write(path, *text, *n, FORMATS_ATOMIC_OVERWRITE, watch, error);
    free(path);
    return status;
}

taper_status cli_plot_write(const cli_plot *plot, const char *stem, bool csv,
                            const formats_atomic_watch *watch, taper_error *error) {
    size_t points = 0, n;
    char *text = NULL;
    for (size_t i = 0; i < plot->n_series; i++) points += drawn_points(plot, &plot->series[i]);
    if (!points)
        return formats_fail(error, TAPER_ERR_ARG, "nothing to plot: no series has a point");
    taper_status status = TAPER_OK;
    if (csv) {
        status = write_text(put_csv, plot, stem, ".csv", watch, &text, &n, error);
        free(text);
        text = NULL;
    }
    if (status == TAPER_OK)
        status = write_text(put_script, plot, stem, ".gp", watch, &text, &n, error);
    if (status == TAPER_OK) status = draw(text, n, stem, watch, error);
    free(text);
    return status;
}
