/* on_device.h -- a device for a test, arrays on it, upload and download. */
#ifndef TESTS_ON_DEVICE_H
#define TESTS_ON_DEVICE_H
#include "train/device/operations.h"
#include "train/processor/processor.h"
#include "cmocka_all.h"
#include <stdlib.h>
#include <string.h>

enum { ON_DEVICE_MOST = 64 };

typedef struct on_device {
    codec_backend be;
    train_device device;
    train_stream stream;
    int cuda;    /* 1: a GPU, or kernels on the execution model */
    int guarded; /* 1: the address sanitizer guards its arrays, which need no guard bytes */
    struct {
        void *memory;
        size_t bytes;
    } given[ON_DEVICE_MOST];
    int n;
} on_device;

static inline void on_device_open_threads(on_device *d, train_processor_kind kind,
                                          unsigned threads) {
    *d = (on_device){0};
    codec_backend_cpu(&d->be);
    assert_int_equal(codec_backend_set_threads(&d->be, threads), TAPER_OK);
    assert_int_equal(train_processor_open(&d->device, &d->be, kind), TAPER_OK);
    assert_int_equal(train_stream_open(&d->stream, &d->device), TAPER_OK);
}
static inline void on_device_open(on_device *d, train_processor_kind kind) {
    on_device_open_threads(d, kind, 1);
}

#ifdef EVERY_DEVICE_KERNELS
#include "train/cuda/cuda.h"
#ifdef EVERY_DEVICE_GPU
enum { ON_DEVICE_GUARDED = 0 };
#else
#include "cuda/model.h"
enum { ON_DEVICE_GUARDED = 1 };
#endif
/* TAPER_TEST=NAME: run that test function only (tests/mutants.sh). */
__attribute__((constructor)) static void on_device_one_test(void) {
    const char *name = getenv("TAPER_TEST");
    if (name) cmocka_set_test_filter(name);
}

static inline void on_device_open_precision(on_device *d, train_precision precision) {
    taper_error error = {0};
    *d = (on_device){.cuda = 1, .guarded = ON_DEVICE_GUARDED};
    if (train_cuda_open(&d->device, 0, precision, &error) != TAPER_OK) fail_msg("%s", error.text);
    assert_int_equal(train_stream_open(&d->stream, &d->device), TAPER_OK);
}
static inline void on_device_open_cuda(on_device *d) { on_device_open_precision(d, TRAIN_FLOAT32); }
static inline void on_device_close_kind(on_device *d) {
    if (d->cuda)
        train_cuda_close(&d->device);
    else
        train_processor_close(&d->device);
}
#else
static inline void on_device_close_kind(on_device *d) { train_processor_close(&d->device); }
#endif

static inline void on_device_take(on_device *d, void *host, const void *memory, size_t bytes) {
    assert_int_equal(train_download(&d->stream, host, memory, bytes), TAPER_OK);
}

/* A copy of host[bytes] on the device, between guard bytes; host NULL: bytes of NaN. */
enum { ON_DEVICE_RING = 64, ON_DEVICE_CANARY = 0xa5 };
static inline size_t on_device_ring(const on_device *d) { return d->guarded ? 0 : ON_DEVICE_RING; }
static inline void *on_device_give(on_device *d, const void *host, size_t bytes) {
    void *memory;
    const size_t ring = on_device_ring(d), size = bytes + 2 * ring;
    assert_true(d->n < ON_DEVICE_MOST);
    assert_int_equal(d->device.memory->alloc(&d->device, size ? size : 1, &memory), TAPER_OK);
    d->given[d->n].memory = memory;
    d->given[d->n++].bytes = bytes;
    unsigned char *all = malloc(size + 1);
    assert_non_null(all);
    memset(all, ON_DEVICE_CANARY, size);
    if (host)
        memcpy(all + ring, host, bytes);
    else
        memset(all + ring, 0xff, bytes);
    assert_int_equal(train_upload(&d->stream, memory, all, size), TAPER_OK);
    free(all);
    return (char *)memory + ring;
}

static inline void on_device_check_rings(on_device *d) {
    for (int i = 0; i < d->n && !d->guarded; i++) {
        unsigned char ring[ON_DEVICE_RING];
        char *memory = d->given[i].memory;
        for (int end = 0; end < 2; end++) {
            on_device_take(d, ring, memory + (end ? ON_DEVICE_RING + d->given[i].bytes : 0),
                           sizeof ring);
            for (int b = 0; b < ON_DEVICE_RING; b++) assert_int_equal(ring[b], ON_DEVICE_CANARY);
        }
    }
}

/* Free an array, for tests that use few arrays at a time. */
static inline void on_device_forget(on_device *d) {
    on_device_check_rings(d);
    for (int i = 0; i < d->n; i++)
        d->device.memory->release(&d->device, d->given[i].memory,
                                  d->given[i].bytes + 2 * on_device_ring(d));
    d->n = 0;
}

static inline void on_device_close(on_device *d) {
    on_device_forget(d);
    train_stream_close(&d->stream);
    on_device_close_kind(d);
    codec_backend_close(&d->be);
}

#endif
