/* figures.h -- what programs that make a paper's figures share: messages, memory, paths, JSON
 * lines, plots. Everything here ends the program with a message when it fails: a benchmark has
 * nobody to return to.
 *
 * Directory bench/figures/: for bench/paper/, bench/paper-embedding/ and bench/retrieval/.
 *   figures    this page
 *   drawing    pictures with words and dots on them, as PNG and SVG
 *   sections   the parts of a page */
#ifndef BENCH_FIGURES_FIGURES_H
#define BENCH_FIGURES_FIGURES_H
#include "formats/status.h"
#include <stddef.h>
#include <stdio.h>

typedef struct figures {
    const char *out;  /* folder of figures */
    const char *work; /* folder of checkpoints, logs, sections of the page */
    const char *set;  /* what JSON lines say the data are; NULL: nothing */
} figures;

/* What a program is told after its first word: one of the three. */
typedef struct figures_option {
    const char *name; /* "--out"; NULL ends a table */
    const char **text;
    unsigned *number;
    int *flag; /* 1 where it is given; takes no value */
} figures_option;
/* Read argv[2] .. by a table. 0: a word that it does not have, or one without its value. */
int figures_read(const figures_option *options, int argc, char **argv);

void figures_die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void figures_check(taper_status status, const char *what, const taper_error *error);
void figures_say(const char *format, ...)
    __attribute__((format(printf, 1, 2)));       /* standard error */
void *figures_memory(size_t count, size_t size); /* zeroed; checked product */
/* FOLDER/NAME as new memory; name is a format. */
char *figures_path(const char *folder, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The file at path becomes these bytes, whole or not at all. */
void figures_write(const char *path, const void *bytes, size_t n);
/* A JSON line; config is a format that makes the inside of {...}. "data", the set, is added. */
void figures_print(const figures *f, const char *bench, const char *metric, double value,
                   const char *unit, const char *config, ...) __attribute__((format(printf, 6, 7)));

typedef struct figures_line {
    const char *name;
    const double *x, *y;
    size_t n;
} figures_line;
enum { FIGURES_LOG_X = 1, FIGURES_LOG_Y = 2 };
/* OUT/STEM.svg, .png, .gp, .csv. The first line stands out. Without gnuplot it says so, goes on. */
void figures_plot(const figures *f, const char *stem, const char *title, const char *x_label,
                  const char *y_label, int logs, const figures_line *line, size_t lines);

#endif
