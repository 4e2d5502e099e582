/* loading.c -- reads a set of images for training; see dataset.h. */
#include "formats/bytes.h"
#include "train/sampling/dataset.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of sets of many images a group is this many, otherwise one. It does not depend on the number of
 * ranks, as sums over groups do not either (train/linear/pca.h). */
enum { GROUP = 64, MANY = 16384 };

/* What the ranks tell each other of an image, as one rank knows it and the others have zeros. */
typedef struct told {
    uint32_t width, height, channels, status;
} told;

typedef struct reading {
    const train_loading *how;
    const formats_imageset *set;
    train_dataset *data;
    size_t wanted;
    told *told;       /* [wanted] */
    taper_error *why; /* [failed] of this rank's images that failed */
    size_t failed;
} reading;

/* Converts an image for training: 8 bit, no alpha. */
static taper_status normalise(taper_image *image, formats_alpha alpha, taper_error *error) {
    formats_image_drop_opaque_alpha(image);
    formats_image_apply_alpha(image, alpha);
    if (formats_image_has_alpha(image))
        return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                            "the image has an alpha channel; give --alpha white or --alpha drop");
    formats_image_to_8bit(image);
    return TAPER_OK;
}

/* Estimates the bytes of the set from some images. */
static uint64_t guess_bytes(const formats_imageset *set, size_t count) {
    enum { PROBES = 16 };
    uint64_t sum = 0, seen = 0;
    for (size_t k = 0; k < PROBES; k++) {
        taper_image image;
        if (formats_imageset_read(set, count * k / PROBES, &image, NULL, NULL) != TAPER_OK)
            continue;
        sum += formats_image_bytes(&image);
        seen++;
        formats_image_free(&image);
    }
    return seen ? sum / seen * count : 0;
}

static size_t number_of(const reading *r, size_t k) {
    return (size_t)((double)k * (double)r->data->available / (double)r->wanted);
}

static uint32_t group_of(const reading *r, size_t k) {
    return (uint32_t)(r->wanted < MANY ? k : k / GROUP);
}

static int is_own(const reading *r, size_t k) {
    const train_ranks *ranks = r->how->ranks;
    return !ranks || group_of(r, k) % ranks->size == ranks->rank;
}

/* --- one set for all ranks --------------------------------------------------------------- */

/* Of the images' names without folders, which may differ between machines, and their labels. */
static uint64_t hash_set(const formats_imageset *set) {
    const size_t n = formats_imageset_count(set);
    uint64_t hash = n;
    for (size_t i = 0; i < n; i++) {
        const char *path = formats_imageset_path(set, i), *slash = strrchr(path, '/');
        const char *name = slash ? slash + 1 : path;
        const int32_t label = formats_imageset_label(set, i);
        const uint32_t part[2] = {formats_crc32c(0, name, strlen(name)), (uint32_t)label};
        hash = (hash << 5 | hash >> 59) ^ ((uint64_t)part[0] << 32 | part[1]);
    }
    return hash;
}

/* Checks that all ranks have the same set. *memory: what they may hold together. */
static taper_status compare_sets(const reading *r, uint64_t *memory, taper_error *error) {
    train_ranks *ranks = r->how->ranks;
    *memory = r->how->max_bytes;
    if (!ranks) return TAPER_OK;
    const uint64_t mine[3] = {formats_imageset_count(r->set), hash_set(r->set), *memory};
    uint64_t *all = malloc(ranks->size * sizeof mine);
    if (!all) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %u ranks", ranks->size);
    taper_status status = train_gather(ranks, mine, all, sizeof mine, error);
    *memory = 0;
    for (uint32_t i = 0; i < ranks->size && status == TAPER_OK; i++) {
        const uint64_t *of = all + 3 * i;
        *memory = of[2] > UINT64_MAX - *memory ? UINT64_MAX : *memory + of[2];
        if (of[0] != all[0] || of[1] != all[1])
            status = formats_fail(error, TAPER_ERR_ARG,
                                  "process %u found %llu images, and process 0 %llu%s; give all "
                                  "processes the same inputs",
                                  i, (unsigned long long)of[0], (unsigned long long)all[0],
                                  of[0] == all[0] ? " of other names or labels" : "");
    }
    free(all);
    return status;
}

/* --- one image ----------------------------------------------------------------------------- */

/* Remembers why image k failed, for the other ranks. */
static taper_status note_failure(reading *r, size_t k, const taper_error *why) {
    if (!r->how->ranks) return TAPER_OK;
    void *more = realloc(r->why, (r->failed + 1) * sizeof *r->why);
    if (!more) return TAPER_ERR_NOMEM;
    r->why = more;
    r->why[r->failed++] = *why;
    r->told[k].status = (uint32_t)why->status;
    return TAPER_OK;
}

static void skip_image(const reading *r, size_t k, const taper_error *why) {
    r->told[k].status = (uint32_t)why->status;
    if (r->how->skip)
        r->how->skip(r->how->user, formats_imageset_path(r->set, number_of(r, k)), why);
}

