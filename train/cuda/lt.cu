/* lt.cu -- products by cuBLASLt; see lt.h. */
#include "train/cuda/lt.h"
#include "train/cuda/operations.h"
#include "train/cuda/stream.h"
#ifdef __CUDACC__
#include <cublasLt.h>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <new>
#include <stdio.h>
#include <tuple>

/* --- the library ----------------------------------------------------------------------- */

/* Its functions, under their own names. */
#define LT_FUNCTIONS(X)                     \
    X(cublasLtCreate)                       \
    X(cublasLtDestroy)                      \
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

struct lt_library {
#define LT_MEMBER(name) decltype(&::name) name;
    LT_FUNCTIONS(LT_MEMBER)
};

static lt_library lt;
static bool lt_is_there;

static void *open_library(void) {
    char name[3][64];
    const int version = CUBLAS_VERSION >= 100000 ? CUBLAS_VERSION / 10000 : CUBLAS_VERSION / 1000;
    snprintf(name[0], sizeof name[0], "libcublasLt.so.%d", version);
    snprintf(name[1], sizeof name[1], "/usr/local/cuda/lib64/libcublasLt.so.%d", version);
    snprintf(name[2], sizeof name[2], "/usr/local/cuda/lib/libcublasLt.so.%d", version);
    for (int i = 0; i < 3; i++) {
        void *library = dlopen(name[i], RTLD_NOW | RTLD_LOCAL);
        if (library) return library;
    }
    return NULL;
}

