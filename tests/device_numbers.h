/* device_numbers.h -- random numbers for tests of operations on every device, and comparison of the
 * results. The seed is printed; TAPER_TEST_SEED repeats a run. */
#ifndef TESTS_DEVICE_NUMBERS_H
#define TESTS_DEVICE_NUMBERS_H
#include "every_device.h"
#include "train/sampling/philox.h"
#include <stdio.h>

static uint64_t seed = 20261123, drawn;

static inline int open_all(void **state) {
    const char *given = getenv("TAPER_TEST_SEED");
    if (given) seed = strtoull(given, NULL, 10);
    printf("seed %llu\n", (unsigned long long)seed);
    return open_every_device(state);
}

static inline uint32_t draw_word(void) {
    uint32_t word[4];
    train_philox(seed, drawn++, 0, word);
    return word[0];
}

static inline uint32_t below(uint32_t n) { return train_philox_below(draw_word(), n); }

static inline float draw(float low, float high) {
    return low + (high - low) * train_philox_uniform(draw_word());
}

static inline void randomise(float *x, size_t n, float scale) {
    for (size_t i = 0; i < n; i++) x[i] = draw(-scale, scale);
}

static inline void give_back(void) {
    for (int i = 0; i < DEVICES; i++) on_device_forget(&device[i]);
}

/* Check that the result of device i is that of the first. */
#define same(i, first, got, bytes, what) check_same(i, NUMBERS_OF(got), first, got, bytes, what)
static inline void check_same(int i, numbers kind, const void *first, const void *got, size_t bytes,
                              const char *what) {
    if (!agrees(i, kind, first, got, bytes))
        fail_msg("%s: device %d gives other bits (seed %llu)", what, i, (unsigned long long)seed);
}

/* The same for an array on device i; that of device 0 becomes *first. same_bits: compare bits on
 * all devices. */
#define take_same(i, first, memory, bytes) \
    take_and_check(i, NUMBERS_OF(first), first, memory, bytes, #first)
#define same_bits(i, first, memory, bytes) take_and_check(i, BYTES, first, memory, bytes, #first)
static inline void take_and_check(int i, numbers kind, void *first, const void *memory,
                                  size_t bytes, const char *what) {
    char *got = malloc(bytes + 1);
    assert_non_null(got);
    on_device_take(&device[i], got, memory, bytes);
    if (!i) memcpy(first, got, bytes);
    check_same(i, kind, first, got, bytes, what);
    free(got);
}

static inline void close_to(const float *got, const double *want, size_t n, double tolerance,
                            const char *what) {
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)got[i] - want[i]) <= tolerance * (1.0 + fabs(want[i]))))
            fail_msg("%s: element %zu is %g, expected %g (seed %llu)", what, i, (double)got[i],
                     want[i], (unsigned long long)seed);
}

#endif
