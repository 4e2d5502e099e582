/* launch.h -- how the processor runs an operation: its threads, and access to its memory. */
#ifndef TRAIN_LAUNCH_H
#define TRAIN_LAUNCH_H
#include "codec/backend/backend.h"
#include "train/device/device.h"
#include <pthread.h>

/* A processor's state, device.state. */
typedef struct train_processor {
    codec_backend *be; /* borrowed */
    /* 1: memory is accessible between begin and end only */
    int shadow;
    pthread_mutex_t lock; /* of the members below */
    struct train_shadow_piece *pieces;
    uint32_t open;                                                     /* running operations */
    uint64_t allocations, operations, fail_allocation, fail_operation; /* processor.h */
} train_processor;

static inline train_processor *train_processor_of(const train_device *device) {
    return (train_processor *)device->state;
}

/* Between these two calls the host may access the device's memory. If begin does not return
 * TAPER_OK, it may not, and end is not called. */
taper_status train_processor_begin(train_stream *stream);
void train_processor_end(train_stream *stream);
/* The stream's backend and its thread pool (codec/backend/pool.h). */
codec_backend *train_processor_backend(const train_stream *stream);
struct codec_pool *train_processor_pool(const train_stream *stream);

/* begin, the task's blocks on all threads, end. A block's result depends on its number only. */
taper_status train_processor_run(train_stream *stream, void (*task)(void *context, size_t block),
                                 void *context, size_t blocks);

/* Zeroed whole pages, accessible only while an operation runs. TAPER_ERR_NOMEM. */
taper_status train_shadow_alloc(train_processor *processor, size_t bytes, void **memory);
void train_shadow_release(train_processor *processor, void *memory); /* NULL is fine */

#endif
