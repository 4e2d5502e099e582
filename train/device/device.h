/* device.h -- the device that training runs on: its memory and its operations.
 *
 * A device is two tables: train_memory below, and train_operations (operations.h). Learners access
 * device memory through these tables only, so a device need not share memory with the host. A new
 * device fills both tables, and every learner runs on it. There are three:
 *   processor    the host's processors (train/processor/), the reference implementation
 *   shadow       the same in memory that the host cannot access, for tests
 *   cuda         train/cuda, if it is built
 *
 * Addresses. Device memory is referred to by an address in the device's space. The host may do
 * pointer arithmetic with it and pass it on, but must not dereference it. Comments say "on the
 * device" for such arguments; all other addresses are the host's.
 *
 * Streams. Operations are queued on a stream and execute in order, possibly after the call has
 * returned. Only upload, download and sync synchronise the host with the stream: upload has read
 * the host's bytes when it returns, download has filled them. Threads may share a device; a stream
 * belongs to one thread.
 *
 * Errors. Every call returns a status. An error that occurs later is returned by a later call, at
 * the latest by sync or download.
 *   TAPER_ERR_NOMEM     no memory
 *   TAPER_ERR_DEVICE    the device is lost. Every later call on the stream returns this too, and
 *                       the contents of device memory are undefined. The run ends; resume it from
 *                       its last checkpoint, on any device.
 *
 * Results. The same operations on the same device give the same bits: the order of sums depends on
 * shapes only, and no float is added atomically.
 *
 * Directory train/device/: the interface between training and the device.
 *   device            this header; memory in arenas, and arrays of the host on a device
 *   feed              rows of bytes, kept on the device or sent step by step
 *   group             devices of several ranks that add up arrays among themselves
 *   operations        the operations of a device
 *   elements          scalar parts of operations, shared by the processor and by kernels:
 *   elements_codes elements_units                 codes at a cut; whole units, their weights and
 *                                                 thresholds
 *   elements_losses elements_predictions          errors; bits and the outputs of heads
 *   elements_neighbours                           pairs of codes */
#ifndef TRAIN_DEVICE_H
#define TRAIN_DEVICE_H
#include "formats/status.h"
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef struct train_device train_device;
typedef struct train_stream train_stream;
typedef struct train_operations train_operations;
typedef struct train_group train_group;

/* How a device keeps an array that products read, if it rounds the factors of its products. */
typedef enum train_keeping {
    /* Rounded. Only operations documented as making factors write it; only products and operations
     * documented as taking factors read it. */
    TRAIN_FACTORS = 0,
    /* Not rounded; the device keeps a rounded copy up to date. */
    TRAIN_WEIGHTS = 1
} train_keeping;

/* Sizes are in bytes. `to`, `from` and `memory` are on the device, `host` is not. */
typedef struct train_memory {
    /* *memory: `bytes` bytes, at least 1, aligned to 64, all 0. TAPER_ERR_NOMEM. */
    taper_status (*alloc)(train_device *device, size_t bytes, void **memory);
    /* Frees memory from alloc, given its size. NULL is fine. Waits for pending operations on it, so
     * that a failed run can free its memory without a sync. */
    void (*release)(train_device *device, void *memory, size_t bytes);
    taper_status (*zero)(train_stream *stream, void *to, size_t bytes);
    /* to and from must not overlap. */
    taper_status (*copy)(train_stream *stream, void *to, const void *from, size_t bytes);
    taper_status (*upload)(train_stream *stream, void *to, const void *host, size_t bytes);
    taper_status (*download)(train_stream *stream, void *host, const void *from, size_t bytes);
    /* Waits until all queued operations are done. */
    taper_status (*sync)(train_stream *stream);

    /* Uploads that overlap with the stream's operations (feed.h). The stream has two staging
     * buffers in host memory, used alternately.
     * stage: *host becomes the next buffer, of `bytes` bytes, to write to; its previous contents
     * have been sent. TAPER_ERR_NOMEM.
     * send: uploads the buffer that stage returned last. Operations queued from now on see the
     * bytes. Operations queued since the previous send must not access `to`, because they may still
     * be running: use two destination addresses alternately. */
    taper_status (*stage)(train_stream *stream, size_t bytes, void **host);
    taper_status (*send)(train_stream *stream, void *to, size_t bytes);
    /* *bytes: about how many bytes are free; SIZE_MAX: unknown. */
    taper_status (*free_bytes)(train_device *device, size_t *bytes);
    /* Keeps array[n] as `how` says until its memory is released; array NULL: as by default.
     * Products give the same result either way. Using factors in an operation that does not take
     * them: TAPER_ERR_DEVICE. TAPER_ERR_NOMEM. */
    taper_status (*keep)(train_device *device, train_keeping how, float *array, size_t n);
} train_memory;

