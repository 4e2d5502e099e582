/* judge.h -- how good codes are: the error of k-NN on test rows, by the labels of training rows. */
#ifndef BENCH_PAPER_EMBEDDING_JUDGE_H
#define BENCH_PAPER_EMBEDDING_JUDGE_H
#include "bench/paper-embedding/records.h"
#include "codec/transform/network.h"
#include "train/sampling/dataset.h"

/* Codes [rows->n][units] of a network as new memory; net NULL: pixels over 255. */
float *embedding_codes(embedding *e, const codec_network *net, const train_pixels *rows);

/* k-NN of all embedding_k: fills tested, error, low and high. */
void embedding_judge(const embedding *e, size_t width, const float *train_codes,
                     const train_pixels *train, const float *test_codes, const train_pixels *test,
                     embedding_record *out);
#endif
