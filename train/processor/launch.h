/* launch.h -- how an operation of the processor is run: on which threads, with its memory open. */
#ifndef TRAIN_LAUNCH_H
#define TRAIN_LAUNCH_H
#include "codec/backend/backend.h"
#include "train/device/device.h"
#include <pthread.h>

/* A processor's state, device.state. */
typedef struct train_processor {
    codec_backend *be;    /* borrowed */
    int shadow;           /* 1: its memory is open between begin and end alone */
    pthread_mutex_t lock; /* of what follows */
    struct train_shadow_piece *pieces;
    uint32_t open;                                                     /* operations under way */
    uint64_t allocations, operations, fail_allocation, fail_operation; /* processor.h */
} train_processor;

static inline train_processor *train_processor_of(const train_device *device) {
    return (train_processor *)device->state;
}

/* Between these two the host may touch the stream's device. A status other than TAPER_OK: it may
 * not, and there is no end. */
taper_status train_processor_begin(train_stream *stream);
void train_processor_end(train_stream *stream);
/* What the stream works with, and its threads (codec/backend/pool.h). */
codec_backend *train_processor_backend(const train_stream *stream);
struct codec_pool *train_processor_pool(const train_stream *stream);

/* begin, the task's blocks on all threads, end. What a block does depends on its number alone. */
taper_status train_processor_run(train_stream *stream, void (*task)(void *context, size_t block),
                                 void *context, size_t blocks);

/* Zeroed whole pages, closed unless an operation is under way. TAPER_ERR_NOMEM. */
taper_status train_shadow_alloc(train_processor *processor, size_t bytes, void **memory);
void train_shadow_release(train_processor *processor, void *memory); /* NULL is fine */

#endif
