/* recipes.h -- what the cells are learned with. What was chosen was chosen on the validation part
 * of the training images (`paper_embedding try`): 10,000 of MNIST's 60,000, one in six of others.
 * For the tables a network is learned on all of them, for so many epochs, and the last is kept. */
#ifndef BENCH_PAPER_EMBEDDING_RECIPES_H
#define BENCH_PAPER_EMBEDDING_RECIPES_H
#include "bench/paper-embedding/cells.h"

/* The first pattern that matches is the cell's. */
static const embedding_recipe embedding_recipes[] = {
    {"circles-linear-nca-*", "spread=10 rate=0.3 epochs=300 batch=1000", 0.1},
    {"mnist-linear-nca-*", "spread=10 rate=0.003 epochs=30 batch=5000", 1.0},
    {"usps-mcml-*", "epochs=200", 4.0},
    {"mnist-dt-mcml-d-1-moved-2-*", "rate=0.02 epochs=200 batch=5000 jitter=4", 20.0},
    {"mnist-dt-nca-d-1-moved-30-*", "rate=0.005 epochs=150 batch=5000 jitter=4", 15.0},
    {"usps-dt-nca-d-1-moved-30-*", "rate=0.005 epochs=150 batch=1000 jitter=4", 1.5},
    {"mnist-dg-nca-split-*", "rate=0.001 epochs=40 batch=5000 reconstruct=0.01 free=20", 8.0},
    {"mnist-dt-nca-d-1-split-*", "rate=0.005 epochs=40 batch=5000 reconstruct=0.003 free=20", 8.0},
    {"mnist-dt-nca-d-1-noise-*", "rate=0.005 epochs=60 batch=5000 dropout=0.2 corrupt=0.2", 6.0},
    {"mnist-dt-mcml-d-1-guessed-of-100-*",
     "rate=0.0004 epochs=10 batch=5000 labels=0.1667 labels-each=10 guess=1 pretrain=taught "
     "widths=500-500-300",
     5.0},
    {"mnist-dt-mcml-d-1-guessed-of-1000-*",
     "rate=0.0004 epochs=10 batch=5000 labels=1.667 labels-each=100 guess=1 pretrain=taught "
     "widths=500-500-300",
     5.0},
    {"mnist-dt-log-nca-d-1-noise-*", "rate=0.002 epochs=60 batch=5000 dropout=0.3 corrupt=0.2",
     6.0},
    {"mnist-dt-log-nca-d-1-taught-*",
     "rate=0.0004 epochs=10 batch=5000 pretrain=taught widths=1000-500-300 teacher-epochs=40", 7.0},
    {"mnist-dg-nca-few1-regularised-*", "rate=0.003 epochs=35 labels=1 reconstruct=0.01", 7.0},
    {"mnist-dg-nca-few5-regularised-*", "rate=0.003 epochs=35 labels=5 reconstruct=0.01", 7.0},
    {"mnist-dg-nca-few10-regularised-*", "rate=0.003 epochs=35 labels=10 reconstruct=0.01", 7.0},
    {"mnist-dg-nca-few1-autoencoder-*", "rate=0.001 epochs=10 labels=1 reconstruct=1", 2.0},
    {"mnist-dg-nca-few5-autoencoder-*", "rate=0.001 epochs=10 labels=5 reconstruct=1", 2.0},
    {"mnist-dg-nca-few10-autoencoder-*", "rate=0.001 epochs=10 labels=10 reconstruct=1", 2.0},
    {"mnist-dg-nca-few1-*", "rate=0.001 epochs=100 labels=1", 0.5},
    {"mnist-dg-nca-few5-*", "rate=0.001 epochs=100 labels=5", 1.0},
    {"mnist-dg-nca-few10-*", "rate=0.001 epochs=100 labels=10", 2.0},
    {"mnist-d?-mcml-*2-seed*", "rate=0.02 epochs=100 batch=5000", 10.0},
    {"mnist-d?-nca-*2-seed*", "rate=0.01 epochs=60 batch=5000", 6.0},
    {"mnist-d*", "rate=0.005 epochs=40 batch=5000", 4.0},
    {"usps-d?-mcml-*2-split*", "rate=0.02 epochs=80 batch=1000", 1.0},
    {"usps-d*", "rate=0.005 epochs=100 batch=1000", 1.0},
    {"*", "", 0.1}, /* in closed form */
};
#endif
