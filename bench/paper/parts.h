/* parts.h -- the parts of nested_dropout, one function each. */
#ifndef BENCH_PAPER_PARTS_H
#define BENCH_PAPER_PARTS_H
#include "bench/paper/paper.h"

typedef struct paper_part {
    const char *name, *does;
    void (*run)(paper *p);
} paper_part;
extern const paper_part paper_parts[]; /* in the page's order; ends with name NULL */

void paper_part_fig1(paper *p);
void paper_part_fig2(paper *p);
void paper_part_fig5a(paper *p);
void paper_part_fig5b(paper *p);
void paper_part_baselines(paper *p);
void paper_part_adaptive(paper *p);
void paper_part_invariance(paper *p);
void paper_part_broadcast(paper *p);
void paper_part_theory(paper *p);
void paper_part_page(paper *p);
/* Not a figure: train what --set says, print its errors on held-out images. */
void paper_part_try(paper *p);
#endif
