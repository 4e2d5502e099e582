/* device.cu -- memory, streams and uploads of a GPU; see cuda.h and stream.h. */
#include "train/cuda/factors.h"
#include "train/cuda/group.h"
#include "train/cuda/lt.h"
#include "train/cuda/operations.h"
#include "train/cuda/stream.h"
#include <map>
#include <mutex>
#include <new>
#include <stdio.h>
#include <string.h>

/* The state of a device. Its allocations are few and large (arenas), identified by address. */
struct cuda_device {
    int ordinal;
    train_precision precision;
    char name[24];
    std::mutex lock; /* of the members below */
    std::map<const char *, size_t> pieces;
    cuda_keeper keeper;
    cuda_group group;
    char fault[192];
};

static cuda_device *device_of(const train_device *device) { return (cuda_device *)device->state; }

/* --- failures -------------------------------------------------------------------------- */

/* Records the message of the first failure. */
static void note(cuda_device *d, const char *operation, const char *why) {
    std::lock_guard<std::mutex> guard(d->lock);
    if (!d->fault[0]) snprintf(d->fault, sizeof d->fault, "%s: %s: %s", d->name, operation, why);
}

static taper_status status_of(cuda_device *d, const char *operation, cudaError_t error) {
    if (error == cudaSuccess) return TAPER_OK;
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError(); /* clears the error */
        return TAPER_ERR_NOMEM;
    }
    note(d, operation, cudaGetErrorString(error));
    return TAPER_ERR_DEVICE;
}

const char *train_cuda_fault(const train_device *device) {
    return device->state ? device_of(device)->fault : "";
}

/* --- operations ------------------------------------------------------------------------ */

/* Whether array[bytes] is within one allocation. */
static bool is_given(cuda_device *d, const void *array, size_t bytes) {
    std::lock_guard<std::mutex> guard(d->lock);
    auto at = d->pieces.upper_bound((const char *)array);
    if (at == d->pieces.begin()) return false;
    --at;
    size_t from = (size_t)((const char *)array - at->first);
    return from <= at->second && bytes <= at->second - from;
}

taper_status cuda_begin_arrays(train_stream *s, const char *operation, const cuda_array *array,
                               size_t arrays) {
    cuda_device *d = device_of(s->device);
    size_t bytes = 0;
    for (size_t i = 0; i < arrays; i++) {
        const cuda_array *a = &array[i];
        size_t own;
        if (!a->at || !a->count) continue;
        if (a->count > SIZE_MAX / a->size || !is_given(d, a->at, a->count * a->size))
            return cuda_fail(s, operation, "an array that is not in the device's memory");
        if (!cuda_check_array(s->device, a, &own))
            return cuda_fail(s, operation, "an array of factors, which products alone can read");
        bytes += own;
    }
    CUDA_COUNT(operation, bytes);
    return status_of(d, operation, cudaSetDevice(d->ordinal));
}

taper_status cuda_lose(train_device *device, const char *operation, const char *why) {
    note(device_of(device), operation, why);
    return TAPER_ERR_DEVICE;
}

taper_status cuda_fail(train_stream *s, const char *operation, const char *why) {
    return cuda_lose(s->device, operation, why);
}

taper_status cuda_end(train_stream *s, const char *operation) {
    return status_of(device_of(s->device), operation, cudaGetLastError());
}

/* --- memory ---------------------------------------------------------------------------- */

static taper_status remember(cuda_device *d, const void *memory, size_t bytes) {
    std::lock_guard<std::mutex> guard(d->lock);
    try {
        d->pieces[(const char *)memory] = bytes;
    } catch (const std::bad_alloc &) {
        return TAPER_ERR_NOMEM;
    }
    return TAPER_OK;
}

static taper_status give(train_device *device, size_t bytes, void **memory) {
    cuda_device *d = device_of(device);
    *memory = NULL;
    TAPER_TRY(status_of(d, "memory", cudaSetDevice(d->ordinal)));
    TAPER_TRY(status_of(d, "memory", cudaMalloc(memory, bytes)));
    taper_status status = status_of(d, "memory", cudaMemsetAsync(*memory, 0, bytes, NULL));
    if (status == TAPER_OK) status = status_of(d, "memory", cudaStreamSynchronize(NULL));
    if (status == TAPER_OK) status = remember(d, *memory, bytes);
    if (status == TAPER_OK) return TAPER_OK;
    cudaFree(*memory);
    *memory = NULL;
    return status;
}

static void forget(cuda_device *d, const void *memory) {
    std::lock_guard<std::mutex> guard(d->lock);
    d->pieces.erase((const char *)memory);
}

