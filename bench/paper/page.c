/* page.c -- the page: the sections that the parts left, put together. */
#include "bench/paper/parts.h"
#include "cli/common/page.h"

FILE *paper_section(const paper *p, const char *part, const char *heading, const char *paper_says) {
    return figures_section(&p->figures, part, heading, paper_says,
                           p->generated ? "Made from generated samples, for want of CIFAR-10: the "
                                          "figures here are not those of the paper's images."
                                        : NULL);
}

void paper_part_page(paper *p) {
    figures_page page;
    figures_page_begin(
        &page, "Nested dropout, the figures",
        "The experiments of Rippel, Gelbart and Adams, Learning ordered representations "
        "with nested dropout (ICML 2014), made again with this program.");
    if (p->quick)
        cli_page_text(page.to, "This is the quick version: few images and few epochs, to see that "
                               "everything runs. Its figures say nothing about the methods.");
    for (const paper_part *part = paper_parts; part->name; part++)
        figures_put_section(&p->figures, page.to, part->name);
    figures_page_end(&p->figures, &page,
                     "Errors are mean squared errors of a pixel component on the 8-bit scale. Made "
                     "by make paper-nested-dropout.");
}
