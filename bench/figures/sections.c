/* sections.c -- see sections.h. */
#include "bench/figures/sections.h"
#include "cli/common/page.h"
#include "formats/file.h"
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

FILE *figures_section(const figures *f, const char *part, const char *heading,
                      const char *paper_says, const char *aside) {
    char *path = figures_path(f->work, "%s.section", part);
    FILE *to = fopen(path, "w");
    if (!to) figures_die("cannot write %s", path);
    free(path);
    cli_page_heading(to, heading);
    char *text = figures_memory(strlen(paper_says) + 16, 1);
    snprintf(text, strlen(paper_says) + 16, "The paper: %s", paper_says);
    cli_page_note(to, text);
    free(text);
    if (aside) cli_page_text(to, aside);
    return to;
}

void figures_section_svg(const figures *f, FILE *to, const char *stem, const char *alt) {
    char *path = figures_path(f->out, "%s.svg", stem);
    uint8_t *bytes = NULL;
    size_t n = 0;
    taper_error error = {0};
    if (formats_file_read(path, (uint64_t)1 << 28, &bytes, &n, &error) == TAPER_OK)
        cli_page_svg(to, (const char *)bytes, n, alt);
    else
        cli_page_note(to, "This picture was not drawn; its figures are in the CSV file.");
    free(bytes);
    free(path);
}

void figures_section_end(FILE *to) {
    if (fclose(to) != 0) figures_die("a section of the page cannot be written");
}

/* The pictures of a part that was recorded elsewhere, without its words. */
static void put_pictures(const figures *f, FILE *to, const char *part) {
    char *pattern = figures_path(f->out, "%s*.svg", part);
    glob_t found;
    if (glob(pattern, 0, NULL, &found) == 0) {
        cli_page_heading(to, part);
        for (size_t i = 0; i < found.gl_pathc; i++) {
            char *stem = strrchr(found.gl_pathv[i], '/') + 1;
            stem[strlen(stem) - strlen(".svg")] = 0;
            figures_section_svg(f, to, stem, stem);
        }
        globfree(&found);
    }
    free(pattern);
}

void figures_put_section(const figures *f, FILE *to, const char *part) {
    char *path = figures_path(f->work, "%s.section", part);
    uint8_t *bytes = NULL;
    size_t n = 0;
    taper_error error = {0};
    if (access(path, R_OK) == 0) {
        figures_check(formats_file_read(path, (uint64_t)1 << 29, &bytes, &n, &error), path, &error);
        fwrite(bytes, 1, n, to);
    } else
        put_pictures(f, to, part);
    free(bytes);
    free(path);
}

void figures_page_begin(figures_page *page, const char *title, const char *lead) {
    *page = (figures_page){0};
    page->to = open_memstream(&page->text, &page->n);
    if (!page->to) figures_die("no memory for the page");
    cli_page_begin(page->to, title, lead);
}

void figures_page_end(const figures *f, figures_page *page, const char *footer) {
    char *path = figures_path(f->out, "index.html");
    cli_page_end(page->to, footer);
    if (fclose(page->to) != 0) figures_die("no memory for the page");
    figures_write(path, page->text, page->n);
    free(page->text);
    free(path);
}
