/* images.c -- see images.h. */
#include "bench/retrieval/images.h"
#include "bench/figures/figures.h"
#include "formats/bytes.h"
#include "formats/image.h"
#include "formats/imageset/imageset.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void retrieval_images_take(retrieval_images *images, size_t n, const taper_image *like) {
    const size_t inputs = formats_image_bytes(like);
    *images = (retrieval_images){.n = n,
                                 .inputs = inputs,
                                 .pixels = figures_memory(n, inputs),
                                 .label = figures_memory(n, sizeof *images->label),
                                 .image = figures_memory(n, sizeof *images->image)};
    for (size_t i = 0; i < n; i++) {
        images->image[i] = *like;
        images->image[i].pixels = images->pixels + i * inputs;
    }
}

void retrieval_images_free(retrieval_images *images) {
    free(images->pixels), free(images->label), free(images->image);
    *images = (retrieval_images){.n = 0};
}

/* Files of images, and of their labels where those are apart. */
typedef struct image_files {
    const char *const *path;
    size_t paths;
    const char *labels;
} image_files;

static int is_like(const taper_image *image, const taper_image *like) {
    return image->width == like->width && image->height == like->height &&
           image->channels == like->channels && image->depth == like->depth;
}

/* At most `most` images, all of them like this. */
static void read_set(const image_files *files, size_t most, const taper_image *like,
                     retrieval_images *out) {
    taper_error error = {0};
    formats_imageset *set;
    const formats_imageset_options options = {.labels = files->labels};
    figures_check(
        formats_imageset_open(&set, files->path, files->paths, &options, NULL, NULL, &error),
        files->path[0], &error);
    retrieval_images_take(out, formats_smaller(most, formats_imageset_count(set)), like);
    for (size_t i = 0; i < out->n; i++) {
        taper_image image;
        const char *name = formats_imageset_path(set, i);
        figures_check(formats_imageset_read(set, i, &image, NULL, &error), name, &error);
        if (!is_like(&image, like))
            figures_die("%s: not images of %u x %u pixels in %u channels", name, like->width,
                        like->height, (unsigned)like->channels);
        memcpy(out->pixels + i * out->inputs, image.pixels, out->inputs);
        free(image.pixels);
        out->label[i] = formats_imageset_label(set, i);
    }
    formats_imageset_close(set);
}

static void check_queries(const retrieval_images *queries, size_t n, const char *path) {
    if (queries->n < n)
        figures_die("%s: %zu images are fewer than %zu queries", path, queries->n, n);
}

/* --- CIFAR-10 --------------------------------------------------------------------------- */

static const taper_image cifar = {RETRIEVAL_SIDE, RETRIEVAL_SIDE, 3, 8, NULL};

void retrieval_read_training(const char *data, retrieval_images *out) {
    enum { BATCHES = 5 };
    char *path[BATCHES];
    for (int i = 0; i < BATCHES; i++) path[i] = figures_path(data, "data_batch_%d.bin", i + 1);
    const image_files files = {(const char *const *)path, BATCHES, NULL};
    read_set(&files, SIZE_MAX, &cifar, out);
    for (int i = 0; i < BATCHES; i++) free(path[i]);
}

void retrieval_read_queries(const char *data, size_t n, retrieval_images *out) {
    char *path = figures_path(data, "test_batch.bin");
    const image_files files = {(const char *const *)&path, 1, NULL};
    read_set(&files, n, &cifar, out);
    check_queries(out, n, path);
    free(path);
}

/* --- MNIST ------------------------------------------------------------------------------ */

static const taper_image mnist = {28, 28, 1, 8, NULL};

/* DATA/NAME or DATA/NAME.gz; NULL: neither is there. */
static char *find_file(const char *data, const char *name) {
    char *path = figures_path(data, "%s", name);
    if (access(path, R_OK) == 0) return path;
    free(path);
    path = figures_path(data, "%s.gz", name);
    if (access(path, R_OK) == 0) return path;
    free(path);
    return NULL;
}

/* 0: the file of images is not there. */
static int read_mnist(const char *data, const char *images, const char *labels, size_t most,
                      retrieval_images *out) {
    char *path = find_file(data, images);
    if (!path) return 0;
    char *of_labels = find_file(data, labels);
    if (!of_labels) figures_die("%s: there are images, but no %s", data, labels);
    const image_files files = {(const char *const *)&path, 1, of_labels};
    read_set(&files, most, &mnist, out);
    free(path), free(of_labels);
    return 1;
}

const char *retrieval_read_either(const char *data, size_t n, retrieval_images *training,
                                  retrieval_images *queries) {
    static const char test[] = "t10k-images-idx3-ubyte";
    if (read_mnist(data, "train-images-idx3-ubyte", "train-labels-idx1-ubyte", SIZE_MAX,
                   training)) {
        if (!read_mnist(data, test, "t10k-labels-idx1-ubyte", n, queries))
            figures_die("%s: no %s", data, test);
        check_queries(queries, n, data);
        return "MNIST";
    }
    retrieval_read_training(data, training);
    retrieval_read_queries(data, n, queries);
    return "CIFAR-10";
}
