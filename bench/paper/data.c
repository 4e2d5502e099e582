/* data.c -- the images of the figures: CIFAR-10, or generated ones that take its place. */
#include "bench/paper/paper.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HELD_OUT_PERIOD = 25, QUICK_TEST = 2000 };

static int have(const char *folder, const char *name) {
    char *path = figures_path(folder, "%s", name);
    int found = access(path, R_OK) == 0;
    free(path);
    return found;
}

/* Interleaved pixels to planes. */
static void to_planes(const taper_image *image, uint8_t *row) {
    const uint8_t *from = image->pixels;
    size_t places = (size_t)image->width * image->height;
    for (size_t i = 0; i < places; i++)
        for (size_t c = 0; c < image->channels; c++)
            row[c * places + i] = from[i * image->channels + c];
}

static formats_imageset *open_files(const char *folder, const char *const *names, size_t n_names) {
    char *path[8] = {NULL};
    taper_error error = {0};
    formats_imageset *set;
    for (size_t i = 0; i < n_names; i++) path[i] = figures_path(folder, "%s", names[i]);
    figures_check(formats_imageset_open(&set, (const char *const *)path, n_names,
                                        &(formats_imageset_options){0}, NULL, NULL, &error),
                  folder, &error);
    for (size_t i = 0; i < n_names; i++) free(path[i]);
    return set;
}

formats_imageset *paper_open(const paper *p, int test) {
    static const char *const cifar[] = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                        "data_batch_4.bin", "data_batch_5.bin"};
    static const char *const cifar_test[] = {"test_batch.bin"}, *const drawn[] = {"train.bin"},
                             *const drawn_test[] = {"test.bin"};
    if (p->generated) return open_files(p->data, test ? drawn_test : drawn, 1);
    return test ? open_files(p->data, cifar_test, 1) : open_files(p->data, cifar, 5);
}

static paper_images read_images(const paper *p, int test) {
    formats_imageset *set = paper_open(p, test);
    paper_images images = {.n = formats_imageset_count(set)};
    for (size_t i = 0; i < images.n; i++) {
        taper_image image;
        taper_error error = {0};
        figures_check(formats_imageset_read(set, i, &image, NULL, &error),
                      formats_imageset_path(set, i), &error);
        if (!i) {
            images.side = image.width, images.channels = image.channels;
            images.inputs = image.width * image.height * image.channels;
            images.pixels = figures_memory(images.n, images.inputs);
        }
        if (image.width * image.height * image.channels != images.inputs || image.depth != 8)
            figures_die("%s: images of more than one size", formats_imageset_path(set, i));
        to_planes(&image, images.pixels + i * images.inputs);
        free(image.pixels);
    }
    formats_imageset_close(set);
    return images;
}

/* Move every HELD_OUT_PERIOD-th training image to held_out. */
static void hold_out(paper *p) {
    paper_images *t = &p->training, *h = &p->held_out;
    *h = *t;
    h->n = t->n / HELD_OUT_PERIOD;
    h->pixels = figures_memory(h->n, h->inputs);
    size_t kept = 0, held = 0, row = t->inputs;
    for (size_t i = 0; i < t->n; i++) {
        const uint8_t *from = t->pixels + i * row;
        if (i % HELD_OUT_PERIOD == 0 && held < h->n)
            memcpy(h->pixels + held++ * row, from, row);
        else
            memmove(t->pixels + kept++ * row, from, row);
    }
    t->n = kept;
}

train_pixels paper_rows(const paper_images *images, size_t most) {
    return (train_pixels){.pixels = images->pixels,
                          .n = images->n < most ? images->n : most,
                          .inputs = images->inputs};
}

void paper_load(paper *p) {
    if (p->training.n) return;
    p->generated = !have(p->data, "test_batch.bin");
    if (p->generated && !have(p->data, "test.bin"))
        figures_die("neither test_batch.bin nor test.bin in TAPER_DATA (%s)", p->data);
    p->figures.set = p->generated ? "generated samples" : "CIFAR-10";
    p->training = read_images(p, 0);
    p->test = read_images(p, 1);
    if (p->training.inputs != p->test.inputs)
        figures_die("training and test images differ in size");
    hold_out(p);
    if (p->quick && p->test.n > QUICK_TEST) p->test.n = QUICK_TEST;
    p->mean = figures_memory(p->training.inputs, sizeof *p->mean);
    train_pixels rows = paper_rows(&p->training, SIZE_MAX);
    train_nested_statistics(&rows, p->mean, &p->scale);
    figures_say("%zu images to learn from, %zu to choose by, %zu to report on%s", p->training.n,
                p->held_out.n, p->test.n, p->generated ? " (generated samples, not CIFAR-10)" : "");
}
