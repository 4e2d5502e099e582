/* cuda_runtime.cc -- the CUDA runtime in host memory; see cuda_runtime.h. */
#include "cuda_runtime.h"
#include <algorithm>
#include <map>
#include <mutex>
#include <stdio.h>
#include <stdlib.h>
#include <vector>

cuda_model_machine cuda_model_here = {1, 90, 13000, 0, 0};
void cuda_model_set_machine(cuda_model_machine machine) { cuda_model_here = machine; }

struct cuda_model_memory {
    std::map<char *, std::vector<char>> piece;
};

static std::map<char *, size_t> pieces;
static thread_local cudaError_t last_error;
static bool lost;
static uint64_t allocations, launches, fail_allocation, fail_launch;

static std::map<char *, size_t> host_pieces; /* page-locked memory */

static std::recursive_mutex having;
cuda_model_guard::cuda_model_guard() { having.lock(); }
cuda_model_guard::~cuda_model_guard() { having.unlock(); }

static cudaError_t set_error(cudaError_t error) {
    if (error != cudaSuccess) last_error = error;
    return error;
}

cudaError_t cuda_model_set_error(cudaError_t error) { return set_error(error); }

/* --- devices --------------------------------------------------------------------------- */

const char *cudaGetErrorString(cudaError_t error) {
    switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInsufficientDriver:
        return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorDevicesUnavailable: return "all CUDA-capable devices are busy or unavailable";
    case cudaErrorNoDevice: return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice: return "invalid device ordinal";
    case cudaErrorNotReady: return "device not ready";
    case cudaErrorLaunchFailure: return "unspecified launch failure";
    }
    return "unknown error";
}

cudaError_t cudaGetLastError(void) {
    const cuda_model_guard guard;
    cudaError_t error = last_error;
    last_error = lost ? cudaErrorLaunchFailure : cudaSuccess;
    return error;
}

cudaError_t cudaGetDeviceCount(int *count) {
    *count = 0;
    if (cuda_model_here.driver < 12000) return set_error(cudaErrorInsufficientDriver);
    if (!cuda_model_here.devices) return set_error(cudaErrorNoDevice);
    *count = cuda_model_here.devices;
    return cudaSuccess;
}

static size_t all_memory() {
    const size_t gib = (size_t)1 << 30;
    const char *given = getenv("TAPER_MODEL_BYTES");
    if (cuda_model_here.bytes) return (size_t)cuda_model_here.bytes;
    if (given) return strtoull(given, nullptr, 10);
    return getenv("TAPER_MODEL_COUNT") ? 141 * gib : gib;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device) {
    if (device < 0 || device >= cuda_model_here.devices) return set_error(cudaErrorInvalidDevice);
    *properties = cudaDeviceProp{"execution model",
                                 {"device"},
                                 all_memory(),
                                 cuda_model_here.capability / 10,
                                 cuda_model_here.capability % 10,
                                 4};
    properties->uuid.bytes[15] = (char)(1 + device);
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version) {
    *version = cuda_model_here.driver;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
    if (device < 0 || device >= cuda_model_here.devices) return set_error(cudaErrorInvalidDevice);
    return cudaSuccess;
}

/* --- memory ---------------------------------------------------------------------------- */

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *all) {
    const cuda_model_guard guard;
    if (lost) return set_error(cudaErrorLaunchFailure);
    *free_bytes = *all = all_memory();
    for (const auto &piece : pieces) *free_bytes -= std::min(*free_bytes, piece.second);
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **memory, size_t bytes) {
    const cuda_model_guard guard;
    *memory = nullptr;
    if (lost) return set_error(cudaErrorLaunchFailure);
    if (cuda_model_here.busy) return set_error(cudaErrorDevicesUnavailable);
    size_t left = 0, all;
    cudaMemGetInfo(&left, &all);
    if (++allocations == fail_allocation || bytes > left)
        return set_error(cudaErrorMemoryAllocation);
    char *piece = nullptr;
    if (posix_memalign((void **)&piece, 256, bytes)) return set_error(cudaErrorMemoryAllocation);
    memset(piece, 0xff, bytes);
    pieces[piece] = bytes;
    *memory = piece;
    return cudaSuccess;
}

cudaError_t cudaFree(void *memory) {
    const cuda_model_guard guard;
    cuda_model_finish();
    if (memory && !pieces.erase((char *)memory)) return set_error(cudaErrorInvalidValue);
    free(memory);
    return lost ? set_error(cudaErrorLaunchFailure) : cudaSuccess;
}

cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned) {
    const cuda_model_guard guard;
    *memory = nullptr;
    if (lost) return set_error(cudaErrorLaunchFailure);
    if (++allocations == fail_allocation) return set_error(cudaErrorMemoryAllocation);
    char *piece = (char *)malloc(bytes);
    if (!piece) return set_error(cudaErrorMemoryAllocation);
    memset(piece, 0xff, bytes);
    host_pieces[piece] = bytes;
    *memory = piece;
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *memory) {
    const cuda_model_guard guard;
    if (memory && !host_pieces.erase((char *)memory)) return set_error(cudaErrorInvalidValue);
    free(memory);
    return lost ? set_error(cudaErrorLaunchFailure) : cudaSuccess;
}

/* Whether these bytes are within one of the allocations. */
static bool is_within(const std::map<char *, size_t> &which, const void *from, size_t bytes) {
    auto at = which.upper_bound((char *)from);
    if (at == which.begin()) return false;
    --at;
    return (const char *)from + bytes <= at->first + at->second;
}

int cuda_model_is_given(const void *at, size_t bytes) { return is_within(pieces, at, bytes); }

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream) {
    const cuda_model_guard guard;
    if (lost) return set_error(cudaErrorLaunchFailure);
    if (!is_within(pieces, to, bytes)) return set_error(cudaErrorInvalidValue);
    cuda_model_put(stream, [=] { memset(to, value, bytes); });
    return cudaSuccess;
}

/* With pageable host memory the host waits. */
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    const cuda_model_guard guard;
    if (lost) return set_error(cudaErrorLaunchFailure);
    if ((kind != cudaMemcpyDeviceToHost && !is_within(pieces, to, bytes)) ||
        (kind != cudaMemcpyHostToDevice && !is_within(pieces, from, bytes)))
        return set_error(cudaErrorInvalidValue);
    cuda_model_put(stream, [=] { memcpy(to, from, bytes); });
    const void *host = kind == cudaMemcpyHostToDevice ? from : to;
    if (kind == cudaMemcpyDeviceToDevice || is_within(host_pieces, host, bytes)) return cudaSuccess;
    return cudaStreamSynchronize(stream);
}

/* --- for tests ------------------------------------------------------------------------- */

/* Reads TAPER_MODEL_FAIL and TAPER_MODEL_DEVICES before the program starts. */
__attribute__((constructor)) static void fail_as_asked() {
    const char *how = getenv("TAPER_MODEL_FAIL");
    const char *devices = getenv("TAPER_MODEL_DEVICES");
    unsigned long long number;
    if (devices) cuda_model_here.devices = atoi(devices);
    if (!how) return;
    cuda_model_here.busy = !strcmp(how, "busy");
    if (sscanf(how, "allocation:%llu", &number) == 1) fail_allocation = number;
    if (sscanf(how, "launch:%llu", &number) == 1) fail_launch = number;
}

__attribute__((destructor)) static void say_launches() {
    const char *path = getenv("TAPER_MODEL_LAUNCHES");
    FILE *to = path ? fopen(path, "a") : nullptr;
    if (!to) return;
    fprintf(to, "%llu\n", (unsigned long long)launches);
    fclose(to);
}

void cuda_model_fail(uint64_t allocation, uint64_t launch) {
    allocations = launches = 0;
    fail_allocation = allocation, fail_launch = launch;
    lost = false, last_error = cudaSuccess;
}

void cuda_model_count(uint64_t *of_allocations, uint64_t *of_launches) {
    *of_allocations = allocations, *of_launches = launches;
}

int cuda_model_is_lost(void) {
    const cuda_model_guard guard;
    if (lost) last_error = cudaErrorLaunchFailure;
    return lost;
}

int cuda_model_launch_fails(void) {
    const cuda_model_guard guard;
    if (++launches == fail_launch) lost = true;
    return cuda_model_is_lost();
}

cuda_model_memory *cuda_model_save(void) {
    cuda_model_memory *saved = new cuda_model_memory;
    for (const auto &p : pieces)
        saved->piece[p.first] = std::vector<char>(p.first, p.first + p.second);
    return saved;
}

int cuda_model_is_same(const cuda_model_memory *saved) {
    for (const auto &p : saved->piece)
        if (memcmp(p.first, p.second.data(), p.second.size()) != 0) return 0;
    return 1;
}

void cuda_model_restore(const cuda_model_memory *saved) {
    for (const auto &p : saved->piece) memcpy(p.first, p.second.data(), p.second.size());
}

void cuda_model_forget(cuda_model_memory *saved) { delete saved; }
