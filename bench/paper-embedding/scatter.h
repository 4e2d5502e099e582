/* scatter.h -- codes of two numbers as a picture: a dot a row, a colour a class. */
#ifndef BENCH_PAPER_EMBEDDING_SCATTER_H
#define BENCH_PAPER_EMBEDDING_SCATTER_H
#include "bench/paper-embedding/embedding.h"
#include "train/sampling/dataset.h"

/* OUT/STEM.svg and .png of codes[rows->n][2]: both axes have the same scale, and the middle 99.6 %
 * of the codes along each lie within the frame; the others lie on it. title: a few words. */
void embedding_scatter(const embedding *e, const char *stem, const char *title, const float *codes,
                       const train_pixels *rows);
#endif
