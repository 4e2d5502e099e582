/* sets.c -- class folders of PNG, IDX and CIFAR binary; see sets.h. */
#include "samples/sets.h"
#include "formats/atomic_file.h"
#include "formats/file.h"
#include "formats/images/gzip.h"
#include "formats/images/png.h"
#include "samples/glyphs.h"
#include "samples/letters.h"
#include "samples/scenes.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LONGEST_PATH = 4096, MOST_CLASSES = SAMPLES_LETTERS };
static const unsigned WRITE_FLAGS = FORMATS_ATOMIC_OVERWRITE | FORMATS_ATOMIC_NO_SYNC;

/* to = folder/name. */
static taper_status join(char to[LONGEST_PATH], const char *folder, const char *name,
                         taper_error *error) {
    int n = snprintf(to, LONGEST_PATH, "%s/%s", folder, name);
    if (n < 0 || n >= LONGEST_PATH)
        return formats_fail(error, TAPER_ERR_ARG, "the path is too long: choose a shorter folder");
    return TAPER_OK;
}

static taper_status make_folder(const char *path, taper_error *error) {
    if (mkdir(path, 0777) == 0 || errno == EEXIST) return TAPER_OK;
    return formats_fail_errno(error, errno, "make the folder");
}

static taper_status make_subfolder(char to[LONGEST_PATH], const char *folder, const char *name,
                                   taper_error *error) {
    TAPER_TRY(join(to, folder, name, error));
    return make_folder(to, error);
}

static taper_status write_in(const char *folder, const char *name, const void *bytes, size_t n,
                             taper_error *error) {
    char path[LONGEST_PATH];
    TAPER_TRY(join(path, folder, name, error));
    return formats_file_write(path, bytes, n, WRITE_FLAGS, NULL, error);
}

static taper_status write_png(const char *folder, const char *name, const taper_image *image,
                              taper_error *error) {
    uint8_t *bytes;
    size_t n;
    TAPER_TRY(formats_png_encode(image, &bytes, &n, error));
    taper_status status = write_in(folder, name, bytes, n, error);
    free(bytes);
    return status;
}

/* --- small images with labels --- */

typedef struct set_kind {
    uint32_t side, channels; /* 1 or 3 */
    int classes;
    const char *(*class_name)(int k);
    int (*class_of)(uint64_t seed, uint64_t index);
    int (*draw)(samples_canvas *canvas, uint64_t seed, uint64_t index);
} set_kind;

static int letter_of(uint64_t seed, uint64_t index) {
    (void)seed;
    return (int)(index % SAMPLES_LETTERS);
}

static const set_kind small = {SAMPLES_SMALL_SIDE,  3,
                               SAMPLES_CLASSES,     samples_class_name,
                               samples_small_class, samples_small_draw};
static const set_kind letters = {SAMPLES_LETTER_SIDE, 1,         SAMPLES_LETTERS,
                                 samples_letter_name, letter_of, samples_letter_draw};

/* The whole set in memory: pixels[count][side][side][channels] and labels[count]. */
typedef struct labelled_set {
    const set_kind *kind;
    uint32_t count;
    uint8_t *pixels, *labels;
} labelled_set;

static size_t bytes_of(const set_kind *k) { return (size_t)k->side * k->side * k->channels; }

static taper_status draw_set(labelled_set *set, uint64_t seed, taper_error *error) {
    const set_kind *k = set->kind;
    samples_canvas canvas;
    if (!samples_canvas_make(&canvas, (int)k->side, (int)k->side))
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to draw in");
    taper_status status = TAPER_OK;
    for (uint32_t i = 0; i < set->count && status == TAPER_OK; i++) {
        uint8_t *to = set->pixels + i * bytes_of(k);
        if (!k->draw(&canvas, seed, i))
            status = formats_fail(error, TAPER_ERR_NOMEM, "no memory to draw in");
        (k->channels == 3 ? samples_canvas_to_rgb8 : samples_canvas_to_grey8)(&canvas, to);
        set->labels[i] = (uint8_t)k->class_of(seed, i);
    }
    samples_canvas_free(&canvas);
    return status;
}