static taper_status read_image(reading *r, size_t k, taper_error *error) {
    const size_t i = number_of(r, k);
    taper_error why = {0};
    taper_image *image = &r->data->image[k];
    taper_status status = formats_imageset_read(r->set, i, image, NULL, &why);
    if (status == TAPER_OK && (status = normalise(image, r->how->alpha, &why)) != TAPER_OK)
        formats_image_free(image);
    if (formats_is_system_error(status))
        return formats_fail_as(error, status, &why, "'%.100s': %.140s",
                               formats_imageset_path(r->set, i), why.text);
    if (status != TAPER_OK) {
        *image = (taper_image){0};
        why.status = status;
        if (!r->how->ranks) skip_image(r, k, &why);
        return note_failure(r, k, &why);
    }
    r->told[k] = (told){image->width, image->height, image->channels, 0};
    return TAPER_OK;
}

static taper_status read_own(reading *r, taper_error *error) {
    for (size_t k = 0; k < r->wanted; k++) {
        if (!is_own(r, k)) continue;
        TAPER_TRY(read_image(r, k, error));
        if (r->how->progress) r->how->progress(r->how->user, k + 1, r->wanted);
    }
    return TAPER_OK;
}

/* --- what all ranks know -------------------------------------------------------------------- */

/* Every rank hears of every failure, in the order of the images. */
static taper_status tell_failures(reading *r, taper_error *error) {
    train_ranks *ranks = r->how->ranks;
    size_t own = 0;
    for (size_t k = 0; ranks && k < r->wanted; k++) {
        taper_error why = {0};
        if (!r->told[k].status) continue;
        if (is_own(r, k)) why = r->why[own++];
        TAPER_TRY(train_broadcast(ranks, &why, sizeof why, group_of(r, k) % ranks->size, error));
        skip_image(r, k, &why);
    }
    return TAPER_OK;
}

/* Takes the images that failed out of the dataset, and sums up the others. */
static void list_images(reading *r) {
    train_dataset *d = r->data;
    for (size_t k = 0; k < r->wanted; k++) {
        const told *t = &r->told[k];
        if (t->status) continue;
        taper_image image = d->image[k];
        if (!is_own(r, k))
            image = (taper_image){.width = t->width,
                                  .height = t->height,
                                  .channels = (uint8_t)t->channels,
                                  .depth = 8};
        if (t->channels == 3) d->channels = 3;
        if (d->n && (image.width != d->image[0].width || image.height != d->image[0].height))
            d->one_size = 0;
        d->pixels += (uint64_t)image.width * image.height;
        const int32_t label = formats_imageset_label(r->set, number_of(r, k));
        if (d->label) d->label[d->n] = label < 0 ? UINT32_MAX : (uint32_t)label;
        d->group[d->n] = group_of(r, k);
        d->number[d->n] = number_of(r, k);
        d->image[d->n++] = image;
    }
    for (size_t k = d->n; k < r->wanted; k++) d->image[k] = (taper_image){0};
}

static taper_status take_memory(reading *r, taper_error *error) {
    train_dataset *d = r->data;
    const int labelled = formats_imageset_class_count(r->set) > 0;
    d->image = calloc(r->wanted + 1, sizeof *d->image);
    d->group = calloc(r->wanted + 1, sizeof *d->group);
    d->number = calloc(r->wanted + 1, sizeof *d->number);
    d->label = labelled ? calloc(r->wanted + 1, sizeof *d->label) : NULL;
    r->told = calloc(r->wanted + 1, sizeof *r->told);
    if (d->image && d->group && d->number && r->told && (!labelled || d->label)) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %zu images", r->wanted);
}

static taper_status read_set(reading *r, uint64_t memory, taper_error *error) {
    train_dataset *d = r->data;
    const size_t count = d->available;
    const uint64_t bytes = guess_bytes(r->set, count);
    r->wanted =
        bytes > memory ? (size_t)((double)count * (double)memory / (double)bytes) + 1 : count;
    TAPER_TRY(take_memory(r, error));
    taper_status status = read_own(r, error);
    if (status == TAPER_OK)
        status =
            train_sum_bytes(r->how->ranks, (uint8_t *)r->told, r->wanted * sizeof *r->told, error);
    if (status == TAPER_OK) status = tell_failures(r, error);
    if (status == TAPER_OK) list_images(r);
    if (status != TAPER_OK || d->n) return status;
    return formats_fail(error, TAPER_ERR_ARG, "there is no usable image to learn from");
}

/* After a failure images may lie anywhere in the array. */
static void drop(reading *r) {
    if (r->data->image) r->data->n = r->wanted;
    train_dataset_free(r->data);
}

taper_status train_dataset_load(train_dataset *data, const formats_imageset *set,
                                const train_loading *loading, taper_error *error) {
    reading r = {.how = loading, .set = set, .data = data};
    uint64_t memory;
    *data = (train_dataset){.available = formats_imageset_count(set),
                            .channels = 1,
                            .one_size = 1,
                            .ranks = loading->ranks};
    taper_status status = compare_sets(&r, &memory, error);
    if (status == TAPER_OK) status = read_set(&r, memory, error);
    if (status != TAPER_OK) drop(&r);
    free(r.told), free(r.why);
    return status;
}