static void load_library(void) {
    void *library = open_library();
    if (!library) return;
    bool all = true;
#define LT_LOAD(name)                                   \
    lt.name = (decltype(&::name))dlsym(library, #name); \
    all = all && lt.name;
    LT_FUNCTIONS(LT_LOAD)
    lt_is_there = all;
}

static taper_status library(train_stream *s) {
    static std::once_flag once;
    std::call_once(once, load_library);
    if (lt_is_there) return TAPER_OK;
    return cuda_fail(s, "gemm",
                     "cuBLASLt cannot be loaded; install CUDA's libcublas, or give --device cpu");
}

/* --- what a stream keeps --------------------------------------------------------------- */

/* Shapes, transposes, alignments and epilogue, for which an algorithm is chosen once. */
typedef std::tuple<size_t, size_t, size_t, int, int, int, unsigned, unsigned, unsigned, unsigned,
                   unsigned>
    shape_key;
struct lt_choice {
    bool found; /* 0: there is none */
    cublasLtMatmulAlgo_t algorithm;
};

static const size_t WORKSPACE = (size_t)32 << 20;

struct cuda_products {
    cublasLtHandle_t handle;
    void *workspace;
    uint16_t *rounded[2]; /* bfloat16 of A and B */
    size_t room[2];       /* elements there */
    std::map<shape_key, lt_choice> choice;
};

static taper_status take(train_stream *s, size_t bytes, void **memory) {
    return s->device->memory->alloc(s->device, bytes, memory);
}

void cuda_lt_free(train_stream *s) {
    cuda_products *p = cuda_stream_of(s)->products;
    if (!p) return;
    const train_memory *memory = s->device->memory;
    memory->release(s->device, p->workspace, WORKSPACE);
    for (int i = 0; i < 2; i++)
        memory->release(s->device, p->rounded[i], p->room[i] * sizeof(uint16_t));
    if (p->handle) lt.cublasLtDestroy(p->handle);
    delete p;
    cuda_stream_of(s)->products = NULL;
}

static taper_status products_of(train_stream *s, cuda_products **out) {
    cuda_stream *own = cuda_stream_of(s);
    *out = own->products;
    if (*out) return TAPER_OK;
    TAPER_TRY(library(s));
    own->products = new (std::nothrow) cuda_products();
    if (!own->products) return TAPER_ERR_NOMEM;
    taper_status status = take(s, WORKSPACE, &own->products->workspace);
    if (status == TAPER_OK && lt.cublasLtCreate(&own->products->handle) != CUBLAS_STATUS_SUCCESS)
        status = cuda_fail(s, "gemm", "cuBLASLt cannot be started");
    if (status != TAPER_OK) cuda_lt_free(s);
    *out = own->products;
    return status;
}

/* --- bfloat16 -------------------------------------------------------------------------- */

/* To the nearest, ties to even; NaN stays one. */
static __device__ uint16_t rounded(float x) {
    const uint32_t bits = __float_as_uint(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static __global__ void round_kernel(size_t n, const float *x, uint16_t *to) {
    for (EACH(i, n)) to[i] = rounded(x[i]);
}

/* *factor, of n numbers, becomes its bfloat16 copy. */
static taper_status round_factor(train_stream *s, cuda_products *p, int which, size_t n,
                                 const void **factor) {
    if (p->room[which] < n) {
        const train_memory *memory = s->device->memory;
        memory->release(s->device, p->rounded[which], p->room[which] * sizeof(uint16_t));
        p->rounded[which] = NULL, p->room[which] = 0;
        TAPER_TRY(take(s, n * sizeof(uint16_t), (void **)&p->rounded[which]));
        p->room[which] = n;
    }
    LAUNCH(round_kernel, cuda_blocks(n, 256), 256, cuda_on(s), n, (const float *)*factor,
           p->rounded[which]);
    *factor = p->rounded[which];
    return cuda_end(s, "gemm");
}

/* --- products -------------------------------------------------------------------------- */

/* cuBLASLt's matrices are column-major: it is asked for C^T = op(B)^T op(A)^T. */
struct lt_matrices {
    cublasLtMatmulDesc_t product;
    cublasLtMatrixLayout_t left, right, result;
};

static void drop(lt_matrices *m) {
    if (m->result) lt.cublasLtMatrixLayoutDestroy(m->result);
    if (m->right) lt.cublasLtMatrixLayoutDestroy(m->right);
    if (m->left) lt.cublasLtMatrixLayoutDestroy(m->left);
    if (m->product) lt.cublasLtMatmulDescDestroy(m->product);
}

static bool describe(lt_matrices *m, const cuda_product *p, train_precision precision) {
    const cublasOperation_t turned = CUBLAS_OP_T, plain = CUBLAS_OP_N;
    const cudaDataType_t type = precision == TRAIN_BFLOAT16 ? CUDA_R_16BF : CUDA_R_32F;
    const cublasComputeType_t compute =
        precision == TRAIN_TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    const size_t b_row = p->transpose_b ? p->k : p->n, b_rows = p->transpose_b ? p->n : p->k,
                 a_row = p->transpose_a ? p->m : p->k, a_rows = p->transpose_a ? p->k : p->m;
    *m = lt_matrices{};
    return lt.cublasLtMatmulDescCreate(&m->product, compute, CUDA_R_32F) == CUBLAS_STATUS_SUCCESS &&
           lt.cublasLtMatmulDescSetAttribute(m->product, CUBLASLT_MATMUL_DESC_TRANSA,
                                             p->transpose_b ? &turned : &plain,
                                             sizeof turned) == CUBLAS_STATUS_SUCCESS &&
           lt.cublasLtMatmulDescSetAttribute(m->product, CUBLASLT_MATMUL_DESC_TRANSB,
                                             p->transpose_a ? &turned : &plain,
                                             sizeof turned) == CUBLAS_STATUS_SUCCESS &&
           lt.cublasLtMatrixLayoutCreate(&m->left, type, b_row, b_rows, (int64_t)b_row) ==
               CUBLAS_STATUS_SUCCESS &&
           lt.cublasLtMatrixLayoutCreate(&m->right, type, a_row, a_rows, (int64_t)a_row) ==
               CUBLAS_STATUS_SUCCESS &&
           lt.cublasLtMatrixLayoutCreate(&m->result, CUDA_R_32F, p->n, p->m, (int64_t)p->n) ==
               CUBLAS_STATUS_SUCCESS;
}

/* What bias, activation and sums are to cuBLASLt, after cublasLt.h of CUDA 13: an epilogue is a
 * uint32_t; the bias, a pointer, is as long as the result has rows, which of C^T are our n, packed,
 * and of the type of the result, float32 in all precisions. RELU_BIAS adds it and takes max(x, 0).
 * BGRADA stores sums over k of its A, our B, there, BGRADB of its B, our A, as many as the result
 * has columns. The heuristic reads the pointer's alignment. Not said there, and assumed: sums keep
 * an order of their own. */
static uint32_t epilogue_of(const cuda_product *p) {
    if (p->sums) return p->of_b ? CUBLASLT_EPILOGUE_BGRADA : CUBLASLT_EPILOGUE_BGRADB;
    if (!p->bias) return CUBLASLT_EPILOGUE_DEFAULT;
    return p->activation == CODEC_RELU ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
}

/* What the epilogue reads or writes; NULL: there is none. */
static const float *vector_of(const cuda_product *p) { return p->sums ? p->sums : p->bias; }

static bool add_epilogue(const lt_matrices *m, const cuda_product *p) {
    const uint32_t epilogue = epilogue_of(p);
    const float *vector = vector_of(p);
    return lt.cublasLtMatmulDescSetAttribute(m->product, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                             sizeof epilogue) == CUBLAS_STATUS_SUCCESS &&
           lt.cublasLtMatmulDescSetAttribute(m->product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &vector,
                                             sizeof vector) == CUBLAS_STATUS_SUCCESS;
}

/* Largest power of two that divides an address, 256 at most. */
static unsigned alignment(const void *at) {
    const uintptr_t bits = (uintptr_t)at | 256;
    return (unsigned)(bits & (~bits + 1));
}

/* The heuristic's first, among those whose sums have an order of their own. */
static bool ask(cuda_products *own, const lt_matrices *m, const unsigned align[3],
                cublasLtMatmulAlgo_t *algorithm) {
    cublasLtMatmulPreference_t wish = NULL;
    cublasLtMatmulHeuristicResult_t found = {};
    int count = 0;
    const uint32_t schemes =
        CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE | CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE;
    if (lt.cublasLtMatmulPreferenceCreate(&wish) != CUBLAS_STATUS_SUCCESS) return false;
    struct {
        cublasLtMatmulPreferenceAttributes_t name;
        const void *value;
        size_t bytes;
    } const said[] = {{CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &WORKSPACE, sizeof WORKSPACE},
                      {CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes, sizeof schemes},
                      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &align[0], sizeof align[0]},
                      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &align[1], sizeof align[1]},
                      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &align[2], sizeof align[2]},
                      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &align[2], sizeof align[2]}};
    bool good = true;
    for (const auto &s : said)
        good = good && lt.cublasLtMatmulPreferenceSetAttribute(wish, s.name, s.value, s.bytes) ==
                           CUBLAS_STATUS_SUCCESS;
    good = good &&
           lt.cublasLtMatmulAlgoGetHeuristic(own->handle, m->product, m->left, m->right, m->result,
                                             m->result, wish, 1, &found,
                                             &count) == CUBLAS_STATUS_SUCCESS &&
           count == 1;
    lt.cublasLtMatmulPreferenceDestroy(wish);
    *algorithm = found.algo;
    return good;
}

