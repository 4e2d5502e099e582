/* comparison.h -- the results of a comparison as a table, one JSON object, or CSV.
 *
 * Directory cli/compare/: taper beside other codecs.
 *   rival rivals             one small struct a codec: jpeg jpeg2000 webp avif jxl
 *   subject originals        what is compared, and its images
 *   rd_curve                 curves over a set; comparison: what was found
 *   report examples          the page; own_report: what of a folder is as it was written
 *   rival_fit                a rival's picture within given bytes */
#ifndef CLI_COMPARE_COMPARISON_H
#define CLI_COMPARE_COMPARISON_H
#include "cli/compare/rd_curve.h"
#include <stdbool.h>
#include <stdio.h>

enum { CLI_MAX_CURVES = 16, CLI_MAX_DELTAS = 64, CLI_MAX_RIVALS = 8 };

typedef struct cli_delta { /* indices into curve */
    size_t test, anchor;
    taper_bd_rate bd;
} cli_delta;

typedef struct cli_contender { /* a requested rival */
    const cli_rival *rival;
    char version[200]; /* of its library; empty when absent */
    char failure[300]; /* why it has no curve; empty when it has */
} cli_contender;

typedef struct cli_comparison {
    uint64_t images, pixels;
    bool is_builtin; /* the model ships with taper: the table and page omit `file+model` */
    size_t n_curves, n_deltas, n_contenders;
    cli_rd_curve curve[CLI_MAX_CURVES];
    cli_delta delta[CLI_MAX_DELTAS];
    cli_contender contender[CLI_MAX_RIVALS];
} cli_comparison;

/* The curve of a codec in an accounting, or NULL. */
const cli_rd_curve *cli_comparison_curve(const cli_comparison *c, const char *codec,
                                         const char *accounting);

/* Fill c->delta: taper in each accounting against each curve of each rival, and each rival against
 * JPEG in the same accounting. Pairs without a common range of quality are omitted. */
void cli_comparison_find_deltas(cli_comparison *c);
/* The delta of two curves, or NULL. */
const cli_delta *cli_comparison_delta(const cli_comparison *c, const cli_rd_curve *test,
                                      const cli_rd_curve *anchor);

/* Levels of PSNR, 2.5 dB apart, within the curve of taper, for a table. db: [room]. Returns their
 * number. */
size_t cli_comparison_levels(const cli_comparison *c, double *db, size_t room);
/* Bytes per image of a curve at a PSNR as text, "142", or "-" outside the curve; to holds 16. */
char *cli_comparison_bytes_at(const cli_rd_curve *curve, double db, char to[16]);
/* A delta as text, "-34.1 %", or "-" when there is none. */
char *cli_comparison_percent(const cli_delta *delta, char to[16]);

/* Is the curve shown in the table and on the page? */
bool cli_comparison_is_shown(const cli_comparison *c, const cli_rd_curve *curve);
/* A number of bytes as text: "61.5 B", "832 B", "206 kB", "3.1 MB" (powers of 1000). Returns to. */
char *cli_comparison_size(double bytes, char to[16]);

void cli_comparison_print(const cli_comparison *c, FILE *to);      /* the table */
void cli_comparison_print_json(const cli_comparison *c, FILE *to); /* one line */
void cli_comparison_print_csv(const cli_comparison *c, FILE *to);  /* every point of every curve */
#endif
