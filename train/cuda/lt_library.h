/* lt_library.h -- cuBLASLt's functions, looked up at the first product, so that the program also
 * runs without the library. */
#ifndef TRAIN_CUDA_LT_LIBRARY_H
#define TRAIN_CUDA_LT_LIBRARY_H
#include <cublasLt.h>

/* Under their own names. */
#define LT_FUNCTIONS(X)                     \
    X(cublasLtCreate)                       \
    X(cublasLtDestroy)                      \
    X(cublasLtGetStatusString)              \
    X(cublasLtMatmulDescCreate)             \
    X(cublasLtMatmulDescDestroy)            \
    X(cublasLtMatmulDescSetAttribute)       \
    X(cublasLtMatrixLayoutCreate)           \
    X(cublasLtMatrixLayoutDestroy)          \
    X(cublasLtMatmulPreferenceCreate)       \
    X(cublasLtMatmulPreferenceDestroy)      \
    X(cublasLtMatmulPreferenceSetAttribute) \
    X(cublasLtMatmulAlgoGetHeuristic)       \
    X(cublasLtMatmul)

typedef struct cuda_lt_library {
#define LT_MEMBER(name) decltype(&::name) name;
    LT_FUNCTIONS(LT_MEMBER)
#undef LT_MEMBER
} cuda_lt_library;

/* The library's release is that of the headers at compile time, because constants may differ. */
#define LT_WORD(x)  #x
#define LT_SAID(x)  LT_WORD(x)
#define LT_FILENAME "libcublasLt.so." LT_SAID(CUBLAS_VER_MAJOR)

/* Returns NULL if it cannot be loaded; the next call tries again. Any thread may call it. */
const cuda_lt_library *cuda_lt_load(void);

#endif
