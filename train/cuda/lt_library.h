/* lt_library.h -- cuBLASLt's functions, which are looked for when the first product is made: a
 * machine without the library runs the same program. Where they come from is the one thing in which
 * products differ under nvcc and on the execution model (train/cuda/model/cublaslt.h). */
#ifndef TRAIN_CUDA_LT_LIBRARY_H
#define TRAIN_CUDA_LT_LIBRARY_H
#ifdef __CUDACC__
#include <cublasLt.h>
#include <dlfcn.h>
#define LT_OPEN(name)          dlopen(name, RTLD_NOW | RTLD_LOCAL)
#define LT_FIND(library, name) dlsym(library, name)
enum { LT_WORKSPACE_BYTES = 32 << 20 };
#else
#include "train/cuda/model/cublaslt.h"
#define LT_OPEN(name)          cuda_model_open_library(name)
#define LT_FIND(library, name) cuda_model_find_function(library, name)
enum { LT_WORKSPACE_BYTES = 4096 }; /* the model keeps copies of all memory */
#endif

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

/* The library of the release that this was compiled with, whose constants it knows. */
#define LT_WORD(x)  #x
#define LT_SAID(x)  LT_WORD(x)
#define LT_FILENAME "libcublasLt.so." LT_SAID(CUBLAS_VER_MAJOR)

/* NULL: it cannot be loaded; the next call tries again. Any thread may call. */
const cuda_lt_library *cuda_lt_load(void);

#endif
