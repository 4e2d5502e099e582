/* dataset.c -- see dataset.h. */
#include "train/sampling/dataset.h"
#include "codec/taper_quality.h"
#include "formats/bytes.h"
#include <stdlib.h>
#include <string.h>

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

taper_status train_dataset_load(train_dataset *data, const formats_imageset *set,
                                uint64_t max_bytes, formats_alpha alpha, train_skip_fn *skip,
                                void (*progress)(void *, uint64_t, uint64_t), void *user,
                                taper_error *error) {
    size_t count = formats_imageset_count(set);
    uint64_t bytes = guess_bytes(set, count);
    size_t wanted =
        bytes > max_bytes ? (size_t)((double)count * (double)max_bytes / (double)bytes) + 1 : count;
    *data = (train_dataset){.available = count, .channels = 1, .one_size = 1};
    int labelled = formats_imageset_class_count(set) > 0;
    data->image = calloc(wanted + 1, sizeof *data->image);
    data->label = labelled ? calloc(wanted + 1, sizeof *data->label) : NULL;
    if (!data->image || (labelled && !data->label)) {
        train_dataset_free(data);
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %zu images", wanted);
    }
    for (size_t k = 0; k < wanted; k++) {
        size_t i = (size_t)((double)k * (double)count / (double)wanted);
        taper_error why = {0};
        taper_image image;
        taper_status status = formats_imageset_read(set, i, &image, NULL, &why);
        if (status == TAPER_OK && (status = normalise(&image, alpha, &why)) != TAPER_OK)
            formats_image_free(&image);
        if (progress) progress(user, k + 1, wanted);
        if (formats_is_system_error(status)) {
            train_dataset_free(data);
            return formats_fail_as(error, status, &why, "'%.100s': %.140s",
                                   formats_imageset_path(set, i), why.text);
        }
        if (status != TAPER_OK) {
            if (skip) skip(user, formats_imageset_path(set, i), &why);
            continue;
        }
        if (image.channels == 3) data->channels = 3;
        if (data->n &&
            (image.width != data->image[0].width || image.height != data->image[0].height))
            data->one_size = 0;
        data->pixels += (uint64_t)image.width * image.height;
        int32_t label = formats_imageset_label(set, i);
        if (labelled) data->label[data->n] = label < 0 ? UINT32_MAX : (uint32_t)label;
        data->image[data->n++] = image;
    }
    if (data->n) return TAPER_OK;
    train_dataset_free(data);
    return formats_fail(error, TAPER_ERR_ARG, "there is no usable image to learn from");
}

void train_dataset_free(train_dataset *data) {
    for (size_t i = 0; i < data->n; i++) formats_image_free(&data->image[i]);
    free(data->image), free(data->label);
    memset(data, 0, sizeof *data);
}

taper_status train_dataset_scale(train_dataset *scaled, const train_dataset *data, uint32_t width,
                                 uint32_t height) {
    *scaled = *data;
    scaled->one_size = 1;
    scaled->pixels = (uint64_t)width * height * data->n;
    scaled->image = calloc(data->n, sizeof *scaled->image);
    scaled->label = data->label ? malloc(data->n * sizeof *scaled->label) : NULL;
    if (!scaled->image || (data->label && !scaled->label)) {
        scaled->n = 0;
        return TAPER_ERR_NOMEM;
    }
    if (data->label) memcpy(scaled->label, data->label, data->n * sizeof *scaled->label);
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < data->n && status == TAPER_OK; i++)
        status = taper_image_scale(&data->image[i], width, height, &scaled->image[i], NULL);
    return status;
}

int train_is_validation(const train_dataset *data, size_t i) {
    return data->n >= TRAIN_VALIDATION_PERIOD &&
           i % TRAIN_VALIDATION_PERIOD == TRAIN_VALIDATION_PERIOD / 2;
}

static int is_in_part(const train_dataset *data, size_t i, train_part part) {
    if (part == TRAIN_PART_ALL || data->n < TRAIN_VALIDATION_PERIOD) return 1;
    return train_is_validation(data, i) == (part == TRAIN_PART_VALIDATION);
}

