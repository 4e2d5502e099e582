/* pages.c -- plots and the page, of lines on standard input.
 *
 * The page's lines begin with a word and a tab; the other columns follow, with tabs between:
 *     title   TITLE, LEAD            first
 *     heading TEXT     text TEXT     note TEXT     label TEXT     code TEXT
 *     plot    STEM, WHAT IT SHOWS    OUT/STEM.svg
 *     table   COLUMNS OF TEXT, HEAD...   then `row` with as many cells, then `end`
 *     picture FILE, FIRST LINE, SECOND LINE   an image file of any format, in a row until `end`
 *     footer  TEXT                   last */
#include "bench/figures/figures.h"
#include "bench/figures/sections.h"
#include "bench/paper-broadcast/broadcast.h"
#include "cli/common/page.h"
#include "formats/file.h"
#include "formats/image.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 16, MOST_CELLS = 1024, MOST_LINES = 4096, MOST_SERIES = 12 };

/* Read a line into new memory and cut it at tabs; the number of columns, 0 at the end. */
static size_t read_columns(char **line, char *column[MOST_COLUMNS]) {
    size_t room = 0, n = 0;
    *line = NULL;
    if (getline(line, &room, stdin) < 0) return 0;
    (*line)[strcspn(*line, "\n")] = 0;
    for (char *at = *line; at && n < MOST_COLUMNS; n++) {
        column[n] = at;
        at = strchr(at, '\t');
        if (at) *at++ = 0;
    }
    for (size_t i = n; i < MOST_COLUMNS; i++) column[i] = "";
    return n;
}

void broadcast_plot(int argc, char **argv) {
    if (argc != 7 || strcmp(argv[5], "--out") != 0)
        figures_die("plot STEM TITLE X Y LOGS --out DIR");
    figures f = {.out = argv[6]};
    figures_line line[MOST_SERIES] = {{0}};
    double *x[MOST_SERIES], *y[MOST_SERIES];
    size_t lines = 0, n;
    char *text, *column[MOST_COLUMNS];
    while ((n = read_columns(&text, column)) == 3) {
        size_t i = 0;
        while (i < lines && strcmp(line[i].name, column[0]) != 0) i++;
        if (i == MOST_SERIES || (i < lines && line[i].n == MOST_LINES))
            figures_die("too many lines in a plot");
        if (i == lines) {
            x[i] = figures_memory(MOST_LINES, sizeof **x);
            y[i] = figures_memory(MOST_LINES, sizeof **y);
            line[lines++] = (figures_line){strdup(column[0]), x[i], y[i], 0};
        }
        x[i][line[i].n] = strtod(column[1], NULL);
        y[i][line[i].n++] = strtod(column[2], NULL);
        free(text);
    }
    free(text);
    if (n) figures_die("a line of a plot is not SERIES, x, y");
    figures_plot(&f, argv[0], argv[1], argv[2], argv[3], (int)strtoul(argv[4], NULL, 10), line,
                 lines);
    for (size_t i = 0; i < lines; i++) {
        free((char *)line[i].name);
        free(x[i]);
        free(y[i]);
    }
}

/* The rows of a table up to `end`. */
static void put_table(FILE *to, size_t columns, size_t text_columns, char *const head[]) {
    const char *titles[MOST_COLUMNS], *cell[MOST_CELLS];
    char *kept[MOST_CELLS], *column[MOST_COLUMNS], *line;
    size_t rows = 0;
    for (size_t i = 0; i < columns; i++) titles[i] = head[i];
    while (read_columns(&line, column) && strcmp(column[0], "row") == 0) {
        if ((rows + 1) * columns > MOST_CELLS) figures_die("too many rows in a table");
        for (size_t i = 0; i < columns; i++) cell[rows * columns + i] = column[i + 1];
        kept[rows++] = line;
    }
    free(line);
    cli_page_table table = {.columns = columns,
                            .rows = rows,
                            .head = titles,
                            .cell = cell,
                            .text_columns = text_columns};
    cli_page_put_table(to, &table);
    for (size_t i = 0; i < rows; i++) free(kept[i]);
}

