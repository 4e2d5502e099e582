/* device.h -- what training runs on: memory of its own, and operations on it.
 *
 * A device is two tables: train_memory below, and train_operations (operations.h). Learners reach a
 * device's memory through them alone, so that a device without memory in common with the host needs
 * nothing else: fill both tables, and every learner runs on it. There are three:
 *   processor    this machine's processors (train/processor/), which define every operation
 *   shadow       the same in memory that the host may not touch, for tests
 *   cuda         train/cuda, where it is built
 *
 * Addresses. Memory is given out as an address in the device's space. The host may add to it (a
 * view of a part) and pass it on, and must not look there. A comment says "on the device" where an
 * argument is such an address; all others are the host's.
 *
 * Streams. Operations are put on a stream and are done in the order in which they were put, maybe
 * after the call has returned. upload, download and sync are the only places where the host and the
 * stream meet: an upload has read the host's bytes when it returns, a download has filled them. A
 * device may be shared by threads; a stream belongs to one.
 *
 * Errors. A call returns a status; what a device finds out later comes with a later call, at the
 * latest with sync or download. TAPER_ERR_NOMEM: no memory; TAPER_ERR_DEVICE: the device is lost.
 * After it every call on the stream returns it, and what is on the device is undefined: a run ends,
 * and its last checkpoint goes on elsewhere.
 *
 * Results. The same operations on the same device give the same bits: sums have an order that
 * shapes alone decide, and nothing is added by atomic operations on floats.
 *
 * The room train/device/: the seam between training and what it runs on.
 *   device            this page; memory in arenas, and what the host lends
 *   feed              rows of bytes that a device takes step by step, where they fit or not
 *   operations        what a device must be able to do
 *   elements          what operations make of one number, for processor and kernels alike; of
 *   elements_codes elements_units                 codes at a cut; whole units, their weights and
 *                                                 thresholds
 *   elements_losses elements_predictions          errors; bits and what heads give
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

/* How an array that products read may be kept, where a device rounds the factors of its products.
 */
typedef enum train_keeping {
    TRAIN_FACTORS = 0, /* rounded: it is written by operations that are said to make factors, and
                          read by products and those that are said to take factors */
    TRAIN_WEIGHTS = 1  /* as it is, with a rounded copy, which is the device's to keep true */
} train_keeping;

/* Sizes are in bytes. `to`, `from` and `memory` are on the device, `host` is not. */
typedef struct train_memory {
    /* *memory: so many bytes, at least 1, aligned to 64, all 0. TAPER_ERR_NOMEM. */
    taper_status (*alloc)(train_device *device, size_t bytes, void **memory);
    /* What alloc gave, with its size. NULL is fine. Operations that are under way on it are done
     * first: a run that fails frees what it has, and waits for nothing by itself. */
    void (*release)(train_device *device, void *memory, size_t bytes);
    taper_status (*zero)(train_stream *stream, void *to, size_t bytes);
    /* to and from must not overlap. */
    taper_status (*copy)(train_stream *stream, void *to, const void *from, size_t bytes);
    taper_status (*upload)(train_stream *stream, void *to, const void *host, size_t bytes);
    taper_status (*download)(train_stream *stream, void *host, const void *from, size_t bytes);
    /* Wait until all that was put on the stream is done. */
    taper_status (*sync)(train_stream *stream);

    /* Uploads beside what the stream does (feed.h). The stream has two pieces of the host's memory
     * for them, which are used in turn.
     * stage: *host becomes the next one, of so many bytes, to be written to; what was sent from it
     * before has left it. TAPER_ERR_NOMEM.
     * send: an upload from the piece that stage gave last. What is put on the stream from now on
     * finds the bytes. What was put there since the send before may not touch `to`: it may not be
     * done yet, the caller has two addresses to use in turn. */
    taper_status (*stage)(train_stream *stream, size_t bytes, void **host);
    taper_status (*send)(train_stream *stream, void *to, size_t bytes);
    /* *bytes: about as many may still be given out; SIZE_MAX: nobody knows. */
    taper_status (*room)(train_device *device, size_t *bytes);
    /* array[n] is kept so until its memory is released; NULL: as any other. Products take the
     * the same numbers either way. Another operation on factors: TAPER_ERR_DEVICE. TAPER_ERR_NOMEM.
     */
    taper_status (*keep)(train_device *device, train_keeping how, float *array, size_t n);
} train_memory;

