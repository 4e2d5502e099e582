/* every_device.h -- the devices on which every operation is tested: the processor with one thread
 * and with three, and the shadow device; with EVERY_DEVICE_KERNELS also the GPU kernels on the
 * execution model (tests/cuda/). */
#ifndef TESTS_EVERY_DEVICE_H
#define TESTS_EVERY_DEVICE_H
#include "on_device.h"
#include <math.h>
#include <stdbool.h>

enum { PROCESSORS = 3 };
#ifdef EVERY_DEVICE_KERNELS
enum { DEVICES = 4 };
#else
enum { DEVICES = 3 };
#endif
static on_device device[DEVICES];

/* When the execution model performs work on streams (tests/cuda/model.h). */
#if defined(EVERY_DEVICE_KERNELS) && !defined(EVERY_DEVICE_GPU)
enum { TIMINGS = 3 };
static inline void set_timing(int timing) { cuda_model_set_timing((cuda_model_timing)timing); }
static inline void one_order(void) {
    cuda_model_orders(1);
} /* one order of threads only; for long trainings */
#else
enum { TIMINGS = 1 };
static inline void set_timing(int timing) { (void)timing; }
static inline void one_order(void) {}
#endif

static int open_every_device(void **state) {
    (void)state;
    on_device_open_threads(&device[0], TRAIN_PROCESSOR, 1);
    on_device_open_threads(&device[1], TRAIN_PROCESSOR, 3);
    on_device_open_threads(&device[2], TRAIN_SHADOW, 2);
#ifdef EVERY_DEVICE_KERNELS
    on_device_open_cuda(&device[3]);
#endif
    return 0;
}

static int close_every_device(void **state) {
    (void)state;
    for (int i = 0; i < DEVICES; i++) on_device_close(&device[i]);
    return 0;
}

/* Type of the elements, by the type of the pointer. */
typedef enum numbers { BYTES, FLOATS, DOUBLES } numbers;
#define NUMBERS_OF(x) \
    _Generic((x), float *: FLOATS, const float *: FLOATS, double *: DOUBLES, \
        const double *: DOUBLES, default: BYTES)

/* True if b equals a up to the order of sums. Both may be the same NaN or infinity. */
static inline bool is_near(double a, double b, double tolerance) {
    if (!isfinite(a) || !isfinite(b)) return (isnan(a) && isnan(b)) || a == b;
    return fabs(a - b) <= tolerance * (1.0 + fabs(a));
}

/* Check that the result of device i is that of the first: bit for bit on processors, up to the
 * order of sums on others. */
static inline bool agrees(int i, numbers what, const void *first, const void *got, size_t bytes) {
    if (i < PROCESSORS || what == BYTES) return memcmp(first, got, bytes) == 0;
    size_t n = bytes / (what == FLOATS ? sizeof(float) : sizeof(double));
    for (size_t k = 0; k < n; k++) {
        double a = what == FLOATS ? (double)((const float *)first)[k] : ((const double *)first)[k],
               b = what == FLOATS ? (double)((const float *)got)[k] : ((const double *)got)[k];
        if (!is_near(a, b, 1e-5)) return false;
    }
    return true;
}

#endif