/* A picture on the page and its captions. */
typedef struct page_picture {
    FILE *to;
    const char *first, *second;
} page_picture;

static void put_seen(void *user, const taper_image *picture, const taper_image *shown) {
    const page_picture *p = user;
    enum { SIDE = 256 };
    uint32_t width = shown->width < SIDE ? shown->width : SIDE;
    uint32_t height = shown->height < SIDE ? shown->height : SIDE;
    uint32_t left = (shown->width - width) / 2, top = (shown->height - height) / 2;
    cli_page_picture on_page = {.image = shown,
                                .alt = p->first,
                                .first = p->first,
                                .second = p->second,
                                .view = {width, height, left, top, shown->width, shown->height}};
    taper_error error = {0};
    (void)picture;
    figures_check(cli_page_put_picture(p->to, &on_page, &error), p->first, &error);
}

static void put_picture(FILE *to, char *const column[]) {
    page_picture p = {to, column[5], column[6]};
    broadcast_rung rung = {broadcast_codec(column[1]), (unsigned)strtoul(column[2], NULL, 10), 0,
                           0};
    taper_image picture = broadcast_read(column[3]);
    uint8_t *bytes;
    size_t size;
    taper_error error = {0};
    figures_check(formats_file_read(column[4], FORMATS_MOST_BYTES, &bytes, &size, &error),
                  column[4], &error);
    if (rung.codec) {
        taper_image shown = broadcast_see(&rung, &picture, bytes, size);
        put_seen(&p, &picture, &shown);
        formats_image_free(&shown);
    } else
        broadcast_see_container(bytes, size, &picture, 1, put_seen, &p);
    free(bytes);
    formats_image_free(&picture);
}

/* A run of pictures, of which the first was read. */
static void put_pictures(FILE *to, char *const first[]) {
    char *line, *column[MOST_COLUMNS];
    cli_page_pictures_begin(to, false);
    put_picture(to, first);
    while (read_columns(&line, column) && strcmp(column[0], "picture") == 0) {
        put_picture(to, column);
        free(line);
    }
    free(line);
    cli_page_pictures_end(to);
}

/* One line but `title` and `footer`. */
static void put_line(const figures *f, FILE *to, size_t n, char *const column[]) {
    static const struct {
        const char *word;
        void (*put)(FILE *, const char *);
    } words[] = {{"heading", cli_page_heading},
                 {"text", cli_page_text},
                 {"note", cli_page_note},
                 {"label", cli_page_label},
                 {"code", cli_page_code}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(column[0], words[i].word) == 0) {
            words[i].put(to, column[1]);
            return;
        }
    if (strcmp(column[0], "plot") == 0)
        figures_section_svg(f, to, column[1], column[2]);
    else if (strcmp(column[0], "table") == 0 && n > 2)
        put_table(to, n - 2, strtoul(column[1], NULL, 10), column + 2);
    else if (strcmp(column[0], "picture") == 0)
        put_pictures(to, column);
    else
        figures_die("a line of the page begins with %s", column[0]);
}

void broadcast_page(int argc, char **argv) {
    if (argc != 2 || strcmp(argv[0], "--out") != 0) figures_die("page --out DIR");
    figures f = {.out = argv[1]};
    figures_page page;
    char *line, *column[MOST_COLUMNS];
    size_t n = read_columns(&line, column);
    if (!n || strcmp(column[0], "title") != 0) figures_die("the page has no title");
    figures_page_begin(&page, column[1], column[2]);
    free(line);
    while ((n = read_columns(&line, column)) && strcmp(column[0], "footer") != 0) {
        put_line(&f, page.to, n, column);
        free(line);
    }
    figures_page_end(&f, &page, n ? column[1] : NULL);
    free(line);
}
