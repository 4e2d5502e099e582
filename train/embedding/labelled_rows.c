/* labelled_rows.c -- see labelled_rows.h. */
#include "train/embedding/labelled_rows.h"
#include <math.h>
#include <stdlib.h>

train_labelled_rows train_labelled_pixels(const train_pixels *pixels) {
    return (train_labelled_rows){.bytes = pixels->pixels,
                                 .n = pixels->n,
                                 .inputs = pixels->inputs,
                                 .label = pixels->label,
                                 .ranks = pixels->ranks,
                                 .place = pixels->place};
}

int train_labelled_is_here(const train_labelled_rows *rows, size_t i) {
    return !rows->place || rows->place[i] != TRAIN_ABSENT;
}

double train_labelled_unit(const train_labelled_rows *rows) {
    return rows->numbers ? 1.0 : 1.0 / 255.0;
}

taper_status train_labelled_mean(const train_labelled_rows *rows, float *mean) {
    const size_t inputs = rows->inputs;
    double *sum = calloc(inputs, sizeof *sum);
    if (!sum) return TAPER_ERR_NOMEM;
    for (size_t k = 0; k < rows->n * inputs; k++)
        sum[k % inputs] += rows->numbers ? (double)rows->numbers[k] : rows->bytes[k];
    for (size_t i = 0; i < inputs; i++) mean[i] = (float)(sum[i] / (double)rows->n);
    free(sum);
    return TAPER_OK;
}

void train_labelled_read(const train_labelled_rows *rows, const size_t *order, size_t first,
                         size_t count, const float *less, float *to) {
    const size_t inputs = rows->inputs;
    for (size_t r = 0; r < count; r++, to += inputs) {
        const size_t row = order ? order[r] : first + r,
                     from = (rows->place ? rows->place[row] : row) * inputs;
        for (size_t i = 0; i < inputs; i++)
            to[i] = rows->numbers ? rows->numbers[from + i] : rows->bytes[from + i];
        for (size_t i = 0; less && i < inputs; i++) to[i] -= less[i];
    }
}

taper_status train_labelled_check(const train_labelled_rows *rows, taper_error *error) {
    if (rows->n < 2 || !rows->inputs)
        return formats_fail(error, TAPER_ERR_ARG,
                            "a map needs at least two rows to learn from; give more images");
    for (size_t k = 0; rows->numbers && k < rows->n * rows->inputs; k++)
        if (!isfinite(rows->numbers[k]))
            return formats_fail(error, TAPER_ERR_ARG, "row %zu has a number that is not finite",
                                k / rows->inputs);
    return TAPER_OK;
}

/* Finds the labelled rows, the number of distinct labels, and the greatest label. */
static taper_status count_classes(const train_labelled_rows *rows, train_labelled_found *found,
                                  taper_error *error) {
    unsigned char *seen = calloc(TRAIN_MOST_CLASSES, 1);
    taper_status status = seen ? TAPER_OK : TAPER_ERR_NOMEM;
    for (size_t i = 0; i < rows->n && status == TAPER_OK; i++) {
        const uint32_t label = rows->label[i];
        if (label == UINT32_MAX) continue;
        if (label >= TRAIN_MOST_CLASSES) {
            status = formats_fail(error, TAPER_ERR_ARG,
                                  "row %zu has the label %u; labels go to %d: number them from 0",
                                  i, label, TRAIN_MOST_CLASSES - 1);
            break;
        }
        found->order[found->n++] = i;
        found->distinct += !seen[label];
        seen[label] = 1;
        if (label >= found->classes) found->classes = label + 1;
    }
    free(seen);
    return status;
}

taper_status train_labelled_find(const train_labelled_rows *rows, train_labelled_found *found,
                                 taper_error *error) {
    TAPER_TRY(train_labelled_check(rows, error));
    if (!rows->label)
        return formats_fail(error, TAPER_ERR_ARG,
                            "this needs labels, and no row has one; give labelled images");
    found->order = malloc(rows->n * sizeof *found->order);
    if (!found->order) return TAPER_ERR_NOMEM;
    TAPER_TRY(count_classes(rows, found, error));
    if (found->distinct >= 2) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_ARG, "%s; give images of two labels at least",
                        found->distinct ? "all labelled rows have the same label"
                                        : "no row has a label");
}

void train_labelled_found_free(train_labelled_found *found) {
    free(found->order);
    *found = (train_labelled_found){0};
}
