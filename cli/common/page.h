/* page.h -- HTML pages in one file each: the style sheet (page.css), a script where photographs are
 * compared (page.js) and pictures as data: URIs. A page loads nothing, and works without a network.
 * It follows the reader's choice of a light or a dark page, and can be read without the script.
 *
 * The functions write to a FILE, usually one of open_memstream; look at ferror when done. All text
 * is escaped, so that file names and the like can be passed as they are. A page is cli_page_begin,
 * then any of text, code, table, svg and pictures, cli_page_end. */
#ifndef CLI_COMMON_PAGE_H
#define CLI_COMMON_PAGE_H
#include "formats/status.h"
#include <stdbool.h>
#include <stdio.h>

/* Head and title; lead: a sentence below it, or NULL. */
void cli_page_begin(FILE *to, const char *title, const char *lead);
void cli_page_end(FILE *to, const char *footer); /* footer: small print, or NULL */
void cli_page_style(FILE *to);                   /* the style sheet alone, for other pages */
void cli_page_script(FILE *to); /* at the end of a page with cli_page_photo_begin */

void cli_page_heading(FILE *to, const char *text);
void cli_page_subheading(FILE *to, const char *text);
void cli_page_label(FILE *to, const char *text); /* a line above pictures */
void cli_page_text(FILE *to, const char *text);  /* a paragraph */
void cli_page_note(FILE *to, const char *text);  /* a small one */
void cli_page_code(FILE *to, const char *text);  /* a command line or the like, to be copied */

typedef struct cli_page_table {
    size_t columns, rows;    /* rows without the head */
    const char *const *head; /* [columns] */
    const char *const *cell; /* [rows * columns]; NULL: empty */
    size_t text_columns;     /* that many from the left are text, the others numbers */
    const bool *strong;      /* [rows], or NULL: rows that stand out */
    const double *shade;     /* [rows * columns] 0, not at all, to 1: cells that do; or NULL */
} cli_page_table;
void cli_page_put_table(FILE *to, const cli_page_table *table);

/* An SVG file's text as part of the page, from its <svg> element on. alt describes the picture.
 * Writes nothing if there is no such element. */
void cli_page_svg(FILE *to, const char *svg, size_t n, const char *alt);

/* The elements between these calls are placed side by side if the page is wide enough. */
void cli_page_beside_begin(FILE *to);
void cli_page_beside_end(FILE *to);

/* Bytes as the base64 of a data: URI. */
void cli_page_base64(FILE *to, const void *from, size_t n);

/* The part of a picture that is shown, in pixels: width x height from (left, top) of
 * of_width x of_height. */
typedef struct cli_page_view {
    uint32_t width, height, left, top, of_width, of_height;
} cli_page_view;

typedef struct cli_page_picture {
    const taper_image *image; /* shown as PNG */
    const uint8_t *file;      /* shown instead: a file of the media type `type`; or NULL */
    size_t file_size;
    const char *type;           /* "image/jpeg" */
    const char *why;            /* shown where both are NULL; NULL: an empty box */
    cli_page_view view;         /* width 0: all of it */
    const char *alt;            /* what is to be seen */
    const char *first, *second; /* lines of the caption; NULL: none */
    const char *by;             /* in a photograph: the codec; NULL elsewhere */
    size_t cut;                 /* with `by`: of which cut, from 1; 0: of none */
} cli_page_picture;

/* A row of pictures that wraps. Small pictures are enlarged without smoothing. */
void cli_page_pictures_begin(FILE *to, bool are_small);
/* The same for pictures of at most `side` pixels, as they are. */
void cli_page_tiles_begin(FILE *to, uint32_t side);
/* TAPER_ERR_NOMEM, TAPER_ERR_ARG: not an image. The page stays well-formed. */
taper_status cli_page_put_picture(FILE *to, const cli_page_picture *picture, taper_error *error);
void cli_page_pictures_end(FILE *to);

/* A photograph of this size and all pictures of it between begin and end; all have a view of that
 * size. The script shows two at a time in one place, with a line between them that the reader
 * moves; the pictures side by side are then folded away. */
void cli_page_photo_begin(FILE *to, const char *name, const char *note, uint32_t width,
                          uint32_t height); /* note: a line below the name, or NULL */
void cli_page_photo_end(FILE *to);

/* A strip of six pictures: one, and five that belong to it. They share the width of the page; on a
 * narrow screen the first one is above the others, in rows of three. */
void cli_page_strip_begin(FILE *to);
/* One picture of a strip. image NULL: it cannot be shown. hint: its name, shown on hovering;
 * the caption's first line and its second (NULL: none); marked: it has a frame. Failures as of
 * cli_page_put_picture. */
taper_status cli_page_strip_picture(FILE *to, const taper_image *image, const char *hint,
                                    const char *caption, const char *second, bool marked,
                                    taper_error *error);
void cli_page_strip_end(FILE *to);
#endif
