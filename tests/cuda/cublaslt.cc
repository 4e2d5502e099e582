/* cublaslt.cc -- cuBLASLt's library, its handles and their attributes; see cublasLt.h. */
#include "cublasLt.h"
#include "cublaslt_parts.h"
#include "cuda_runtime.h"
#include "train/device/elements.h"
#include <map>
#include <set>
#include <stdlib.h>
#include <string>

/* --- for tests ------------------------------------------------------------------------- */

static int installed = -1;
static uint64_t calls, call_to_fail;
static cublasStatus_t failure;
static std::set<const void *> alive;

void cuda_model_set_lt(cuda_model_lt lt) { installed = lt; }

static int what_is_installed() {
    const char *given = getenv("TAPER_MODEL_LT");
    const bool missing = given && !strcmp(given, "missing");
    if (installed < 0) installed = missing ? CUDA_MODEL_LT_MISSING : CUDA_MODEL_LT_WHOLE;
    return installed;
}

void cuda_model_fail_lt(uint64_t call, int status) {
    calls = 0, call_to_fail = call, failure = (cublasStatus_t)status;
}
uint64_t cuda_model_lt_calls(void) { return calls; }
size_t cuda_model_lt_alive(void) { return alive.size(); }

cublasStatus_t cuda_model_lt_begins(void) {
    const cuda_model_guard guard;
    return ++calls == call_to_fail ? failure : CUBLAS_STATUS_SUCCESS;
}
bool cuda_model_lt_is(const void *handle) { return alive.count(handle) != 0; }

void cuda_model_rounded(cudaStream_t stream, size_t n, const float *at, const uint16_t *rounded) {
    if (cuda_model_is_counting()) return;
    cuda_model_put(stream, [n, at, rounded] {
        if (cuda_model_is_lost()) return;
        for (size_t i = 0; i < n; i++)
            cuda_model_require(rounded[i] == train_to_bfloat16(at[i]),
                               "a product's copy of weights is old");
    });
}

/* --- the library ----------------------------------------------------------------------- */

void *cuda_model_lt_open(const char *name) {
    static const std::string file = "libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR);
    const int there = what_is_installed();
    const bool elsewhere = there == CUDA_MODEL_LT_ELSEWHERE;
    if (there == CUDA_MODEL_LT_MISSING) return nullptr;
    return name == (elsewhere ? "/usr/local/cuda/lib/" + file : file) ? &alive : nullptr;
}

void *cuda_model_lt_find(const char *name) {
#define FUNCTION(name) \
    { #name, (void *)name }
    static const std::map<std::string, void *> functions = {
        FUNCTION(cublasLtCreate),
        FUNCTION(cublasLtDestroy),
        FUNCTION(cublasLtGetStatusString),
        FUNCTION(cublasLtMatmulDescCreate),
        FUNCTION(cublasLtMatmulDescDestroy),
        FUNCTION(cublasLtMatmulDescSetAttribute),
        FUNCTION(cublasLtMatrixLayoutCreate),
        FUNCTION(cublasLtMatrixLayoutDestroy),
        FUNCTION(cublasLtMatmulPreferenceCreate),
        FUNCTION(cublasLtMatmulPreferenceDestroy),
        FUNCTION(cublasLtMatmulPreferenceSetAttribute),
        FUNCTION(cublasLtMatmulAlgoGetHeuristic),
        FUNCTION(cublasLtMatmul),
    };
#undef FUNCTION
    const bool hidden = what_is_installed() == CUDA_MODEL_LT_INCOMPLETE;
    const auto found = functions.find(name);
    if (found == functions.end() || (hidden && found->first == "cublasLtMatmul")) return nullptr;
    return found->second;
}

const char *cublasLtGetStatusString(cublasStatus_t status) {
    switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED: return "not initialised";
    case CUBLAS_STATUS_ALLOC_FAILED: return "no memory";
    case CUBLAS_STATUS_INVALID_VALUE: return "an invalid value";
    case CUBLAS_STATUS_ARCH_MISMATCH: return "not on this architecture";
    case CUBLAS_STATUS_EXECUTION_FAILED: return "not executed";
    case CUBLAS_STATUS_INTERNAL_ERROR: return "an internal error";
    case CUBLAS_STATUS_NOT_SUPPORTED: return "not supported";
    }
    return "unknown";
}

/* --- handles --------------------------------------------------------------------------- */

template <typename T> static cublasStatus_t make(T **handle, const T &what) {
    const cuda_model_guard guard;
    const cublasStatus_t status = cuda_model_lt_begins();
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
    *handle = new T(what);
    alive.insert(*handle);
    return CUBLAS_STATUS_SUCCESS;
}

/* NULL is legal, except for the library's own handle. */
template <typename T> static cublasStatus_t end(T *handle) {
    const cuda_model_guard guard;
    if (handle && !alive.erase(handle)) return CUBLAS_STATUS_INVALID_VALUE;
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
    if (cuda_model_is_lost()) return CUBLAS_STATUS_NOT_INITIALIZED;
    return make(handle, cublasLtContext{0});
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
    return handle ? end(handle) : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *product, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
    return make(
        product,
        cublasLtMatmulDescOpaque_t{
            compute, scale, {CUBLAS_OP_N, CUBLAS_OP_N}, CUBLASLT_EPILOGUE_DEFAULT, nullptr, -1});
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t product) { return end(product); }

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *matrix, cudaDataType_t type,
                                          uint64_t rows, uint64_t columns, int64_t stride) {
    return make(matrix, cublasLtMatrixLayoutOpaque_t{type, rows, columns, stride});
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t matrix) { return end(matrix); }

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *wish) {
    return make(wish, cublasLtMatmulPreferenceOpaque_t{
                          0, CUBLASLT_REDUCTION_SCHEME_MASK, {256, 256, 256, 256}});
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t wish) {
    return end(wish);
}

/* --- attributes ------------------------------------------------------------------------ */

/* The address of an attribute and its size, which the given value must have. */
struct place {
    void *at;
    size_t bytes;
};
template <typename T> static place place_of(T *at) { return {at, sizeof *at}; }

static cublasStatus_t set(const place &kept, const void *value, size_t bytes) {
    if (!kept.at || !value || bytes != kept.bytes) return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(kept.at, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t product,
                                              cublasLtMatmulDescAttributes_t name,
                                              const void *value, size_t bytes) {
    const cuda_model_guard guard;
    const cublasStatus_t status = cuda_model_lt_begins();
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    if (!cuda_model_lt_is(product)) return CUBLAS_STATUS_INVALID_VALUE;
    switch (name) {
    case CUBLASLT_MATMUL_DESC_TRANSA: return set(place_of(&product->transposed[0]), value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB: return set(place_of(&product->transposed[1]), value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE: return set(place_of(&product->epilogue), value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return set(place_of(&product->vector), value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
        return set(place_of(&product->vector_type), value, bytes);
    }
    return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t wish,
                                                    cublasLtMatmulPreferenceAttributes_t name,
                                                    const void *value, size_t bytes) {
    const cuda_model_guard guard;
    const cublasStatus_t status = cuda_model_lt_begins();
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    if (!cuda_model_lt_is(wish)) return CUBLAS_STATUS_INVALID_VALUE;
    switch (name) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
        return set(place_of(&wish->workspace), value, bytes);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
        return set(place_of(&wish->schemes), value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
        return set(place_of(&wish->alignment[name - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES]),
                   value, bytes);
    }
    return CUBLAS_STATUS_INVALID_VALUE;
}