/* Removed from the list first, because another thread may get the same memory once it is free.
 * cudaFree waits for the device, and so, before it, does the group. */
static void release(train_device *device, void *memory, size_t bytes) {
    cuda_device *d = device_of(device);
    if (!memory) return;
    cuda_forget_kept(device, memory, bytes);
    forget(d, memory);
    cudaSetDevice(d->ordinal);
    cuda_group_settle(device);
    cudaFree(memory);
}

static taper_status zero(train_stream *s, void *to, size_t bytes) {
    CUDA_BEGIN(s, "zero", cuda_array_of((char *)to, bytes, CUDA_EITHER));
    uint16_t *factor = cuda_numbers_at(s, (const float *)to).factor;
    if (factor) to = factor, bytes /= sizeof(float) / sizeof *factor;
    return status_of(device_of(s->device), "zero", cudaMemsetAsync(to, 0, bytes, cuda_on(s)));
}

static taper_status copy(train_stream *s, void *to, const void *from, size_t bytes) {
    CUDA_BEGIN(s, "copy", CUDA_ARRAY((char *)to, bytes), CUDA_ARRAY((const char *)from, bytes));
    return status_of(device_of(s->device), "copy",
                     cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, cuda_on(s)));
}

static taper_status wait(train_stream *s) {
    TAPER_TRY(cuda_group_settle(s->device));
    return status_of(device_of(s->device), "sync", cudaStreamSynchronize(cuda_on(s)));
}

static taper_status free_bytes(train_device *device, size_t *bytes) {
    cuda_device *d = device_of(device);
    size_t all;
    TAPER_TRY(status_of(d, "memory", cudaSetDevice(d->ordinal)));
    return status_of(d, "memory", cudaMemGetInfo(bytes, &all));
}

static taper_status download(train_stream *s, void *host, const void *from, size_t bytes) {
    CUDA_BEGIN(s, "download", CUDA_ARRAY((const char *)from, bytes));
    TAPER_TRY(cuda_group_settle(s->device)); /* the copy may wait */
    TAPER_TRY(status_of(device_of(s->device), "download",
                        cudaMemcpyAsync(host, from, bytes, cudaMemcpyDeviceToHost, cuda_on(s))));
    return wait(s);
}

static taper_status sync_stream(train_stream *s) {
    cuda_device *d = device_of(s->device);
    TAPER_TRY(status_of(d, "sync", cudaSetDevice(d->ordinal)));
    return wait(s);
}

/* --- uploads --------------------------------------------------------------------------- */

/* Uploads from pageable memory; the host waits, because the driver copies it in parts. */
static taper_status upload_large(train_stream *s, void *to, const void *host, size_t bytes) {
    TAPER_TRY(cuda_group_settle(s->device));
    TAPER_TRY(status_of(device_of(s->device), "upload",
                        cudaMemcpyAsync(to, host, bytes, cudaMemcpyHostToDevice, cuda_on(s))));
    return wait(s);
}

/* Small uploads are copied to a page-locked piece, so that the host does not wait: a step has
 * several. When a piece is full, the other one is used after its uploads are done. */
static taper_status swap_small(train_stream *s) {
    cuda_device *d = device_of(s->device);
    cuda_stream *own = cuda_stream_of(s);
    cuda_staging *small = &own->small;
    TAPER_TRY(status_of(d, "upload", cudaEventRecord(small->sent[small->last], own->stream)));
    small->last = !small->last, own->used = 0;
    TAPER_TRY(cuda_group_await(s->device, small->sent[small->last]));
    return status_of(d, "upload", cudaEventSynchronize(small->sent[small->last]));
}

static taper_status upload(train_stream *s, void *to, const void *host, size_t bytes) {
    cuda_stream *own = cuda_stream_of(s);
    CUDA_BEGIN(s, "upload", CUDA_ARRAY((char *)to, bytes));
    if (bytes > CUDA_SMALL_BYTES) return upload_large(s, to, host, bytes);
    if (bytes > CUDA_SMALL_BYTES - own->used) TAPER_TRY(swap_small(s));
    char *piece = own->small.piece[own->small.last] + own->used;
    memcpy(piece, host, bytes);
    own->used += bytes;
    return status_of(device_of(s->device), "upload",
                     cudaMemcpyAsync(to, piece, bytes, cudaMemcpyHostToDevice, own->stream));
}