/* The algorithm for such products, known or asked for; found 0 where there is none. */
static lt_choice choose(cuda_products *own, const lt_matrices *m, const cuda_product *p,
                        const unsigned align[3]) {
    const shape_key key(p->m, p->n, p->k, p->transpose_a, p->transpose_b, p->beta != 0.0f, align[0],
                        align[1], align[2], epilogue_of(p),
                        vector_of(p) ? alignment(vector_of(p)) : 0);
    auto known = own->choice.find(key);
    if (known != own->choice.end()) return known->second;
    lt_choice choice = {};
    choice.found = ask(own, m, align, &choice.algorithm);
    return own->choice.emplace(key, choice).first->second;
}

/* With its epilogue, or, where no algorithm has that, *offered 0 and nothing done. */
static taper_status multiply(train_stream *s, cuda_products *own, const cuda_product *p,
                             const void *a, const void *b, bool *offered) {
    lt_matrices m;
    const float one = 1.0f;
    const unsigned align[3] = {alignment(b), alignment(a), alignment(p->c)};
    bool good = describe(&m, p, cuda_precision(s->device));
    const bool accepted = good && (!vector_of(p) || add_epilogue(&m, p));
    const lt_choice choice = accepted ? choose(own, &m, p, align) : lt_choice{};
    *offered = choice.found;
    if (choice.found)
        good = lt.cublasLtMatmul(own->handle, m.product, &one, b, m.left, a, m.right, &p->beta,
                                 p->c, m.result, p->c, m.result, &choice.algorithm, own->workspace,
                                 WORKSPACE, cuda_on(s)) == CUBLAS_STATUS_SUCCESS;
    drop(&m);
    good = good && (choice.found || vector_of(p));
    return good ? TAPER_OK : cuda_fail(s, "gemm", "cuBLASLt failed");
}

