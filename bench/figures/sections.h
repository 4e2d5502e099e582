/* sections.h -- the parts of a page: every part of a program leaves its section in the work folder,
 * the last step puts them together. */
#ifndef BENCH_FIGURES_SECTIONS_H
#define BENCH_FIGURES_SECTIONS_H
#include "bench/figures/figures.h"

/* Begin the section of a part: heading, then what the paper shows, in our words; aside: what is to
 * be known of the data, or NULL. */
FILE *figures_section(const figures *f, const char *part, const char *heading,
                      const char *paper_says, const char *aside);
/* The picture OUT/STEM.svg; without it a note that it was not drawn. */
void figures_section_svg(const figures *f, FILE *to, const char *stem, const char *alt);
void figures_section_end(FILE *to);

/* Put a part's section into the page; of a part without one, which was made elsewhere, all its
 * pictures OUT/PART*.svg. */
void figures_put_section(const figures *f, FILE *to, const char *part);

/* A page in memory, then OUT/index.html. */
typedef struct figures_page {
    FILE *to;
    char *text;
    size_t n;
} figures_page;
void figures_page_begin(figures_page *page, const char *title, const char *lead);
void figures_page_end(const figures *f, figures_page *page, const char *footer);
#endif