static taper_status give_piece(cuda_device *d, cuda_staging *staging, int i, size_t bytes) {
    if (bytes <= staging->bytes[i]) return TAPER_OK;
    cudaFreeHost(staging->piece[i]);
    staging->piece[i] = NULL, staging->bytes[i] = 0;
    TAPER_TRY(status_of(d, "staging",
                        cudaHostAlloc((void **)&staging->piece[i], bytes, cudaHostAllocDefault)));
    staging->bytes[i] = bytes;
    return TAPER_OK;
}

static taper_status stage(train_stream *s, size_t bytes, void **host) {
    cuda_device *d = device_of(s->device);
    cuda_staging *large = &cuda_stream_of(s)->large;
    const int i = large->last = !large->last;
    TAPER_TRY(status_of(d, "staging", cudaSetDevice(d->ordinal)));
    TAPER_TRY(cuda_group_await(s->device, large->sent[i]));
    TAPER_TRY(status_of(d, "staging", cudaEventSynchronize(large->sent[i])));
    TAPER_TRY(give_piece(d, large, i, bytes));
    *host = large->piece[i];
    return TAPER_OK;
}

/* The copy starts after the operations queued before the previous send, and ends before the
 * operations queued from now on. */
static taper_status send(train_stream *s, void *to, size_t bytes) {
    cuda_device *d = device_of(s->device);
    cuda_stream *own = cuda_stream_of(s);
    const int i = own->large.last;
    CUDA_BEGIN(s, "send", CUDA_ARRAY((char *)to, bytes));
    cudaError_t e = cudaStreamWaitEvent(own->copies, own->reached, 0);
    if (e == cudaSuccess) e = cudaEventRecord(own->reached, own->stream);
    if (e == cudaSuccess)
        e = cudaMemcpyAsync(to, own->large.piece[i], bytes, cudaMemcpyHostToDevice, own->copies);
    if (e == cudaSuccess) e = cudaEventRecord(own->large.sent[i], own->copies);
    if (e == cudaSuccess) e = cudaStreamWaitEvent(own->stream, own->large.sent[i], 0);
    return status_of(d, "send", e);
}

/* --- streams --------------------------------------------------------------------------- */

static void close_staging(cuda_staging *staging) {
    for (int i = 0; i < 2; i++) {
        if (staging->sent[i]) cudaEventDestroy(staging->sent[i]);
        cudaFreeHost(staging->piece[i]);
    }
}

static void close_stream(train_stream *s) {
    cuda_stream *own = cuda_stream_of(s);
    if (!own) return;
    cudaSetDevice(device_of(s->device)->ordinal);
    cuda_group_settle(s->device);
    if (own->copies) cudaStreamSynchronize(own->copies);
    if (own->stream) cudaStreamSynchronize(own->stream);
    cuda_lt_free(s);
    cuda_factors_free(s);
    release(s->device, own->scratch, CUDA_SCRATCH_BYTES);
    close_staging(&own->large);
    close_staging(&own->small);
    if (own->reached) cudaEventDestroy(own->reached);
    if (own->copies) cudaStreamDestroy(own->copies);
    if (own->stream) cudaStreamDestroy(own->stream);
    delete own;
    s->state = NULL;
}

static cudaError_t open_event(cudaEvent_t *event) {
    return cudaEventCreateWithFlags(event, cudaEventDisableTiming);
}

/* Creates streams, events, and buffers for small uploads. */
static taper_status open_queues(cuda_device *d, cuda_stream *own) {
    cudaError_t e = cudaStreamCreateWithFlags(&own->stream, cudaStreamNonBlocking);
    if (e == cudaSuccess) e = cudaStreamCreateWithFlags(&own->copies, cudaStreamNonBlocking);
    if (e == cudaSuccess) e = open_event(&own->reached);
    for (int i = 0; i < 2 && e == cudaSuccess; i++) {
        e = open_event(&own->large.sent[i]);
        if (e == cudaSuccess) e = open_event(&own->small.sent[i]);
    }
    TAPER_TRY(status_of(d, "stream", e));
    TAPER_TRY(give_piece(d, &own->small, 0, CUDA_SMALL_BYTES));
    return give_piece(d, &own->small, 1, CUDA_SMALL_BYTES);
}

static taper_status open_stream(train_device *device, train_stream *s) {
    cuda_stream *own = new (std::nothrow) cuda_stream();
    if (!own) return TAPER_ERR_NOMEM;
    s->state = own;
    taper_status status = give(device, CUDA_SCRATCH_BYTES, &own->scratch);
    if (status == TAPER_OK) status = open_queues(device_of(device), own);
    if (status != TAPER_OK) close_stream(s);
    return status;
}

/* --- devices --------------------------------------------------------------------------- */

