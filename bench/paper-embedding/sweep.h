/* sweep.h -- what one unit of a code with a decoder says: a picture's reconstructions while the
 * unit goes through its range (nonlinear NCA, figure 6). */
#ifndef BENCH_PAPER_EMBEDDING_SWEEP_H
#define BENCH_PAPER_EMBEDDING_SWEEP_H
#include "bench/paper-embedding/embedding.h"
#include "codec/transform/network.h"
#include "train/sampling/dataset.h"

/* OUT/STEM-sweep.png and .svg: a row each for the first eight of the last `others` units of the
 * code, and for eight of the units before them, by another test image each; the image and its
 * reconstruction stand in front.
 * codes[rows->n][units] are the network's, which has a decoder; rows are square images. */
void embedding_sweep(embedding *e, const char *stem, const codec_network *net, size_t others,
                     const float *codes, const train_pixels *rows);

#endif
