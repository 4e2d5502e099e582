/* baselines.c -- see baselines.h. */
#include "bench/paper-embedding/baselines.h"
#include "train/linear/pca.h"
#include <stdlib.h>

enum { BLOCK = 1024 };

void embedding_pca(embedding *e, const train_pixels *rows, uint32_t dims, codec_network *net) {
    size_t d = rows->inputs;
    float *block = figures_memory(BLOCK * d, sizeof *block);
    train_covariance cov;
    taper_error error = {0};
    figures_check(train_covariance_alloc(&cov, &e->device.train, rows->inputs), "covariance", NULL);
    for (size_t i = 0; i < rows->n; i += BLOCK) {
        size_t n = rows->n - i < BLOCK ? rows->n - i : BLOCK;
        for (size_t j = 0; j < n * d; j++) block[j] = (float)rows->pixels[i * d + j];
        figures_check(train_covariance_add(&cov, block, n), "covariance", NULL);
    }
    figures_check(codec_network_alloc(net, rows->inputs, dims, CODEC_TIED, NULL, 0, NULL, 0),
                  "network", NULL);
    figures_check(train_pca_solve(&cov, net, NULL, &error), "principal components", &error);
    train_covariance_free(&cov);
    free(block);
}