struct train_device {
    const char *name; /* "processor", "shadow", "cuda:0" */
    const train_memory *memory;
    const train_operations *operations;
    void *state; /* the device's own */
    /* 1: its operations work in the host's memory, too, and are done when their calls return: what
     * the host lends need not be copied (train_lend). */
    int in_host_memory;
    /* After so many steps a loop looks at their losses. Looking waits for the device, so that a
     * device that works beside the host wants many; at least 1, at most TRAIN_MOST_LOOK. */
    uint32_t look_every;
    /* Rows that a learner takes through at once, where a step or a look has as many: few suit a
     * processor's cache, many fill a GPU. A multiple of TRAIN_LEAST_ROWS. */
    size_t block_rows;
    /* Models that may learn at once, each on a stream of its own, as one alone does not fill the
     * device; 0 as 1. */
    uint32_t models_at_once;
    /* 1: others learn beside. What does not fit is TAPER_ERR_NOMEM then, not made smaller, as there
     * will be room when they are done (side_by_side.h): results do not depend on the others. */
    int shared;
    /* Threads of the host's, borrowed, that may help with what it does for the device; NULL: there
     * are none. */
    struct codec_pool *pool;
    /* A set of rows of more bytes than these is not kept on the device, if it would fit, too
     * (feed.h). 0: no limit. For tests, and for what else needs the room. */
    size_t most_kept;
    taper_status (*open)(train_device *device, train_stream *stream); /* fills stream->state */
    void (*close)(train_stream *stream);
};
enum { TRAIN_MOST_LOOK = 64, TRAIN_LEAST_ROWS = 512 };

struct train_stream {
    train_device *device;
    const train_operations *ops; /* device->operations */
    void *state;                 /* the device's own */
};

/* A stream on a device, which is borrowed. TAPER_ERR_NOMEM, TAPER_ERR_DEVICE: nothing is held. */
taper_status train_stream_open(train_stream *stream, train_device *device);
void train_stream_close(train_stream *stream); /* waits; leaves it zeroed; zeroed is fine */

/* The first table, by short names. No bytes: nothing is done. */
taper_status train_zero(train_stream *stream, void *to, size_t bytes);
taper_status train_copy(train_stream *stream, void *to, const void *from, size_t bytes);
taper_status train_upload(train_stream *stream, void *to, const void *host, size_t bytes);
taper_status train_download(train_stream *stream, void *host, const void *from, size_t bytes);

/* The last of it, where the device has it. */
taper_status train_keep(train_device *device, train_keeping how, float *array, size_t n);

/* --- arenas ---------------------------------------------------------------------------- */

/* One piece of a device's memory, taken apart. What needs it is laid out twice by the same
 * function: first without memory, which counts, then for good.
 *
 *     train_arena arena = {0};
 *     lay_out(&arena, self);                           every address NULL
 *     TAPER_TRY(train_arena_alloc(&arena, device));
 *     lay_out(&arena, self);                           addresses on the device, all 0 there */
typedef struct train_arena {
    train_device *device; /* NULL: it counts */
    char *memory;
    size_t size, used;
    int overflow; /* it counted beyond SIZE_MAX */
} train_arena;

/* The next rows x columns elements of `size` bytes, aligned to 64. */
void *train_arena_take(train_arena *arena, size_t rows, size_t columns, size_t size);
/* The same for floats. */
float *train_arena_floats(train_arena *arena, size_t rows, size_t columns);
/* Memory for all that was counted, and back to its beginning. TAPER_ERR_NOMEM. */
taper_status train_arena_alloc(train_arena *arena, train_device *device);
void train_arena_free(train_arena *arena); /* leaves it zeroed; zeroed is fine */

/* --- what the host lends --------------------------------------------------------------- */

/* An array of the host's that a device reads for a long time, such as the examples of a run: a copy
 * in memory of its own, or the host's array itself where the device works there. The host may
 * change it and upload it again. */
typedef struct train_lent {
    const void *at; /* on the device */
    train_arena arena;
    size_t bytes;
} train_lent;

/* Lent zeroed before. TAPER_ERR_NOMEM, TAPER_ERR_DEVICE: nothing is held. */
taper_status train_lend(train_lent *lent, train_stream *stream, const void *host, size_t bytes);
/* The host has changed the array: it is uploaded again. */
taper_status train_lend_again(train_lent *lent, train_stream *stream, const void *host);
/* Another array in its place, of at most lent->bytes. */
taper_status train_lend_other(train_lent *lent, train_stream *stream, const void *host,
                              size_t bytes);
void train_lent_free(train_lent *lent); /* leaves it zeroed; zeroed is fine */

#ifdef __cplusplus
}
#endif
#endif
