/* plot.h -- line plots as SVG and PNG, drawn by gnuplot.
 *
 * The gnuplot script is written beside the pictures and contains the data: `cd DIR && gnuplot
 * STEM.gp` draws them again. Colours are those of Okabe and Ito, which colour-blind people can tell
 * apart; each colour also has its own marker. The legend is outside the curves. The SVG is narrow,
 * for pages on small screens, and has no background. An added style gives it light text and lines
 * on dark pages. The PNG is wide and white. */
#ifndef CLI_COMMON_PLOT_H
#define CLI_COMMON_PLOT_H
#include "formats/atomic_file.h"
#include <stdbool.h>

enum { CLI_PLOT_COLOURS = 7 };

typedef struct cli_series {
    const char *name; /* in the legend */
    const double *x,
        *y; /* n each; points that are not finite, or not positive on a log axis, are left out */
    size_t n;
    unsigned colour; /* 0 .. CLI_PLOT_COLOURS - 1, taken modulo; 0 is the one that stands out */
    bool dashed;     /* for a second kind of the same thing */
    bool bold;       /* for what the plot is about */
    bool markers;    /* a mark at each point; leave out where points are many */
} cli_series;

typedef struct cli_plot {
    const char *title, *x_label, *y_label; /* title may be NULL */
    bool log_x, log_y;
    const cli_series *series;
    size_t n_series;
} cli_plot;

/* Write STEM.svg, STEM.png, STEM.gp and, when csv, STEM.csv ("series,x,y", one point a line).
 * Existing files are replaced; each appears whole or not at all. watch: as in
 * formats/atomic_file.h, may be NULL.
 *
 * CSV and script are written first. TAPER_ERR_UNSUPPORTED: gnuplot is not installed; the text
 * names the package, and the CSV and the script are written. TAPER_ERR_ARG: no series has a point
 * that can be drawn. TAPER_ERR_IO: a file cannot be written, or gnuplot failed. */
taper_status cli_plot_write(const cli_plot *plot, const char *stem, bool csv,
                            const formats_atomic_watch *watch, taper_error *error);
#endif
