/* recipes.h -- the settings of every network of the figures (keys: networks.c). What they were
 * chosen on is the held-out part of the training images. */
#ifndef BENCH_PAPER_RECIPES_H
#define BENCH_PAPER_RECIPES_H

/* Figure 1: the paper's binarisation, tied weights. */
#define RECIPE_FIG1 "widths=100 tied=1 rate=0.003 truncation=geometric:0.9 epochs=24"

/* Figure 5, the baselines: binary 3072-1024-3072 of all kinds (kinds.h, which has rates and
 * truncations of its own), nested or standard, and those of fewer units for one length. All kinds
 * and seeds have to fit into an hour. */
#define RECIPE_CODE "widths=1024 rate=0.006 epochs=10"

/* Section 6: for populations of receivers. */
#define RECIPE_RECEIVERS "widths=64 rate=0.006 epochs=16"

/* 1,024 units as the paper has them: tied, ones and zeros, no gradient through thresholds. */
#define RECIPE_PAPER_FORM                                                 \
    "widths=1024 tied=1 centre=0 straight-through=0 epochs=8 rate=0.006 " \
    "truncation=geometric:0.99 sweep=1"

/* Section 4.2: late units are drawn seldom, so that a coefficient for all can drown them. */
#define RECIPE_REGULARISED                                                                      \
    "widths=1024 tied=1 rate=0.006 images=5000 epochs=16 batch=125 truncation=geometric:0.995 " \
    "max-validation=50"
#define RECIPE_FIXED_STRENGTHS "l1:1e-8", "l1:1e-7", "l1:2e-7", "l1:3e-7", "l1:1e-6", "l1:1e-5"
#define RECIPE_ADAPTIVE_STRENGTHS \
    "adaptive-l1:0.02", "adaptive-l1:0.05", "adaptive-l1:0.1", "adaptive-l1:0.2"

/* Section 4.4: weights of the term. */
#define RECIPE_INVARIANT   "widths=256 tied=1 rate=0.006 images=16000 epochs=12 truncation=uniform"
#define INVARIANCE_WEIGHTS 0.0, 0.02, 0.05, 0.1, 0.2, 0.5

/* Figure 2. */
#define RECIPE_PINWHEEL                                                                        \
    "widths=16-32 hidden=relu tied=0 batch=200 epochs=60 rate=5e-3 truncation=geometric:0.85 " \
    "max-validation=0"

#endif