taper_status cuda_lt_product(train_stream *s, const cuda_product *p, cuda_finish *left) {
    cuda_products *own;
    const void *a = p->a, *b = p->b;
    bool offered;
    TAPER_TRY(products_of(s, &own));
    if (cuda_precision(s->device) == TRAIN_BFLOAT16) {
        TAPER_TRY(round_factor(s, own, 0, p->m * p->k, &a));
        TAPER_TRY(round_factor(s, own, 1, p->k * p->n, &b));
    }
    *left = p->bias && p->activation == CODEC_LOGISTIC ? CUDA_ACTIVATION : CUDA_NOTHING;
    TAPER_TRY(multiply(s, own, p, a, b, &offered));
    if (offered) return TAPER_OK;
    cuda_product plain = *p;
    plain.bias = NULL, plain.sums = NULL;
    *left = p->sums ? CUDA_SUMS : CUDA_BIAS_AND_ACTIVATION;
    return multiply(s, own, &plain, a, b, &offered);
}

#else /* the execution model */

void cuda_lt_free(train_stream *s) { (void)s; }

static void sum_factor(const cuda_product *p) {
    const float *x = p->of_b ? p->b : p->a;
    const size_t n = p->of_b ? p->n : p->m;
    const int turned = p->of_b ? p->transpose_b : !p->transpose_a;
    for (size_t j = 0; p->sums && j < n; j++) {
        p->sums[j] = 0.0f;
        for (size_t t = 0; t < p->k; t++) p->sums[j] += x[turned ? j * p->k + t : t * n + j];
    }
}

static void multiply(const cuda_product *p) {
    if (cuda_model_launch_fails()) return; /* which cuda_end tells */
    if (cuda_model_counts("product", 0, (uint64_t)p->m * p->n * p->k)) return;
    sum_factor(p);
    for (size_t i = 0; i < p->m; i++)
        for (size_t j = 0; j < p->n; j++) {
            float sum = 0.0f, *c = p->c + i * p->n + j;
            for (size_t t = 0; t < p->k; t++)
                sum += p->a[p->transpose_a ? t * p->m + i : i * p->k + t] *
                       p->b[p->transpose_b ? j * p->k + t : t * p->n + j];
            *c = p->beta == 0.0f ? sum : p->beta * *c + sum;
        }
}

/* Made as operations are defined; counted as a GPU is to do it. Sums are offered where k is even,
 * so that both ways are tried. */
taper_status cuda_lt_product(train_stream *s, const cuda_product *p, cuda_finish *left) {
    cuda_product product = *p;
    *left = p->bias && p->activation == CODEC_LOGISTIC ? CUDA_ACTIVATION : CUDA_NOTHING;
    if (p->bias && !cuda_model_is_counting()) *left = CUDA_BIAS_AND_ACTIVATION;
    if (p->sums && p->k % 2 && !cuda_model_is_counting()) product.sums = NULL, *left = CUDA_SUMS;
    cuda_model_put(cuda_on(s), [product] { multiply(&product); });
    return TAPER_OK;
}
#endif