taper_status train_select(train_selection *s, const train_dataset *data, codec_window window,
                          train_part part, size_t max_windows) {
    *s = (train_selection){.largest = 1,
                           .image = malloc((data->n + 1) * sizeof *s->image),
                           .grid = malloc((data->n + 1) * sizeof *s->grid)};
    if (!s->image || !s->grid) return train_selection_free(s), TAPER_ERR_NOMEM;
    size_t total = 0, passed = 0;
    for (size_t i = 0; i < data->n; i++) {
        codec_grid g = codec_windows_grid(window, data->image[i].width, data->image[i].height);
        if (is_in_part(data, i, part)) total += (size_t)g.columns * g.rows;
    }
    double fraction = total > max_windows ? (double)max_windows / (double)total : 1;
    for (size_t i = 0; i < data->n; i++) {
        if (!is_in_part(data, i, part)) continue;
        codec_grid g = codec_windows_grid(window, data->image[i].width, data->image[i].height);
        passed += (size_t)g.columns * g.rows;
        if (s->n && (double)s->windows > fraction * (double)passed - 0.5) continue;
        s->image[s->n] = i;
        s->grid[s->n++] = g;
        s->windows += (size_t)g.columns * g.rows;
        s->largest = formats_larger(s->largest, (size_t)g.columns * g.rows);
    }
    return TAPER_OK;
}

void train_selection_free(train_selection *s) {
    free(s->image), free(s->grid);
    memset(s, 0, sizeof *s);
}

size_t train_read_windows(const train_dataset *data, const train_selection *s, codec_window window,
                          size_t first, size_t n, float *rows) {
    size_t values = codec_window_values(window), count = 0;
    for (size_t i = first; i < first + n && i < s->n; i++) {
        codec_windows_read(window, &data->image[s->image[i]], rows + count * values);
        count += (size_t)s->grid[i].columns * s->grid[i].rows;
    }
    return count;
}

/* Labels of the windows of the selection's images first .. first + n - 1. */
static void label_windows(const train_dataset *data, const train_selection *s, size_t first,
                          size_t n, uint32_t *to) {
    for (size_t i = first; i < first + n && i < s->n; i++)
        for (size_t left = (size_t)s->grid[i].columns * s->grid[i].rows; left; left--)
            *to++ = data->label[s->image[i]];
}

taper_status train_collect_windows(const train_dataset *data, codec_window window, train_part part,
                                   train_pixels *out, uint8_t **memory) {
    enum { MAX_WINDOWS = 1 << 20, BLOCK = 64 };
    train_selection s;
    size_t inputs = codec_window_values(window), done = 0;
    TAPER_TRY(train_select(&s, data, window, part, MAX_WINDOWS));
    float *rows = malloc(s.largest * BLOCK * inputs * sizeof *rows);
    size_t bytes = (s.windows * inputs + sizeof(uint32_t)) / sizeof(uint32_t) * sizeof(uint32_t);
    *memory = malloc(bytes + (data->label ? s.windows * sizeof(uint32_t) : 0));
    uint32_t *label = *memory && data->label ? (uint32_t *)(void *)(*memory + bytes) : NULL;
    taper_status status = rows && *memory ? TAPER_OK : TAPER_ERR_NOMEM;
    for (size_t i = 0; i < s.n && status == TAPER_OK; i += BLOCK) {
        size_t n = train_read_windows(data, &s, window, i, BLOCK, rows);
        for (size_t k = 0; k < n * inputs; k++)
            (*memory)[done * inputs + k] = (uint8_t)(rows[k] + 0.5f);
        if (label) label_windows(data, &s, i, BLOCK, label + done);
        done += n;
    }
    free(rows);
    train_selection_free(&s);
    *out = (train_pixels){.pixels = *memory, .n = done, .inputs = (uint32_t)inputs, .label = label};
    return status;
}
