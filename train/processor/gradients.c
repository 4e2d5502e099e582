/* gradients.c -- gradient orientations of windows. See train/device/operations.h. */
#include "train/processor/definitions.h"
#include "train/processor/launch.h"
#include <stdatomic.h>

typedef struct gradients_task {
    const train_gradients *of;
    atomic_int status;
} gradients_task;

static void describe_rows(void *context, size_t block) {
    gradients_task *t = context;
    const train_gradients *g = t->of;
    const size_t values = codec_window_values(g->window),
                 count = codec_gradients_count(g->window, g->cells),
                 end = train_row_block_end(g->rows, block);
    for (size_t i = block * TRAIN_ROW_BLOCK; i < end; i++) {
        const taper_status status = codec_gradients(
            g->window, g->cells, 1, g->pixels + (g->order ? (size_t)g->order[i] : i) * values,
            g->to + i * count);
        if (status != TAPER_OK) atomic_store(&t->status, (int)status);
    }
}

taper_status train_plain_gradients(train_stream *s, const train_gradients *g) {
    gradients_task task = {g, TAPER_OK};
    TAPER_TRY(train_processor_run(s, describe_rows, &task, train_row_blocks(g->rows)));
    return (taper_status)atomic_load(&task.status);
}
