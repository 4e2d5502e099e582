/* images.h -- labelled images from files: those of CIFAR-10, which most parts are about, and of
 * MNIST, where a part takes either. */
#ifndef BENCH_RETRIEVAL_IMAGES_H
#define BENCH_RETRIEVAL_IMAGES_H
#include "formats/taper_types.h"
#include <stddef.h>
#include <stdint.h>

enum {
    RETRIEVAL_SIDE = 32,                                   /* of CIFAR-10 */
    RETRIEVAL_PIXELS = 3 * RETRIEVAL_SIDE * RETRIEVAL_SIDE /* bytes of an image of it */
};

typedef struct retrieval_images {
    size_t n, inputs;   /* inputs: bytes of an image */
    uint8_t *pixels;    /* [n][inputs], as of taper_image: RGB RGB */
    int32_t *label;     /* [n] */
    taper_image *image; /* [n], of these pixels */
} retrieval_images;

/* Room for n images of the size and kind of `like`. */
void retrieval_images_take(retrieval_images *images, size_t n, const taper_image *like);
void retrieval_images_free(retrieval_images *images);

/* The training images of CIFAR-10 in `data`, those that references are made of. */
void retrieval_read_training(const char *data, retrieval_images *out);
/* The first n test images of it, the queries. */
void retrieval_read_queries(const char *data, size_t n, retrieval_images *out);
/* Both, of MNIST where `data` has train-images-idx3-ubyte or that with .gz, else of CIFAR-10. The
 * name of the set. */
const char *retrieval_read_either(const char *data, size_t n, retrieval_images *training,
                                  retrieval_images *queries);

#endif
