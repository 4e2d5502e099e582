/* baselines.h -- codes in closed form. */
#ifndef BENCH_PAPER_EMBEDDING_BASELINES_H
#define BENCH_PAPER_EMBEDDING_BASELINES_H
#include "bench/paper-embedding/embedding.h"
#include "codec/transform/network.h"
#include "train/sampling/dataset.h"

/* The leading principal components. net is the caller's to free. */
void embedding_pca(embedding *e, const train_pixels *rows, uint32_t dims, codec_network *net);
#endif
