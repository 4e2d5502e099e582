/* cuda_model.h -- an execution model of CUDA on the processor: what a kernel means, without a GPU.
 *
 * Each thread of a block is a fibre. It runs until it waits, at a barrier or for its warp, and is
 * never interrupted otherwise; a warp runs ahead of the others until it is at a barrier. Every
 * launch is made three times from the same memory, with blocks, warps and lanes in order, in
 * reverse and shuffled by a seed: where the bytes in the device's memory then differ, the program
 * ends and names the kernel. So do a barrier that not all threads of a block reach, and a warp
 * whose lanes wait for different things. Shared memory and new device memory hold NaN at first, and
 * both are pieces of their own to the address sanitizer, without which the model is of little use.
 *
 * Streams. What is put on a stream is done at once, or as tests choose (model.h) late: when the
 * host waits for it, or another stream's work that is due does. Who forgot to wait finds old bytes
 * then.
 *
 * Threads. Any may call: they take turns, a launch at a time. The last error is each thread's own.
 *
 * It cannot show what hardware adds: the timing of warps, tensor cores, caches, occupancy.
 *
 * Mutants. Each BARRIER and each BELOW is a site, "kind file:line.number", as a line may have
 * several. TAPER_MODEL_SITES=FILE appends the sites that a program came by, TAPER_MODEL_MUTANT=SITE
 * leaves that barrier out or widens that bound by one: tests that still pass then do not look at it
 * (tests/mutants.sh).
 *
 * Counting. TAPER_MODEL_COUNT=FILE runs no kernel, and writes a line for each operation: its name,
 * the bytes of its arrays, and the multiply-adds of a product: what a step costs, before it is made
 * (bench/gpu/count.py). TAPER_MODEL_LAUNCHES=FILE appends the number of a program's launches at its
 * end.
 *
 * Failures. TAPER_MODEL_FAIL=busy, allocation:N or launch:N: the device is another's, its Nth
 * allocation fails, or the Nth launch loses it (model.h has the same for tests in C).
 * TAPER_MODEL_LT=missing: cuBLASLt is not installed; plain: it has no epilogues.
 *
 * The functions below are CUDA's runtime, as far as it is used here, under its own names.
 *
 * The room train/cuda/model/: the model.
 *   cuda_model       its header, and blocks of fibres
 *   model            what tests ask of it, in C
 *   cuda_runtime     memory and devices; failures, for tests
 *   cuda_streams     streams and events
 *   cublaslt         NVIDIA's matrix products, cuBLASLt: descriptors
 *   cublaslt_matmul  ... its heuristic and the product
 *   cublaslt_parts   what these two share */
#ifndef TRAIN_CUDA_MODEL_H
#define TRAIN_CUDA_MODEL_H
#include "train/cuda/model/model.h"
#include <functional>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* --- kernels --------------------------------------------------------------------------- */

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(x)
#define __restrict__ __restrict

struct cuda_model_index {
    unsigned x;
};
/* Of the thread that runs. */
extern cuda_model_index threadIdx, blockIdx, blockDim, gridDim;

struct cuda_model_site {
    const char *kind, *file;
    int line, number; /* in the file; in all that is compiled with it */
    int is_mutant;    /* 0: not known yet, 1: no, 2: yes */
};
#define CUDA_MODEL_SITE(kind)                                                     \
    ([]() -> cuda_model_site * {                                                  \
        static cuda_model_site site = {kind, __FILE__, __LINE__, __COUNTER__, 0}; \
        return &site;                                                             \
    }())

void *cuda_model_shared(cuda_model_site *site, size_t bytes);
void cuda_model_barrier(cuda_model_site *site);
int cuda_model_is_mutant(cuda_model_site *site);
template <typename A, typename B>
static inline bool cuda_model_below(A i, B n, cuda_model_site *site) {
    return cuda_model_is_mutant(site) ? i <= (A)n : i < (A)n;
}
void cuda_model_launch(const char *kernel, size_t blocks, size_t threads,
                       const std::function<void()> &body);

/* Among the lanes of a warp: all call it. */
uint64_t cuda_model_exchange(uint64_t value, unsigned from_lane);
unsigned cuda_model_lane();

template <typename T> static inline T cuda_model_from_lane(T value, unsigned lane) {
    static_assert(sizeof(T) <= 8, "numbers alone");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    bits = cuda_model_exchange(bits, lane);
    memcpy(&value, &bits, sizeof value);
    return value;
}
template <typename T> static inline T __shfl_sync(unsigned, T value, int lane) {
    return cuda_model_from_lane(value, (unsigned)lane % 32);
}
template <typename T> static inline T __shfl_down_sync(unsigned, T value, unsigned apart) {
    unsigned lane = cuda_model_lane();
    return cuda_model_from_lane(value, lane + apart < 32 ? lane + apart : lane);
}
template <typename T> static inline T __shfl_xor_sync(unsigned, T value, int mask) {
    return cuda_model_from_lane(value, cuda_model_lane() ^ (unsigned)mask);
}
static inline uint32_t __float_as_uint(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
unsigned __ballot_sync(unsigned mask, int predicate);
void __syncwarp(unsigned mask = 0xffffffffu);

/* --- the runtime ----------------------------------------------------------------------- */

typedef enum cudaError {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInsufficientDriver = 35,
    cudaErrorDevicesUnavailable = 46,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorLaunchFailure = 719
} cudaError_t;
typedef struct cuda_model_stream *cudaStream_t;
typedef struct cuda_model_event *cudaEvent_t;
typedef enum cudaMemcpyKind {
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3
} cudaMemcpyKind;
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2, cudaHostAllocDefault = 0 };
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem;
    int major, minor, multiProcessorCount;
};

const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError(void);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *all);
cudaError_t cudaMalloc(void **memory, size_t bytes);
cudaError_t cudaFree(void *memory);
cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void *memory);
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);

/* --- of the model itself ---------------------------------------------------------------- */

/* The calling thread has the model, for as long as this lives. */
struct cuda_model_turn {
    cuda_model_turn();
    ~cuda_model_turn();
    cuda_model_turn(const cuda_model_turn &) = delete;
};

extern cuda_model_machine cuda_model_here;
/* A line of TAPER_MODEL_COUNT's file. 1: operations are counted alone. */
int cuda_model_counts(const char *operation, uint64_t bytes, uint64_t multiply_adds);
/* Put work on a stream; NULL: the default one, on which it is done at once. */
void cuda_model_put(cudaStream_t stream, std::function<void()> work);
void cuda_model_put_launch(cudaStream_t stream, const char *kernel, size_t blocks, size_t threads,
                           std::function<void()> body);
/* A kernel with its arguments, as they are now. */
template <typename K, typename... A>
static inline std::function<void()> cuda_model_bind(K kernel, A... arguments) {
    return [kernel, arguments...] { kernel(arguments...); };
}
/* All that is on streams is done. */
void cuda_model_finish(void);
/* Is the device lost? The error is noted then. */
int cuda_model_is_lost(void);
int cuda_model_is_counting(void);
/* Ends the program, saying what is not so. */
void cuda_model_require(bool is_so, const char *what);
/* Do these bytes lie in one piece of the device's memory? */
int cuda_model_is_given(const void *at, size_t bytes);
/* Does launch number `launch` fail? Counts it. */
int cuda_model_launch_fails(void);
/* All device memory: saved, compared with what was saved, put back. */
struct cuda_model_memory;
cuda_model_memory *cuda_model_save(void);
int cuda_model_is_same(const cuda_model_memory *saved);
void cuda_model_restore(const cuda_model_memory *saved);
void cuda_model_forget(cuda_model_memory *saved);
#endif
