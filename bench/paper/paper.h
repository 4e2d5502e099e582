/* paper.h -- what the parts of nested_dropout share: images, networks by name.
 *
 * The program makes the figures of Rippel, Gelbart & Adams (2014). A PART is one figure or
 * experiment; it prints JSON lines (bench.h), writes pictures, and leaves its section of the page
 * in the work folder. Everything here ends the program with a message when it fails: a benchmark
 * has nobody to return to (bench/figures/). */
#ifndef BENCH_PAPER_PAPER_H
#define BENCH_PAPER_PAPER_H
#include "bench/figures/sections.h"
#include "formats/imageset/imageset.h"
#include "train/nested/nested_errors.h"
#include "train/nested/nested_trainer.h"

/* Images as rows of bytes, channel-planar. pixels is owned. */
typedef struct paper_images {
    uint8_t *pixels;
    size_t n;
    uint32_t inputs, side, channels;
} paper_images;

typedef struct paper {
    const char *data; /* folder of the images, from TAPER_DATA; never NULL */
    figures figures;
    const char *extra;         /* settings put after those of every network on images; "" usually */
    const char *kinds, *seeds; /* which networks (kinds.h): "untied tied", "1 2 3" */
    const char *dedicated;     /* kinds that get a network of their own for each length */
    int quick;
    unsigned threads;
    codec_backend be;
    train_device device;                   /* of be */
    int generated;                         /* images are drawn samples, not CIFAR-10 */
    paper_images training, held_out, test; /* loaded on first need; choices are made on held_out */
    float *mean;                           /* of training */
    float scale;
} paper;

/* --- images (data.c) ------------------------------------------------------------------- */

/* Read what the data folder holds, once: CIFAR-10 as published (data_batch_1..5.bin,
 * test_batch.bin), or the generated samples (train.bin, test.bin). One training image in 25 is held
 * out. */
void paper_load(paper *p);
/* The same images once more as a set, for what takes one; all of them, to be closed by the caller.
 */
formats_imageset *paper_open(const paper *p, int test);
train_pixels paper_rows(const paper_images *images, size_t most); /* the first `most` */

/* --- networks (networks.c) ------------------------------------------------------------- */

/* Settings are words KEY=VALUE; a later one wins. Keys and defaults: see the table in networks.c.
 */
typedef struct paper_network {
    char name[64], settings[640];
    train_nested_network net;
    train_nested_options options;
    train_truncation truncation; /* units 0: none */
    char truncation_name[160];
    size_t images;   /* it was trained on so many */
    uint32_t epochs; /* of the log */
    struct paper_epoch {
        train_nested_epoch entry;
        double step_seconds; /* median over the epoch's steps; 0: not known */
    } * log;
} paper_network;

/* Train a network, or go on with it, or read it when it is finished: the state is in
 * WORK/NAME-HASH.check and its log in WORK/NAME-HASH.log, where HASH is of the settings, the number
 * of images and whether they are generated. data NULL: the training images. */
void paper_train(paper *p, const char *name, const char *settings, const train_pixels *data,
                 paper_network *out);
/* The same, beginning with the weights of `start`, a network of the same shape, instead of random
 * ones; settings should say "from=NAME", which changes nothing but the name's hash. */
void paper_train_from(paper *p, const char *name, const char *settings, const train_pixels *data,
                      const paper_network *start, paper_network *out);
void paper_network_free(paper_network *network);
/* Codes x[rows->n][K]. */
void paper_codes(paper_network *network, const train_pixels *rows, float *x);
/* n numbers of the network, from its device to new memory. */
float *paper_fetch(paper_network *network, const float *from, size_t n);

/* --- errors against length (lengths.c) ------------------------------------------------- */

enum { PAPER_MAX_LENGTHS = 512 };
typedef struct paper_curve {
    size_t n;
    uint32_t length[PAPER_MAX_LENGTHS];
    double mse[PAPER_MAX_LENGTHS]; /* 8-bit^2, mean over images and components */
} paper_curve;

/* About 28 lengths from 1 to units, the among them; dense: about 210. */
void paper_lengths(paper_curve *curve, uint32_t units, int dense);
/* Errors of a network on images at the curve's lengths. */
void paper_measure(paper *p, paper_network *network, const paper_images *images,
                   paper_curve *curve);
void paper_errors(paper_network *network, const train_pixels *rows, paper_curve *curve);
double paper_at(const paper_curve *curve, double bits); /* linear between lengths */

/* --- the page (page.c) ----------------------------------------------------------------- */

/* Begin the section of a part: heading, then what the paper shows, in our words. */
FILE *paper_section(const paper *p, const char *part, const char *heading, const char *paper_says);

#endif