struct train_device {
    const char *name; /* "processor", "shadow", "cuda:0" */
    const train_memory *memory;
    const train_operations *operations;
    /* NULL, or how devices of several ranks add up arrays among themselves (group.h). */
    const train_group *group;
    int joined;  /* 1: they do so, as train_group_join has found */
    void *state; /* private to the device */
    /* 1: its operations work on host memory and are done when their calls return, so host arrays
     * need no copy (train_mirror_open). */
    int in_host_memory;
    /* Steps between two downloads of the losses. A download waits for the device, so a device that
     * runs asynchronously wants many. 1 .. TRAIN_MOST_LOOK. */
    uint32_t look_every;
    /* Rows that a learner processes at once, if a step or an evaluation has as many. Few rows fit a
     * processor's cache, many fill a GPU. A multiple of TRAIN_LEAST_ROWS. */
    size_t block_rows;
    /* Models that may be trained in parallel, each on a stream of its own, if one alone does not
     * use the whole device; 0 means 1. */
    uint32_t models_at_once;
    /* 1: other models are being trained. If memory is short, calls return TAPER_ERR_NOMEM and do
     * not use smaller blocks, because memory is free again when the others are done
     * (side_by_side.h). So results do not depend on the others. */
    int shared;
    /* Host threads that may help with the host's work for the device, borrowed; NULL: none. */
    struct codec_pool *pool;
    /* Sets of rows larger than this many bytes are not kept on the device even if they fit
     * (feed.h). 0: no limit. For tests, and to leave memory for other uses. */
    size_t most_kept;
    taper_status (*open)(train_device *device, train_stream *stream); /* fills stream->state */
    void (*close)(train_stream *stream);
};
enum { TRAIN_MOST_LOOK = 64, TRAIN_LEAST_ROWS = 512 };

struct train_stream {
    train_device *device;
    const train_operations *ops; /* device->operations */
    void *state;                 /* private to the device */
};

/* Opens a stream on a device, which is borrowed. TAPER_ERR_NOMEM, TAPER_ERR_DEVICE: nothing is
 * held. */
taper_status train_stream_open(train_stream *stream, train_device *device);
void train_stream_close(train_stream *stream); /* waits; leaves it zeroed; zeroed is fine */

/* The functions of train_memory by short names. With 0 bytes they do nothing. */
taper_status train_zero(train_stream *stream, void *to, size_t bytes);
taper_status train_copy(train_stream *stream, void *to, const void *from, size_t bytes);
taper_status train_upload(train_stream *stream, void *to, const void *host, size_t bytes);
taper_status train_download(train_stream *stream, void *host, const void *from, size_t bytes);

/* train_memory.keep, if the device has it; else nothing. */
taper_status train_keep(train_device *device, train_keeping how, float *array, size_t n);

/* --- arenas ---------------------------------------------------------------------------- */

/* One allocation of device memory, divided into arrays. The same function lays it out twice: first
 * without memory, which counts the bytes, then with memory.
 *
 *     train_arena arena = {0};
 *     lay_out(&arena, self);                           every address NULL
 *     TAPER_TRY(train_arena_alloc(&arena, device));
 *     lay_out(&arena, self);                           addresses on the device, all 0 there */
typedef struct train_arena {
    train_device *device; /* NULL: counting */
    char *memory;
    size_t size, used;
    int overflow; /* the count exceeded SIZE_MAX */
} train_arena;

/* The next rows x columns elements of `size` bytes, aligned to 64. */
void *train_arena_take(train_arena *arena, size_t rows, size_t columns, size_t size);
/* The same for floats. */
float *train_arena_floats(train_arena *arena, size_t rows, size_t columns);
/* Allocates the counted bytes and resets the arena to its beginning. TAPER_ERR_NOMEM. */
taper_status train_arena_alloc(train_arena *arena, train_device *device);
void train_arena_free(train_arena *arena); /* leaves it zeroed; zeroed is fine */

/* --- arrays of the host on a device ------------------------------------------------------ */

/* An array of the host that a device reads for a long time, such as the examples of a run: a copy
 * in device memory, or the host's array itself if the device works in host memory. */
typedef struct train_mirror {
    const void *at; /* on the device */
    train_arena arena;
    size_t bytes;
} train_mirror;

/* mirror must be zeroed. TAPER_ERR_NOMEM, TAPER_ERR_DEVICE: nothing is held. */
taper_status train_mirror_open(train_mirror *mirror, train_stream *stream, const void *host,
                               size_t bytes);
/* Uploads the array again after the host has changed it. */
taper_status train_mirror_update(train_mirror *mirror, train_stream *stream, const void *host);
/* Replaces it by another array of at most mirror->bytes bytes. */
taper_status train_mirror_replace(train_mirror *mirror, train_stream *stream, const void *host,
                                  size_t bytes);
void train_mirror_free(train_mirror *mirror); /* leaves it zeroed; zeroed is fine */

#ifdef __cplusplus
}
#endif
#endif
