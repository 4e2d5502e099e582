/* processor.c -- the processor as a device: its memory, its tables, injected failures; see
 * processor.h. */
#include "train/processor/processor.h"
#include "train/processor/definitions.h"
#include "train/processor/launch.h"
#include <stdlib.h>
#include <string.h>

/* --- memory ---------------------------------------------------------------------------- */

/* Zeroed memory, aligned to a cache line, whose pages the system provides on first access. The
 * address that calloc returned is stored in front of it. */
static void *alloc_line(size_t bytes) {
    enum { LINE = 64 };
    char *base = bytes > SIZE_MAX - LINE ? NULL : calloc(1, bytes + LINE);
    if (!base) return NULL;
    char *line = base + (LINE - (uintptr_t)base % LINE); /* 16 .. 64 bytes on */
    memcpy(line - sizeof base, &base, sizeof base);
    return line;
}

static void free_line(void *line) {
    void *base;
    if (!line) return;
    memcpy(&base, (char *)line - sizeof base, sizeof base);
    free(base);
}

static taper_status alloc(train_device *device, size_t bytes, void **memory) {
    train_processor *d = train_processor_of(device);
    pthread_mutex_lock(&d->lock);
    int fails = ++d->allocations == d->fail_allocation;
    pthread_mutex_unlock(&d->lock);
    *memory = NULL;
    if (fails) return TAPER_ERR_NOMEM;
    if (d->shadow) return train_shadow_alloc(d, bytes, memory);
    *memory = alloc_line(bytes);
    return *memory ? TAPER_OK : TAPER_ERR_NOMEM;
}

static void release(train_device *device, void *memory, size_t bytes) {
    train_processor *d = train_processor_of(device);
    (void)bytes;
    if (d->shadow)
        train_shadow_release(d, memory);
    else
        free_line(memory);
}

static taper_status zero(train_stream *s, void *to, size_t bytes) {
    TAPER_TRY(train_processor_begin(s));
    memset(to, 0, bytes);
    train_processor_end(s);
    return TAPER_OK;
}

static taper_status copy(train_stream *s, void *to, const void *from, size_t bytes) {
    TAPER_TRY(train_processor_begin(s));
    memcpy(to, from, bytes);
    train_processor_end(s);
    return TAPER_OK;
}

static taper_status sync_stream(train_stream *s) {
    TAPER_TRY(train_processor_begin(s));
    train_processor_end(s);
    return TAPER_OK;
}

static taper_status free_bytes(train_device *device, size_t *bytes) {
    (void)device;
    *bytes = SIZE_MAX; /* free memory of the system is shared with other programs */
    return TAPER_OK;
}

/* --- streams --------------------------------------------------------------------------- */

/* Buffers to upload from. Uploads are immediate. */
typedef struct staging {
    void *piece[2];
    size_t bytes[2];
    int last;
} staging;

static taper_status stage(train_stream *s, size_t bytes, void **host) {
    staging *own = s->state;
    const int i = own->last = !own->last;
    if (bytes > own->bytes[i]) {
        free_line(own->piece[i]);
        own->piece[i] = alloc_line(bytes);
        own->bytes[i] = own->piece[i] ? bytes : 0;
    }
    *host = own->piece[i];
    return *host || !bytes ? TAPER_OK : TAPER_ERR_NOMEM;
}

static taper_status send(train_stream *s, void *to, size_t bytes) {
    const staging *own = s->state;
    return copy(s, to, own->piece[own->last], bytes);
}

static taper_status open_stream(train_device *device, train_stream *s) {
    (void)device;
    s->state = calloc(1, sizeof(staging));
    return s->state ? TAPER_OK : TAPER_ERR_NOMEM;
}

static void close_stream(train_stream *s) {
    staging *own = s->state;
    for (int i = 0; i < 2; i++) free_line(own->piece[i]);
    free(own);
}

/* --- the table of operations ----------------------------------------------------------- */

#define ENTRY(name) .name = train_plain_##name,
static const train_operations plain_operations = {TRAIN_OPERATIONS(ENTRY)};
#undef ENTRY

/* --- the device ------------------------------------------------------------------------ */

/* Host and device share memory, so upload and download are copies. */
static const train_memory memory_table = {.alloc = alloc,
                                          .release = release,
                                          .zero = zero,
                                          .copy = copy,
                                          .upload = copy,
                                          .download = copy,
                                          .sync = sync_stream,
                                          .stage = stage,
                                          .send = send,
                                          .free_bytes = free_bytes};

taper_status train_processor_open(train_device *device, codec_backend *be,
                                  train_processor_kind kind) {
    *device = (train_device){0};
    train_processor *d = calloc(1, sizeof *d);
    if (!d || pthread_mutex_init(&d->lock, NULL) != 0) {
        free(d);
        return TAPER_ERR_NOMEM;
    }
    d->be = be;
    d->shadow = kind == TRAIN_SHADOW;
    *device = (train_device){.name = kind == TRAIN_SHADOW ? "shadow" : "processor",
                             .memory = &memory_table,
                             .operations = &plain_operations,
                             .state = d,
                             .in_host_memory = kind == TRAIN_PROCESSOR,
                             /* 5 tests that results do not depend on it */
                             .look_every = kind == TRAIN_SHADOW ? 5 : 1,
                             .block_rows = TRAIN_LEAST_ROWS,
                             .models_at_once = kind == TRAIN_SHADOW ? 2 : 1,
                             .pool = be->pool,
                             .open = open_stream,
                             .close = close_stream};
    return TAPER_OK;
}

void train_processor_close(train_device *device) {
    train_processor *d = train_processor_of(device);
    if (d) pthread_mutex_destroy(&d->lock);
    free(d);
    *device = (train_device){0};
}

void train_processor_fail(train_device *device, uint64_t allocation, uint64_t operation) {
    train_processor *d = train_processor_of(device);
    d->allocations = d->operations = 0;
    d->fail_allocation = allocation;
    d->fail_operation = operation;
}

void train_processor_count(const train_device *device, uint64_t *allocations,
                           uint64_t *operations) {
    const train_processor *d = train_processor_of(device);
    *allocations = d->allocations;
    *operations = d->operations;
}
