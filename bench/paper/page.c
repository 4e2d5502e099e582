/* page.c -- the page: every part leaves its section, the last step puts them together. */
#include "bench/paper/parts.h"
#include "cli/common/page.h"
#include "formats/atomic_file.h"
#include "formats/file.h"
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

FILE *paper_section(const paper *p, const char *part, const char *heading, const char *paper_says) {
    char *path = paper_path(p->work, "%s.section", part);
    FILE *to = fopen(path, "w");
    if (!to) paper_die("cannot write %s", path);
    free(path);
    cli_page_heading(to, heading);
    char *text = paper_memory(strlen(paper_says) + 16, 1);
    snprintf(text, strlen(paper_says) + 16, "The paper: %s", paper_says);
    cli_page_note(to, text);
    free(text);
    if (p->generated)
        cli_page_text(to, "Made from generated samples, for want of CIFAR-10: the figures here are "
                          "not those of the paper's images.");
    return to;
}

void paper_section_svg(const paper *p, FILE *to, const char *stem, const char *alt) {
    char *path = paper_path(p->out, "%s.svg", stem);
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

void paper_section_end(FILE *to) {
    if (fclose(to) != 0) paper_die("a section of the page cannot be written");
}

/* The pictures of a part that was recorded elsewhere, without its words. */
static void put_pictures(const paper *p, FILE *to, const char *part) {
    char *pattern = paper_path(p->out, "%s*.svg", part);
    glob_t found;
    if (glob(pattern, 0, NULL, &found) == 0) {
        cli_page_heading(to, part);
        for (size_t i = 0; i < found.gl_pathc; i++) {
            char *stem = strrchr(found.gl_pathv[i], '/') + 1;
            stem[strlen(stem) - strlen(".svg")] = 0;
            paper_section_svg(p, to, stem, stem);
        }
        globfree(&found);
    }
    free(pattern);
}

static void put_section(const paper *p, FILE *to, const char *part) {
    char *path = paper_path(p->work, "%s.section", part);
    uint8_t *bytes = NULL;
    size_t n = 0;
    taper_error error = {0};
    if (access(path, R_OK) == 0) {
        paper_check(formats_file_read(path, (uint64_t)1 << 29, &bytes, &n, &error), path, &error);
        fwrite(bytes, 1, n, to);
    } else
        put_pictures(p, to, part);
    free(bytes);
    free(path);
}

void paper_part_page(paper *p) {
    char *text = NULL, *path = paper_path(p->out, "index.html");
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    if (!to) paper_die("no memory for the page");
    cli_page_begin(to, "Nested dropout, the figures",
                   "The experiments of Rippel, Gelbart and Adams, Learning ordered representations "
                   "with nested dropout (ICML 2014), made again with this program.");
    if (p->quick)
        cli_page_text(to, "This is the quick version: few images and few epochs, to see that "
                          "everything runs. Its figures say nothing about the methods.");
    for (const paper_part *part = paper_parts; part->name; part++) put_section(p, to, part->name);
    cli_page_end(to, "Errors are mean squared errors of a pixel component on the 8-bit scale. Made "
                     "by make paper-nested-dropout.");
    if (fclose(to) != 0) paper_die("no memory for the page");
    taper_error error = {0};
    paper_check(formats_file_write(path, text, n, FORMATS_ATOMIC_OVERWRITE, NULL, &error), path,
                &error);
    free(text);
    free(path);
}
