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

/* --- cuBLASLt (cublaslt.h) -------------------------------------------------------------- */

/* What of it is there. */
typedef enum cuda_model_lt {
    CUDA_MODEL_LT_WHOLE = 0,  /* at first; TAPER_MODEL_LT=missing: not */
    CUDA_MODEL_LT_MISSING,    /* it is not installed */
    CUDA_MODEL_LT_ELSEWHERE,  /* it is, but only below /usr/local/cuda */
    CUDA_MODEL_LT_INCOMPLETE, /* it has no cublasLtMatmul */
} cuda_model_lt;
void cuda_model_set_lt(cuda_model_lt lt);

/* How an epilogue (cublasLtEpilogue_t) is refused. At first none is; TAPER_MODEL_LT=plain: all. */
typedef enum cuda_model_refusal {
    CUDA_MODEL_OFFERED = 0,  /* it is not */
    CUDA_MODEL_NOT_FOUND,    /* the heuristic finds no algorithm */
    CUDA_MODEL_NO_HEURISTIC, /* it says that it is not supported ... */
    CUDA_MODEL_INVALID,      /* ... or an invalid value, as releases of cuBLASLt do */
    CUDA_MODEL_BAD_STATE,    /* it has a result, whose state says so */
    CUDA_MODEL_NOT_RUN       /* it has one, and the product refuses it */
} cuda_model_refusal;
void cuda_model_refuse(unsigned epilogue, cuda_model_refusal how);
/* How many products have been put on streams with it, since the program began. */
uint64_t cuda_model_products(unsigned epilogue);

/* Call number `call` from now (1 is the next; 0: none) of a function that can fail does, with this
 * status. */
void cuda_model_fail_lt(uint64_t call, int status);
uint64_t cuda_model_lt_calls(void); /* since then */
/* Handles, descriptors, layouts and preferences that have not been destroyed. */
size_t cuda_model_lt_alive(void);

#ifdef __cplusplus
}
#endif
#endif