static taper_status write_class_folders(const char *folder, const labelled_set *set,
                                        taper_error *error) {
    const set_kind *k = set->kind;
    char top[LONGEST_PATH], of_class[LONGEST_PATH], name[24];
    uint32_t numbers[MOST_CLASSES] = {0};
    TAPER_TRY(make_subfolder(top, folder, "png", error));
    for (int c = 0; c < k->classes; c++)
        TAPER_TRY(make_subfolder(of_class, top, k->class_name(c), error));
    for (uint32_t i = 0; i < set->count; i++) {
        taper_image image = {.width = k->side,
                             .height = k->side,
                             .channels = k->channels,
                             .depth = 8,
                             .pixels = set->pixels + i * bytes_of(k)};
        TAPER_TRY(join(of_class, top, k->class_name(set->labels[i]), error));
        snprintf(name, sizeof name, "%04u.png", (unsigned)++numbers[set->labels[i]]);
        TAPER_TRY(write_png(of_class, name, &image, error));
    }
    return TAPER_OK;
}

static void put_be32(uint8_t *to, uint32_t value) {
    for (int i = 0; i < 4; i++) to[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* One IDX file of unsigned bytes (type 8) and the same as .gz. */
static taper_status write_idx(const char *folder, const char *name, const uint32_t *dims,
                              unsigned n_dims, const uint8_t *data, taper_error *error) {
    size_t header = 4 + 4 * (size_t)n_dims, size = 1;
    for (unsigned i = 0; i < n_dims; i++) size *= dims[i];
    uint8_t *bytes = malloc(header + size), *packed = NULL;
    size_t packed_size;
    if (!bytes)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %zu bytes", header + size);
    memcpy(bytes, (const uint8_t[]){0, 0, 8, (uint8_t)n_dims}, 4);
    for (unsigned i = 0; i < n_dims; i++) put_be32(bytes + 4 + 4 * i, dims[i]);
    memcpy(bytes + header, data, size);
    char gz[32];
    snprintf(gz, sizeof gz, "%s.gz", name);
    taper_status status = write_in(folder, name, bytes, header + size, error);
    if (status == TAPER_OK)
        status = formats_gzip_pack(bytes, header + size, &packed, &packed_size, error);
    if (status == TAPER_OK) status = write_in(folder, gz, packed, packed_size, error);
    free(bytes);
    free(packed);
    return status;
}

static taper_status write_idx_pair(const char *folder, const labelled_set *set,
                                   taper_error *error) {
    const set_kind *k = set->kind;
    char sub[LONGEST_PATH];
    TAPER_TRY(make_subfolder(sub, folder, "idx", error));
    TAPER_TRY(write_idx(sub, "images.idx",
                        (const uint32_t[]){set->count, k->side, k->side, k->channels},
                        k->channels == 3 ? 4 : 3, set->pixels, error));
    return write_idx(sub, "labels.idx", (const uint32_t[]){set->count}, 1, set->labels, error);
}

/* Images first .. last - 1 as records of a label and the red, green and blue planes. */
static taper_status write_cifar(const char *folder, const char *name, const labelled_set *set,
                                uint32_t first, uint32_t last, taper_error *error) {
    if (first == last) return TAPER_OK;
    const size_t bytes_each = bytes_of(set->kind), planes = bytes_each / 3;
    size_t size = (size_t)(last - first) * (1 + bytes_each);
    uint8_t *bytes = malloc(size), *to = bytes;
    if (!bytes) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %zu bytes", size);
    for (uint32_t i = first; i < last; i++) {
        const uint8_t *from = set->pixels + (size_t)i * bytes_each;
        *to++ = set->labels[i];
        for (size_t channel = 0; channel < 3; channel++)
            for (size_t p = 0; p < planes; p++) *to++ = from[3 * p + channel];
    }
    taper_status status = write_in(folder, name, bytes, size, error);
    free(bytes);
    return status;
}

static taper_status write_cifar_pair(const char *folder, const labelled_set *set,
                                     taper_error *error) {
    char sub[LONGEST_PATH];
    uint32_t split = set->count - set->count / 6;
    TAPER_TRY(make_subfolder(sub, folder, "cifar", error));
    TAPER_TRY(write_cifar(sub, "train.bin", set, 0, split, error));
    return write_cifar(sub, "test.bin", set, split, set->count, error);
}

static taper_status write_labelled(const set_kind *k, const char *folder, unsigned formats,
                                   uint64_t seed, uint32_t count, taper_error *error) {
    TAPER_TRY(make_folder(folder, error));
    labelled_set set = {k, count, malloc(count * bytes_of(k)), malloc(count)};
    taper_status status =
        set.pixels && set.labels
            ? draw_set(&set, seed, error)
            : formats_fail(error, TAPER_ERR_NOMEM, "no memory for %u images", (unsigned)count);
    if (status == TAPER_OK && formats & SAMPLES_PNG)
        status = write_class_folders(folder, &set, error);
    if (status == TAPER_OK && formats & SAMPLES_IDX) status = write_idx_pair(folder, &set, error);
    if (status == TAPER_OK && formats & SAMPLES_CIFAR)
        status = write_cifar_pair(folder, &set, error);
    free(set.pixels);
    free(set.labels);
    return status;
}

taper_status samples_write_small(const char *folder, unsigned formats, uint64_t seed,
                                 uint32_t count, taper_error *error) {
    return write_labelled(&small, folder, formats, seed, count, error);
}

taper_status samples_write_letters(const char *folder, unsigned formats, uint64_t seed,
                                   uint32_t count, taper_error *error) {
    if (formats & SAMPLES_CIFAR)
        return formats_fail(error, TAPER_ERR_ARG,
                            "CIFAR records are of 32 x 32 in colour: letters go to png or idx");
    return write_labelled(&letters, folder, formats, seed, count, error);
}

/* --- the scenes --- */

static taper_status write_scene(const char *folder, uint64_t seed, uint32_t index,
                                taper_error *error) {
    samples_scene scene = samples_scene_of(index);
    samples_canvas canvas;
    size_t pixels = (size_t)scene.width * (size_t)scene.height;
    void *samples = malloc(pixels * 6);
    taper_status status = TAPER_OK;
    if (!samples_canvas_make(&canvas, scene.width, scene.height) || !samples ||
        !samples_scene_draw(&canvas, seed, index)) {
        status = formats_fail(error, TAPER_ERR_NOMEM, "no memory to draw in");
    } else {
        if (scene.grey)
            samples_canvas_to_grey8(&canvas, samples);
        else if (scene.deep)
            samples_canvas_to_rgb16(&canvas, samples);
        else
            samples_canvas_to_rgb8(&canvas, samples);
        taper_image image = {.width = (uint32_t)scene.width,
                             .height = (uint32_t)scene.height,
                             .channels = scene.grey ? 1 : 3,
                             .depth = scene.deep && !scene.grey ? 16 : 8,
                             .pixels = samples};
        char name[48];
        snprintf(name, sizeof name, "%02u-%s.png", (unsigned)index + 1,
                 samples_scene_name(scene.kind));
        status = write_png(folder, name, &image, error);
    }
    free(samples);
    samples_canvas_free(&canvas);
    return status;
}

taper_status samples_write_scenes(const char *folder, uint64_t seed, uint32_t count,
                                  taper_error *error) {
    TAPER_TRY(make_folder(folder, error));
    for (uint32_t i = 0; i < count; i++) TAPER_TRY(write_scene(folder, seed, i, error));
    return TAPER_OK;
}
