/* dataset.h -- training images in memory, and their windows as rows of numbers.
 *
 * The room train/sampling/: what a step looks at, and random numbers.
 *   dataset       training images in memory, and their windows as rows
 *   philox        random numbers by counter; numbers: parsing and dot products
 *   truncation    which part of a code an example keeps, and distributions over code lengths
 *   corruption    corrupted inputs, dropout, normal noise; jitter: examples moved a little
 *   quantile      the threshold that a fraction of some values lies above; thresholds: those of
 * units that see the units before them */
#ifndef TRAIN_DATASET_H
#define TRAIN_DATASET_H
#include "codec/transform/windows.h"
#include "formats/image.h"
#include "formats/imageset.h"

/* Images (windows) in memory, 8 bit, channel-planar, n rows of D. Borrowed. */
typedef struct train_pixels {
    const uint8_t *pixels;
    size_t n;
    uint32_t inputs;       /* D */
    const uint32_t *label; /* [n] class of each, UINT32_MAX: it has none; NULL: none has */
    /* [n] 1: the label is a guess, to learn from, and not to measure by; NULL: none is */
    const uint8_t *guessed;
} train_pixels;

/* Images as 8-bit grey or RGB. One in VALIDATION_PERIOD is held out. */
enum { TRAIN_VALIDATION_PERIOD = 16 };

typedef struct train_dataset {
    taper_image *image; /* [n] */
    uint32_t *label;    /* [n] class, UINT32_MAX where there is none; NULL: no image has one */
    size_t n;
    size_t available;  /* images in the input; above n when they did not fit the memory allowed */
    uint32_t channels; /* 3 if any image has colour, else 1 */
    uint64_t pixels;   /* over all n */
    int one_size;      /* all images have the same width and height */
} train_dataset;

/* Called for every image that cannot be used. */
typedef void train_skip_fn(void *user, const char *path, const taper_error *why);

/* Read the set, or an even sample of it when it needs more than max_bytes. Alpha that is not opaque
 * makes an image unusable, unless `alpha` says what becomes of it. progress (or NULL) is called
 * with images read. TAPER_ERR_ARG: no usable image. TAPER_ERR_IO, TAPER_ERR_NOMEM: while an image
 * was read, which the text names. */
taper_status train_dataset_load(train_dataset *data, const formats_imageset *set,
                                uint64_t max_bytes, formats_alpha alpha, train_skip_fn *skip,
                                void (*progress)(void *user, uint64_t done, uint64_t total),
                                void *user, taper_error *error);
void train_dataset_free(train_dataset *data);

/* The same images, all of this size (scaling.h); to be freed, also after TAPER_ERR_NOMEM. */
taper_status train_dataset_scale(train_dataset *scaled, const train_dataset *data, uint32_t width,
                                 uint32_t height);

/* Is image i held out for validation? With fewer than TRAIN_VALIDATION_PERIOD images none is. */
int train_is_validation(const train_dataset *data, size_t i);

/* A selection of images. */
typedef struct train_selection {
    size_t *image;    /* [n] indices, rising */
    codec_grid *grid; /* [n] */
    size_t n, windows;
    size_t largest; /* windows of the largest, at least 1 */
} train_selection;

typedef enum train_part { TRAIN_PART_TRAINING, TRAIN_PART_VALIDATION, TRAIN_PART_ALL } train_part;

/* Images of a part (the whole set where there is no validation part), evenly thinned to about
 * max_windows windows. */
taper_status train_select(train_selection *selection, const train_dataset *data,
                          codec_window window, train_part part, size_t max_windows);
void train_selection_free(train_selection *selection);

/* Windows of the selection's images first .. first + n - 1 into rows[][values]; returns how many
 * windows. */
size_t train_read_windows(const train_dataset *data, const train_selection *selection,
                          codec_window window, size_t first, size_t n, float *rows);

/* A part's windows as bytes, with their images' labels, if there are any. *memory holds
 * both and is the caller's to free, after a failure (TAPER_ERR_NOMEM) too. */
taper_status train_collect_windows(const train_dataset *data, codec_window window, train_part part,
                                   train_pixels *out, uint8_t **memory);

#endif
