/* figures.c -- see figures.h. */
#include "bench/figures/figures.h"
#include "bench/bench.h"
#include "cli/common/plot.h"
#include "formats/atomic_file.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int read_one(const figures_option *o, const char *value) {
    if (o->text)
        *o->text = value;
    else if (o->number)
        *o->number = (unsigned)strtoul(value, NULL, 10);
    else
        *o->flag = 1;
    return o->flag ? 1 : 2;
}

int figures_read(const figures_option *options, int argc, char **argv) {
    for (int i = 2; i < argc;) {
        const figures_option *o = options;
        while (o->name && strcmp(o->name, argv[i]) != 0) o++;
        if (!o->name || (!o->flag && i + 1 == argc)) return 0;
        i += read_one(o, argv[i + 1]);
    }
    return 1;
}

void figures_die(const char *format, ...) {
    va_list list;
    va_start(list, format);
    fprintf(stderr, "%s: ", bench_program());
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    exit(1);
}

void figures_check(taper_status status, const char *what, const taper_error *error) {
    if (status == TAPER_OK) return;
    figures_die("%s: %s", what,
                error && error->text[0] ? error->text : formats_status_name(status));
}

void figures_say(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
}

void *figures_memory(size_t count, size_t size) {
    if (size && count > SIZE_MAX / size) figures_die("a size that no memory has");
    void *p = calloc(count ? count : 1, size ? size : 1);
    if (!p) figures_die("no memory for %zu MB", count * size >> 20);
    return p;
}

char *figures_path(const char *folder, const char *format, ...) {
    char *text = figures_memory(1, 1024);
    va_list list;
    va_start(list, format);
    int n = snprintf(text, 1024, "%s/", folder);
    if (n >= 0 && n < 1024) n += vsnprintf(text + n, 1024 - (size_t)n, format, list);
    va_end(list);
    if (n < 0 || n >= 1024) figures_die("a path that is too long in %s", folder);
    return text;
}

void figures_write(const char *path, const void *bytes, size_t n) {
    taper_error error = {0};
    figures_check(formats_file_write(path, bytes, n, FORMATS_ATOMIC_OVERWRITE, NULL, &error), path,
                  &error);
}

void figures_print(const figures *f, const char *bench, const char *metric, double value,
                   const char *unit, const char *config, ...) {
    char inside[1400], all[1500];
    va_list list;
    va_start(list, config);
    int n = vsnprintf(inside, sizeof inside, config, list);
    va_end(list);
    if (n < 0 || (size_t)n >= sizeof inside) figures_die("a configuration that is too long");
    snprintf(all, sizeof all, "{%s%s%s%s%s}", inside, inside[0] && f->set ? "," : "",
             f->set ? "\"data\":\"" : "", f->set ? f->set : "", f->set ? "\"" : "");
    bench_print(bench, metric, value, unit, all);
}

void figures_plot(const figures *f, const char *stem, const char *title, const char *x_label,
                  const char *y_label, int logs, const figures_line *line, size_t lines) {
    cli_series *series = figures_memory(lines, sizeof *series);
    for (size_t i = 0; i < lines; i++)
        series[i] = (cli_series){.name = line[i].name,
                                 .x = line[i].x,
                                 .y = line[i].y,
                                 .n = line[i].n,
                                 .colour = (unsigned)i,
                                 .dashed = i >= CLI_PLOT_COLOURS,
                                 .bold = i == 0,
                                 .markers = line[i].n <= 40};
    cli_plot plot = {title,  x_label, y_label, logs & FIGURES_LOG_X, logs & FIGURES_LOG_Y,
                     series, lines};
    char *path = figures_path(f->out, "%s", stem);
    taper_error error = {0};
    taper_status status = cli_plot_write(&plot, path, true, NULL, &error);
    if (status == TAPER_ERR_UNSUPPORTED)
        figures_say("no picture of %s: %s", stem, error.text);
    else
        figures_check(status, path, &error);
    free(path);
    free(series);
}