#define ENTRY(name) train_cuda_##name,
static const train_operations operation_table = {TRAIN_OPERATIONS(ENTRY)};
#undef ENTRY
static const train_memory memory_table = {
    give, release, zero, copy, upload, download, sync_stream, stage, send, free_bytes, cuda_keep};

/* The message why there are no devices. */
static taper_status none(taper_error *error, cudaError_t why) {
    int driver = 0;
    cudaDriverGetVersion(&driver);
    if (!driver) return formats_fail(error, TAPER_ERR_DEVICE, "no NVIDIA driver is installed");
    if (why == cudaErrorInsufficientDriver)
        return formats_fail(
            error, TAPER_ERR_DEVICE,
            "the NVIDIA driver is too old: it has CUDA %d.%d, this build needs a newer one",
            driver / 1000, driver % 1000 / 10);
    return formats_fail(error, TAPER_ERR_DEVICE, "no GPU: %s", cudaGetErrorString(why));
}

taper_status train_cuda_devices(train_cuda_info *info, int most, int *count, taper_error *error) {
    cudaError_t found = cudaGetDeviceCount(count);
    if (found != cudaSuccess || !*count) {
        cudaGetLastError();
        return none(error, found);
    }
    for (int i = 0; i < *count && i < most; i++) {
        cudaDeviceProp p;
        cudaError_t got = cudaGetDeviceProperties(&p, i);
        if (got != cudaSuccess)
            return formats_fail(error, TAPER_ERR_DEVICE, "cuda:%d: %s", i, cudaGetErrorString(got));
        info[i] = train_cuda_info{};
        snprintf(info[i].name, sizeof info[i].name, "%.*s", (int)sizeof info[i].name - 1, p.name);
        info[i].capability = 10 * p.major + p.minor;
        info[i].multiprocessors = p.multiProcessorCount;
        info[i].bytes = p.totalGlobalMem;
    }
    return TAPER_OK;
}

static taper_status check(int ordinal, taper_error *error) {
    enum { MOST = 64 };
    static train_cuda_info info[MOST];
    int count = 0;
    TAPER_TRY(train_cuda_devices(info, MOST, &count, error));
    if (ordinal < 0 || ordinal >= count || ordinal >= MOST)
        return formats_fail(error, TAPER_ERR_ARG, "there is no cuda:%d; the last is cuda:%d",
                            ordinal, count - 1);
    if (info[ordinal].capability < TRAIN_CUDA_LEAST_CAPABILITY)
        return formats_fail(error, TAPER_ERR_DEVICE,
                            "cuda:%d, %s, has compute capability %d.%d: 7.5 is the least", ordinal,
                            info[ordinal].name, info[ordinal].capability / 10,
                            info[ordinal].capability % 10);
    return TAPER_OK;
}

taper_status train_cuda_open(train_device *device, int ordinal, train_precision precision,
                             taper_error *error) {
    *device = train_device{};
    TAPER_TRY(check(ordinal, error));
    void *probe = NULL; /* a busy device fails at the first allocation */
    cudaError_t got = cudaSetDevice(ordinal);
    if (got == cudaSuccess) got = cudaMalloc(&probe, 1);
    cudaFree(probe);
    if (got != cudaSuccess) {
        cudaGetLastError();
        return formats_fail(error,
                            got == cudaErrorMemoryAllocation ? TAPER_ERR_NOMEM : TAPER_ERR_DEVICE,
                            "cuda:%d: %s", ordinal, cudaGetErrorString(got));
    }
    cuda_device *d = new (std::nothrow) cuda_device();
    if (!d) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a device");
    d->ordinal = ordinal, d->precision = precision;
    snprintf(d->name, sizeof d->name, "cuda:%d", ordinal);
    device->name = d->name;
    device->memory = &memory_table;
    device->operations = &operation_table;
    device->group = &cuda_group_table;
    device->state = d;
    device->look_every = 16; /* small steps take less than a millisecond */
    device->block_rows = (size_t)32 * TRAIN_LEAST_ROWS;
    device->models_at_once = 4; /* small models use a small part of the device */
    device->open = open_stream, device->close = close_stream;
    return TAPER_OK;
}

void train_cuda_close(train_device *device) {
    if (device->state) cuda_group_leave(device);
    delete device_of(device);
    *device = train_device{};
}

cuda_keeper *cuda_keeper_of(const train_device *device) { return &device_of(device)->keeper; }

cuda_group *cuda_group_of(const train_device *device) { return &device_of(device)->group; }

int cuda_ordinal(const train_device *device) { return device_of(device)->ordinal; }

train_precision cuda_precision(const train_device *device) { return device_of(device)->precision; }
