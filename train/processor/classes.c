/* classes.c -- losses of classes; see train/device/operations.h. */
#include "train/device/elements_losses.h"
#include "train/processor/definitions.h"
#include "train/processor/launch.h"
#include <math.h>

typedef struct class_task {
    size_t rows, width;
    const float *x;
    const uint32_t *label;
    double *loss;
    float *y;
} class_task;

/* y[width] = e^(x - most); returns the sum of y. */
static float exponentials(size_t width, const float *x, float *most, float *y) {
    float sum = 0.0f;
    *most = x[0];
    for (size_t j = 1; j < width; j++) *most = x[j] > *most ? x[j] : *most;
    for (size_t j = 0; j < width; j++) {
        y[j] = expf(x[j] - *most);
        sum += y[j];
    }
    return sum;
}

static void entropy_rows(void *context, size_t block) {
    const class_task *t = context;
    const size_t end = train_row_block_end(t->rows, block);
    for (size_t i = block * TRAIN_ROW_BLOCK; i < end; i++) {
        const float *x = t->x + i * t->width;
        float most, *y = t->y + i * t->width;
        float sum = exponentials(t->width, x, &most, y);
        int labelled = t->label[i] < t->width;
        for (size_t j = 0; j < t->width; j++)
            y[j] = labelled ? train_entropy_slope(y[j], sum, j == t->label[i], t->rows) : 0.0f;
        if (labelled) t->loss[i] += train_entropy(sum, most, x[t->label[i]]);
    }
}

taper_status train_plain_cross_entropy(train_stream *s, size_t rows, size_t classes,
                                       const float *logit, const uint32_t *label, double *loss,
                                       float *gradient) {
    class_task task = {rows, classes, logit, label, loss, gradient};
    return train_processor_run(s, entropy_rows, &task, classes ? train_row_blocks(rows) : 0);
}

/* --- losses without labels ------------------------------------------------------------- */

/* The logarithm of the sum of e^(x - *most), where *most is the largest x. The two are not added
 * here, because the sum would have a larger rounding error. */
static float log_sum(size_t width, const float *x, float *most) {
    float sum = 0.0f;
    *most = x[0];
    for (size_t j = 1; j < width; j++) *most = x[j] > *most ? x[j] : *most;
    for (size_t j = 0; j < width; j++) sum += expf(x[j] - *most);
    return logf(sum);
}

typedef struct unlabelled_task {
    size_t rows, width;
    const float *believed, *logit;
    double *loss;
    float *gradient;
} unlabelled_task;

static void class_entropy_rows(void *context, size_t block) {
    const unlabelled_task *t = context;
    const size_t end = train_row_block_end(t->rows, block);
    for (size_t i = block * TRAIN_ROW_BLOCK; i < end; i++) {
        float most;
        const float *x = t->logit + i * t->width, all = log_sum(t->width, x, &most);
        double entropy = 0.0;
        for (size_t j = 0; j < t->width; j++)
            entropy -= (double)expf((x[j] - most) - all) * (double)((x[j] - most) - all);
        for (size_t j = 0; j < t->width; j++)
            t->gradient[i * t->width + j] =
                train_class_entropy_slope((x[j] - most) - all, entropy, t->rows);
        t->loss[i] += entropy;
    }
}

taper_status train_plain_class_entropy(train_stream *s, size_t rows, size_t classes,
                                       const float *logit, double *loss, float *gradient) {
    unlabelled_task task = {rows, classes, NULL, logit, loss, gradient};
    return train_processor_run(s, class_entropy_rows, &task, classes ? train_row_blocks(rows) : 0);
}

static void class_divergence_rows(void *context, size_t block) {
    const unlabelled_task *t = context;
    const size_t end = train_row_block_end(t->rows, block);
    for (size_t i = block * TRAIN_ROW_BLOCK; i < end; i++) {
        float most_p, most_q;
        const float *p = t->believed + i * t->width, all_p = log_sum(t->width, p, &most_p);
        const float *q = t->logit + i * t->width, all_q = log_sum(t->width, q, &most_q);
        double divergence = 0.0;
        for (size_t j = 0; j < t->width; j++) {
            divergence += train_class_divergence((p[j] - most_p) - all_p, (q[j] - most_q) - all_q);
            t->gradient[i * t->width + j] = train_class_divergence_slope(
                (p[j] - most_p) - all_p, (q[j] - most_q) - all_q, t->rows);
        }
        t->loss[i] += divergence;
    }
}

taper_status train_plain_class_divergence(train_stream *s, size_t rows, size_t classes,
                                          const float *believed, const float *logit, double *loss,
                                          float *gradient) {
    unlabelled_task task = {rows, classes, believed, logit, loss, gradient};
    return train_processor_run(s, class_divergence_rows, &task,
                               classes ? train_row_blocks(rows) : 0);
}
