/* cublaslt_parts.h -- the contents of cuBLASLt's handles in the model; see cublasLt.h. */
#ifndef TESTS_CUDA_CUBLASLT_PARTS_H
#define TESTS_CUDA_CUBLASLT_PARTS_H
#include "cublasLt.h"

struct cublasLtContext {
    int device;
};
/* Columns are `stride` elements apart. */
struct cublasLtMatrixLayoutOpaque_t {
    cudaDataType_t type;
    uint64_t rows, columns;
    int64_t stride;
};
struct cublasLtMatmulDescOpaque_t {
    cublasComputeType_t compute;
    cudaDataType_t scale;
    int32_t transposed[2]; /* cublasOperation_t of A, of B */
    uint32_t epilogue;
    void *vector; /* that the epilogue reads or writes */
    int32_t vector_type;
};
struct cublasLtMatmulPreferenceOpaque_t {
    uint64_t workspace;
    uint32_t schemes;
    uint32_t alignment[4]; /* of A, B, C, D */
};

/* For libraries.cc. NULL: there is no such library, or function. */
void *cuda_model_lt_open(const char *name);
void *cuda_model_lt_find(const char *function);

/* Called at the beginning of each function: counts the call, and returns the error of a test. */
cublasStatus_t cuda_model_lt_begins(void);
/* Whether the handle exists: created and not yet destroyed. */
bool cuda_model_lt_is(const void *handle);

#endif
