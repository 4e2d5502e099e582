/* model.h -- the interface of the execution model (cuda_runtime.h) for tests, in C. */
#ifndef TESTS_CUDA_MODEL_TESTS_H
#define TESTS_CUDA_MODEL_TESTS_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

/* The simulated machine. devices 0: none. capability 75: compute capability 7.5. driver: its CUDA
 * version, 12040 for 12.4; 0: none is installed. */
typedef struct cuda_model_machine {
    int devices, capability, driver;
    /* 1: allocations fail, because another process uses the device exclusively */
    int busy;
    /* Bytes of memory. 0: TAPER_MODEL_BYTES, or 1 GiB, or an H200's if operations are only
     * counted. */
    uint64_t bytes;
} cuda_model_machine;
void cuda_model_set_machine(cuda_model_machine machine);

/* Allocation number `allocation` from now (1 is the next; 0: none) fails. Launch number `launch`
 * loses the device permanently, until this is called again. */
void cuda_model_fail(uint64_t allocation, uint64_t launch);
void cuda_model_count(uint64_t *allocations, uint64_t *launches); /* since then */
/* When queued work runs: immediately; as late as possible; or as late as possible, but copies on
 * streams without launches as early as possible. The default is immediately, or TAPER_MODEL_TIMING
 * (0, 1, 2). */
typedef enum cuda_model_timing {
    CUDA_MODEL_AT_ONCE = 0,
    CUDA_MODEL_LATE = 1,
    CUDA_MODEL_COPIES_EARLY = 2
} cuda_model_timing;
void cuda_model_set_timing(cuda_model_timing timing);
/* The number of orders in which a launch is run, 1 to 3; default TAPER_MODEL_ORDERS, or 3. Use 1
 * for long runs. */
void cuda_model_orders(int orders);

/* --- cuBLASLt (cublasLt.h) -------------------------------------------------------------- */

/* Which parts of cuBLASLt are installed. */
typedef enum cuda_model_lt {
    CUDA_MODEL_LT_WHOLE = 0,  /* all: the default, unless TAPER_MODEL_LT=missing */
    CUDA_MODEL_LT_MISSING,    /* it is not installed */
    CUDA_MODEL_LT_ELSEWHERE,  /* only below /usr/local/cuda */
    CUDA_MODEL_LT_INCOMPLETE, /* it has no cublasLtMatmul */
} cuda_model_lt;
void cuda_model_set_lt(cuda_model_lt lt);

/* How an epilogue (cublasLtEpilogue_t) is refused. By default none is; TAPER_MODEL_LT=plain:
 * all. */
typedef enum cuda_model_refusal {
    CUDA_MODEL_OFFERED = 0,  /* not refused */
    CUDA_MODEL_NOT_FOUND,    /* the heuristic finds no algorithm */
    CUDA_MODEL_NO_HEURISTIC, /* the heuristic returns "not supported", as some releases do */
    CUDA_MODEL_INVALID,      /* the heuristic returns "invalid value", as other releases do */
    CUDA_MODEL_BAD_STATE,    /* the heuristic has a result whose state is an error */
    CUDA_MODEL_NOT_RUN       /* the heuristic succeeds, and the product fails */
} cuda_model_refusal;
void cuda_model_refuse(unsigned epilogue, cuda_model_refusal how);
/* Number of products with this epilogue that were queued, since the program started. */
uint64_t cuda_model_products(unsigned epilogue);

/* Call number `call` from now (1 is the next; 0: none) of a function that can fail returns this
 * status. */
void cuda_model_fail_lt(uint64_t call, int status);
uint64_t cuda_model_lt_calls(void); /* since then */
/* Number of handles, descriptors, layouts and preferences that exist. */
size_t cuda_model_lt_alive(void);

/* --- NCCL (nccl.cc) --------------------------------------------------------------------- */

typedef enum cuda_model_nccl {
    CUDA_MODEL_NCCL_WHOLE = 0, /* the default, unless TAPER_MODEL_NCCL=missing */
    CUDA_MODEL_NCCL_MISSING,   /* it is not installed */
    CUDA_MODEL_NCCL_OLD        /* it has no ncclCommInitRankConfig, as before release 2.14 */
} cuda_model_nccl;
void cuda_model_set_nccl(cuda_model_nccl nccl);

/* Call number `call` from now (1 is the next; 0: none) of a function that can fail returns this
 * result. */
void cuda_model_fail_nccl(uint64_t call, int result);
uint64_t cuda_model_nccl_calls(void); /* since then */
/* From now on every communicator has this error; 0: none. */
void cuda_model_nccl_error(int result);
size_t cuda_model_nccl_alive(void); /* number of communicators that exist */

#ifdef __cplusplus
}
#endif
#endif
