/* dataset.h -- training images in memory, and their windows as rows of numbers.
 *
 * With several ranks (train/parallel/ranks.h) each has the sizes and labels of all images, but the
 * pixels of its own images only. So all ranks select and shuffle alike, and a step has the same
 * rows whatever the number of ranks; each rank computes those of its own images.
 *
 * Directory train/sampling/: the data of a step, and random numbers.
 *   dataset       training images in memory, and their windows as rows; loading: reads them
 *   own_rows      the rows of batches that this rank has
 *   gradient_rows rows of gradient orientations, made of rows of pixels
 *   philox        counter-based random numbers; numbers: parsing and dot products
 *   truncation    the part of a code that an example keeps, and distributions of code lengths
 *   corruption    corrupted inputs, dropout, normal noise; jitter: small motions of examples
 *   quantile      the threshold that a given fraction of values exceeds; thresholds: those of
 *                 units with feedback from earlier units */
#ifndef TRAIN_DATASET_H
#define TRAIN_DATASET_H
#include "codec/transform/windows.h"
#include "formats/image.h"
#include "formats/imageset/imageset.h"
#include "train/parallel/ranks.h"

/* Images or windows in memory, 8 bit, channel-planar, n rows of D values. Borrowed. */
typedef struct train_pixels {
    const uint8_t *pixels;
    size_t n;
    uint32_t inputs; /* D */
    /* Ranks that share the rows; NULL: all rows are here. Otherwise n counts those of all ranks,
     * and row i is at pixels + place[i] * D, if place[i] is not TRAIN_ABSENT. */
    train_ranks *ranks;
    const uint32_t *place;
    /* [n] class of each row, UINT32_MAX: none; NULL: no row has a label */
    const uint32_t *label;
    /* [n] 1: the label is a guess, for training but not for evaluation; NULL: none is. */
    const uint8_t *guessed;
} train_pixels;

/* One image in TRAIN_VALIDATION_PERIOD is held out for validation. */
enum { TRAIN_VALIDATION_PERIOD = 16 };

enum { TRAIN_ABSENT = 0x7FFFFFFF }; /* a row that another rank has */

/* Images as 8-bit grey or RGB. */
typedef struct train_dataset {
    taper_image *image; /* [n]; pixels NULL: another rank has them */
    train_ranks *ranks; /* borrowed; NULL: all images are here */
    /* [n], rising. Images of one group are read by one rank: the remainder of its number by the
     * number of ranks. NULL: all images are one group. */
    uint32_t *group;
    /* [n] class, UINT32_MAX: none; NULL: no image has a label */
    uint32_t *label;
    size_t *number; /* [n] of each image in the set that it was read from; NULL: not known */
    size_t n;
    /* Images in the input; above n if they exceeded the allowed memory. */
    size_t available;
    uint32_t channels; /* 3 if any image has colour, else 1 */
    uint64_t pixels;   /* of all images */
    /* 1: all images have the same width and height */
    int one_size;
} train_dataset;

/* Called for every image that cannot be used. */
typedef void train_skip_fn(void *user, const char *path, const taper_error *why);

/* How to read a set. */
typedef struct train_loading {
    /* NULL: one; otherwise each reads a part */
    train_ranks *ranks;
    uint64_t max_bytes; /* of the images that this rank holds */
    /* Images with transparency are skipped, unless this specifies how to convert them. */
    formats_alpha alpha;
    train_skip_fn *skip;                                         /* NULL: none */
    void (*progress)(void *user, uint64_t done, uint64_t total); /* images read; NULL: none */
    void *user;
} train_loading;

/* Reads the set, or an evenly spaced sample of it if it needs more than the allowed memory.
 * TAPER_ERR_ARG: no usable image, or the ranks do not have the same set. TAPER_ERR_IO,
 * TAPER_ERR_NOMEM: the message names the image. */
taper_status train_dataset_load(train_dataset *data, const formats_imageset *set,
                                const train_loading *loading, taper_error *error);
void train_dataset_free(train_dataset *data);

/* The same images, labels and groups, without pixels. Free it, after TAPER_ERR_NOMEM too. */
taper_status train_dataset_copy(train_dataset *copy, const train_dataset *data);

/* The same images, scaled to this size (taper_image_scale). Free it, after TAPER_ERR_NOMEM too. */
taper_status train_dataset_scale(train_dataset *scaled, const train_dataset *data, uint32_t width,
                                 uint32_t height);

/* Returns 1 if the pixels of image i are here. */
int train_is_here(const train_dataset *data, size_t i);
/* The rank that has the pixels of image i. */
uint32_t train_owner(const train_dataset *data, size_t i);

/* Returns 1 if image i is held out for validation. With fewer than TRAIN_VALIDATION_PERIOD images
 * none is. */
int train_is_validation(const train_dataset *data, size_t i);

/* A selection of images. */
typedef struct train_selection {
    size_t *image;    /* [n] indices, rising */
    codec_grid *grid; /* [n] */
    size_t n, windows;
    /* Windows of the largest image, at least 1. */
    size_t largest;
} train_selection;

typedef enum train_part { TRAIN_PART_TRAINING, TRAIN_PART_VALIDATION, TRAIN_PART_ALL } train_part;

/* Selects images of a part (of the whole set if there is no validation part), evenly subsampled to
 * about max_windows windows. */
taper_status train_select(train_selection *selection, const train_dataset *data,
                          codec_window window, train_part part, size_t max_windows);
void train_selection_free(train_selection *selection);

/* What a batch is drawn from, by random numbers that depend on seed and step. */
typedef struct train_draw {
    const train_dataset *data;
    const train_selection *images;
    uint64_t seed, step;
} train_draw;

/* The number of the selection's images from `first` on that are here, follow each other, and are at
 * most `most`. *windows: of all of them. */
size_t train_run_here(const train_dataset *data, const train_selection *selection, size_t first,
                      size_t most, size_t *windows);

/* Reads the windows of the selection's images first .. first + n - 1, which are here, into
 * rows[][values]. Returns the number of windows. */
size_t train_read_windows(const train_dataset *data, const train_selection *selection,
                          codec_window window, size_t first, size_t n, float *rows);

/* The windows of a part as bytes, with their images' labels, if there are any. With several ranks
 * only those of images that are here are kept; `place` says which. *memory holds all of it; the
 * caller frees it, after a failure (TAPER_ERR_NOMEM) too. */
taper_status train_collect_windows(const train_dataset *data, codec_window window, train_part part,
                                   train_pixels *out, uint8_t **memory);

#endif
