/* cuda_runtime.h -- an execution model of CUDA on the processor, for running kernels without a GPU.
 *
 * Each thread of a block is a fibre. It runs until it waits at a barrier or for its warp, and is
 * not interrupted otherwise; a warp runs ahead of the others until it reaches a barrier. Every
 * launch is run three times from the same memory, with blocks, warps and lanes in ascending,
 * descending and pseudo-random order. If the device's memory then differs, the program ends and
 * names the kernel. It also ends at a barrier that not all threads of a block reach, and if lanes
 * of a warp wait for different things. Shared memory and new device memory are filled with NaN.
 * Each array is a separate allocation, so that the address sanitizer finds accesses out of bounds;
 * use the model with it.
 *
 * Streams. Queued work runs immediately, or late if tests choose so (model.h): when the host waits
 * for it, or when other work that is due depends on it. A missing wait then reads old bytes.
 *
 * Ranks are processes, each with its own model. A message of another rank that is not there yet
 * stops its stream (nccl.cc). The program ends if the host waits for such a stream, because on a
 * GPU it would wait for ever if the other rank has ended; cudaEventQuery is what it may call.
 *
 * Threads. Any thread may call; launches of several threads are serialised. Each thread has its own
 * last error.
 *
 * The model does not show properties of hardware: timing of warps, tensor cores, caches, occupancy.
 *
 * Mutants. Each BARRIER and each BELOW is a site, "kind file:line.number", because a line may have
 * several. They show which sites the tests check (tests/mutants.sh).
 *   TAPER_MODEL_SITES=FILE    appends the sites that the program reached
 *   TAPER_MODEL_MUTANT=SITE   omits that barrier or widens that bound by one; tests should fail
 *
 * Counting.
 *   TAPER_MODEL_COUNT=FILE      runs no kernel, and writes a line for each operation: its name, the
 *                               bytes of its arrays, and the multiply-adds of a product. It gives
 *                               the cost of a step without running it (bench/gpu/count.py).
 *   TAPER_MODEL_LAUNCHES=FILE   appends the number of launches when the program ends
 *
 * Failures (model.h has the same for tests in C).
 *   TAPER_MODEL_FAIL=busy            the device is used by another process
 *   TAPER_MODEL_FAIL=allocation:N    its Nth allocation fails
 *   TAPER_MODEL_FAIL=launch:N        the Nth launch loses it
 *   TAPER_MODEL_LT=missing           cuBLASLt is not installed
 *   TAPER_MODEL_LT=plain             cuBLASLt has no epilogues
 *   TAPER_MODEL_NCCL=missing         NCCL is not installed
 *   TAPER_MODEL_DEVICES=N            the machine has N devices
 *
 * The functions below are those of the CUDA runtime that the project uses, under their own names.
 *
 * Directory tests/cuda/: headers under the names of NVIDIA's, and the model behind them.
 *   cuda_runtime.h   this header; dlfcn.h, train/cuda/marks.h: in place of these headers
 *   cuda_model       blocks of fibres
 *   model            its interface for tests, in C
 *   cuda_runtime     memory and devices; injected failures, for tests
 *   cuda_streams     streams and events
 *   cublaslt         NVIDIA's matrix products, cuBLASLt: descriptors
 *   cublaslt_matmul  its heuristic and the product
 *   cublaslt_parts   internals shared by these two
 *   nccl             NVIDIA's NCCL, between processes
 *   libraries        which of these a name is */
#ifndef TESTS_CUDA_MODEL_H
#define TESTS_CUDA_MODEL_H
#include "model.h"
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
/* Of the running thread. */
extern cuda_model_index threadIdx, blockIdx, blockDim, gridDim;

struct cuda_model_site {
    const char *kind, *file;
    /* In the file; number in its translation unit. */
    int line, number;
    int is_mutant; /* 0: not yet known, 1: no, 2: yes */
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

/* Exchange among the lanes of a warp: all lanes call it. */
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
    cudaErrorNotReady = 600,
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
typedef struct cudaUUID_t {
    char bytes[16];
} cudaUUID_t;
struct cudaDeviceProp {
    char name[256];
    cudaUUID_t uuid;
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
cudaError_t cudaEventQuery(cudaEvent_t event);

/* --- of the model itself ---------------------------------------------------------------- */

/* The calling thread owns the model during the lifetime of this object. */
struct cuda_model_guard {
    cuda_model_guard();
    ~cuda_model_guard();
    cuda_model_guard(const cuda_model_guard &) = delete;
};

extern cuda_model_machine cuda_model_here;
/* Writes a line to the file of TAPER_MODEL_COUNT. Returns 1 if operations are only counted. */
int cuda_model_counts(const char *operation, uint64_t bytes, uint64_t multiply_adds);
/* Queues work on a stream; NULL: the default stream, on which it runs immediately. */
void cuda_model_put(cudaStream_t stream, std::function<void()> work);
/* The same, but the work returns whether it is done; if not, it is called again. */
void cuda_model_put_waiting(cudaStream_t stream, std::function<bool()> work);
void cuda_model_put_launch(cudaStream_t stream, const char *kernel, size_t blocks, size_t threads,
                           std::function<void()> body);
/* A kernel bound to its present arguments. */
template <typename K, typename... A>
static inline std::function<void()> cuda_model_bind(K kernel, A... arguments) {
    return [kernel, arguments...] { kernel(arguments...); };
}
/* Runs all queued work. */
void cuda_model_finish(void);
/* Whether the device is lost; sets the last error then. */
int cuda_model_is_lost(void);
int cuda_model_is_counting(void);
/* The calling thread's last error becomes it; returns it. */
cudaError_t cuda_model_set_error(cudaError_t error);
/* Ends the program with a message unless is_so. */
void cuda_model_require(bool is_so, const char *what);
/* Queues a check that the factors rounded[n] are at[n], rounded. */
void cuda_model_rounded(cudaStream_t stream, size_t n, const float *at, const uint16_t *rounded);
/* Whether these bytes are within one allocation of device memory. */
int cuda_model_is_given(const void *at, size_t bytes);
/* Counts a launch; returns whether it is to fail. */
int cuda_model_launch_fails(void);
/* Saves all device memory, compares it with what was saved, restores it. */
struct cuda_model_memory;
cuda_model_memory *cuda_model_save(void);
int cuda_model_is_same(const cuda_model_memory *saved);
void cuda_model_restore(const cuda_model_memory *saved);
void cuda_model_forget(cuda_model_memory *saved);
#endif
