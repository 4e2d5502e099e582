/* model.h -- what tests ask of the execution model (cuda_model.h), in C. */
#ifndef TRAIN_CUDA_MODEL_TESTS_H
#define TRAIN_CUDA_MODEL_TESTS_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

/* What the machine is like. devices 0: none; capability 75: compute capability 7.5; driver: the
 * CUDA version it has, 12040 for 12.4, 0: none is installed. */
typedef struct cuda_model_machine {
    int devices, capability, driver;
    int busy;       /* 1: no memory is given out, as another process has the device for itself */
    uint64_t bytes; /* of memory; 0: TAPER_MODEL_BYTES, or 1 GiB, or where operations are counted
                       alone an H200's */
} cuda_model_machine;
void cuda_model_set_machine(cuda_model_machine machine);

/* Allocation number `allocation` from now (1 is the next; 0: none) fails, and launch number
 * `launch` loses the device, for good, until this is called again. */
void cuda_model_fail(uint64_t allocation, uint64_t launch);
void cuda_model_count(uint64_t *allocations, uint64_t *launches); /* since then */
/* When what is put on streams is done: at once; as late as may be; so late, but for copies beside
 * kernels (on streams on which none was ever launched), which are done as early as may be. At first
 * at once, or TAPER_MODEL_TIMING (0, 1, 2). */
typedef enum cuda_model_timing {
    CUDA_MODEL_AT_ONCE = 0,
    CUDA_MODEL_LATE = 1,
    CUDA_MODEL_COPIES_EARLY = 2
} cuda_model_timing;
void cuda_model_set_timing(cuda_model_timing timing);
/* How many orders a launch is made in, 1 to 3; at first TAPER_MODEL_ORDERS, or 3. Long trainings
 * want one. */
void cuda_model_orders(int orders);

#ifdef __cplusplus
}
#endif
#endif
