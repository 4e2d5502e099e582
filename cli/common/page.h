/* page.h -- HTML pages that need nothing but themselves: style inside, pictures as data: URIs, no
 * script, no font and no address from elsewhere.
 *
 * The functions write to a FILE, usually one of open_memstream; look at ferror when done. All text
 * is escaped, so that file names and the like can be passed as they are. A page is cli_page_begin,
 * then any of text, code, table, svg and grids, cli_page_end. */
#ifndef CLI_COMMON_PAGE_H
#define CLI_COMMON_PAGE_H
#include "formats/status.h"
#include <stdbool.h>
#include <stdio.h>

/* Head and title; lead: a sentence below it, or NULL. */
void cli_page_begin(FILE *to, const char *title, const char *lead);
void cli_page_end(FILE *to, const char *footer); /* footer: small print, or NULL */

void cli_page_heading(FILE *to, const char *text);
void cli_page_subheading(FILE *to, const char *text);
void cli_page_text(FILE *to, const char *text); /* a paragraph */
void cli_page_note(FILE *to, const char *text); /* a small one */
void cli_page_code(FILE *to, const char *text); /* a command line or the like, to be copied */

typedef struct cli_page_table {
    size_t columns, rows;    /* rows without the head */
    const char *const *head; /* [columns] */
    const char *const *cell; /* [rows * columns]; NULL: empty */
    size_t text_columns;     /* that many from the left are text, the others numbers */
    const bool *strong;      /* [rows], or NULL: rows that stand out */
    const double *shade;     /* [rows * columns] 0, not at all, to 1: cells that do; or NULL */
} cli_page_table;
void cli_page_put_table(FILE *to, const cli_page_table *table);

/* An SVG file's text as part of the page, from its <svg> element on. alt says what is to be seen.
 * Nothing is written when there is no such element. */
void cli_page_svg(FILE *to, const char *svg, size_t n, const char *alt);

/* What stands between these is put side by side where the page is wide enough for it. */
void cli_page_beside_begin(FILE *to);
void cli_page_beside_end(FILE *to);

/* Bytes as the base64 of a data: URI. */
void cli_page_base64(FILE *to, const void *from, size_t n);

/* A grid of pictures. Rows are given from left to right:
 *     cli_page_grid_begin, per row: cli_page_row, then `columns` cells; cli_page_grid_end
 * A newline in a head breaks the line. */
void cli_page_grid_begin(FILE *to, size_t columns, const char *const *heads);
void cli_page_row(FILE *to, const char *label,
                  bool first_of_group); /* first_of_group: a rule above */
/* A picture, enlarged by a whole number without smoothing up to 144 pixels along its
 * longer side, with its
 * caption below: what it costs, then what it is worth (either may be NULL). TAPER_ERR_NOMEM,
 * TAPER_ERR_ARG: not an image; an empty cell is then written, so that the grid stays whole. */
taper_status cli_page_picture(FILE *to, const taper_image *image, const char *alt, const char *cost,
                              const char *worth, taper_error *error);
void cli_page_no_picture(FILE *to,
                         const char *why); /* a cell that says why it is empty; NULL: just empty */
void cli_page_row_note(FILE *to, size_t columns,
                       const char *text); /* words over so many cells of a row */
void cli_page_grid_end(FILE *to);

/* A strip of six pictures, one and five that belong to it, which are as wide as there is room for;
 * on a telephone the first stands above the others. */
void cli_page_strip_begin(FILE *to);
/* One of them; image NULL: what should be there cannot be shown. hint: its name, when pointed at;
 * the caption's first line and its second (NULL: none); marked: it has a frame. Failures as of
 * cli_page_picture. */
taper_status cli_page_strip_picture(FILE *to, const taper_image *image, const char *hint,
                                    const char *caption, const char *second, bool marked,
                                    taper_error *error);
void cli_page_strip_end(FILE *to);
#endif
