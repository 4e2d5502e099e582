/* cublaslt_matmul.cc -- cuBLASLt's heuristic and its product, in plain loops; see cublasLt.h. */
#include "cublasLt.h"
#include "cublaslt_parts.h"
#include "cuda_runtime.h"
#include <algorithm>
#include <list>
#include <map>
#include <stdio.h>
#include <stdlib.h>
#include <vector>

typedef cublasLtMatrixLayoutOpaque_t matrix;
typedef cublasLtMatmulDescOpaque_t description;

[[noreturn]] static void stop(const char *what) {
    fflush(stdout);
    fprintf(stderr, "cuda model: cublasLtMatmul: %s\n", what);
    abort();
}

/* --- for tests ------------------------------------------------------------------------- */

static std::map<unsigned, cuda_model_refusal> refusals;
static std::map<unsigned, uint64_t> products;

void cuda_model_refuse(unsigned epilogue, cuda_model_refusal how) { refusals[epilogue] = how; }
uint64_t cuda_model_products(unsigned epilogue) { return products[epilogue]; }

static cuda_model_refusal refusal_of(unsigned epilogue) {
    const char *given = getenv("TAPER_MODEL_LT");
    const bool plain = given && !strcmp(given, "plain") && epilogue != CUBLASLT_EPILOGUE_DEFAULT;
    const auto found = refusals.find(epilogue);
    if (found != refusals.end()) return found->second;
    return plain ? CUDA_MODEL_NOT_FOUND : CUDA_MODEL_OFFERED;
}

/* --- the requested product ------------------------------------------------------------- */

/* D[m][n] = alpha op(A)[m][k] op(B)[k][n] + beta C, all column-major. */
struct problem {
    description product;
    matrix a, b, c, d;
    uint32_t alignment[5]; /* promised: of A, B, C, D, and of the epilogue's vector */
    size_t workspace;
};

static uint64_t rows_of(const matrix &x, int32_t transposed) {
    return transposed ? x.columns : x.rows;
}
static uint64_t columns_of(const matrix &x, int32_t transposed) {
    return transposed ? x.rows : x.columns;
}
static uint64_t depth_of(const problem &p) { return columns_of(p.a, p.product.transposed[0]); }

static bool is_matrix(const matrix &x) {
    return x.rows && x.columns && x.stride > 0 && (uint64_t)x.stride >= x.rows;
}

static bool is_shape(const matrix &x, uint64_t rows, uint64_t columns) {
    return x.rows == rows && x.columns == columns;
}

static bool fits(const problem &p) {
    const int32_t *transposed = p.product.transposed;
    const uint64_t m = rows_of(p.a, transposed[0]), n = columns_of(p.b, transposed[1]);
    for (int i = 0; i < 2; i++)
        if (transposed[i] != CUBLAS_OP_N && transposed[i] != CUBLAS_OP_T) return false;
    return is_matrix(p.a) && is_matrix(p.b) && is_matrix(p.c) && is_matrix(p.d) &&
           depth_of(p) == rows_of(p.b, transposed[1]) && is_shape(p.c, m, n) && is_shape(p.d, m, n);
}

/* The combinations of types from NVIDIA's table that are used here. */
static bool are_types(const problem &p) {
    const bool small = p.a.type == CUDA_R_16BF, recent = cuda_model_here.capability >= 80;
    if (p.product.scale != CUDA_R_32F || p.a.type != p.b.type || p.c.type != p.d.type) return false;
    if (p.product.vector_type != -1 && p.product.vector_type != p.d.type) return false;
    if (p.product.compute == CUBLAS_COMPUTE_32F_FAST_TF32)
        return recent && p.a.type == CUDA_R_32F && p.d.type == CUDA_R_32F;
    return p.product.compute == CUBLAS_COMPUTE_32F &&
           (small ? recent : p.a.type == CUDA_R_32F && p.d.type == CUDA_R_32F);
}

/* Sums require factors that are transposed as in a weight gradient. */
static bool is_epilogue(const description &d) {
    switch (d.epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT:
    case CUBLASLT_EPILOGUE_BIAS:
    case CUBLASLT_EPILOGUE_RELU_BIAS: return true;
    case CUBLASLT_EPILOGUE_BGRADA: return d.transposed[0] == CUBLAS_OP_N;
    case CUBLASLT_EPILOGUE_BGRADB: return d.transposed[1] == CUBLAS_OP_T;
    }
    return false;
}

static bool has_vector(const description &d) { return d.epilogue != CUBLASLT_EPILOGUE_DEFAULT; }

static cublasStatus_t check(const problem &p) {
    if (!fits(p) || (has_vector(p.product) && !p.product.vector))
        return CUBLAS_STATUS_INVALID_VALUE;
    return are_types(p) && is_epilogue(p.product) ? CUBLAS_STATUS_SUCCESS
                                                  : CUBLAS_STATUS_NOT_SUPPORTED;
}

static bool is_same(const matrix &x, const matrix &y) {
    return x.type == y.type && is_shape(x, y.rows, y.columns) && x.stride == y.stride;
}

/* Compares descriptions without addresses. */
static bool is_same(const description &x, const description &y) {
    return x.compute == y.compute && x.scale == y.scale && x.transposed[0] == y.transposed[0] &&
           x.transposed[1] == y.transposed[1] && x.epilogue == y.epilogue &&
           x.vector_type == y.vector_type;
}

static bool is_same(const problem &x, const problem &y) {
    return is_same(x.product, y.product) && is_same(x.a, y.a) && is_same(x.b, y.b) &&
           is_same(x.c, y.c) && is_same(x.d, y.d);
}

static bool read_problem(cublasLtMatmulDesc_t product, cublasLtMatrixLayout_t a,
                         cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                         cublasLtMatrixLayout_t d, problem *p) {
    for (const void *handle : std::vector<const void *>{product, a, b, c, d})
        if (!cuda_model_lt_is(handle)) return false;
    *p = problem{*product, *a, *b, *c, *d, {}, 0};
    return true;
}

/* --- algorithms ------------------------------------------------------------------------ */

/* The problem for which each algorithm was chosen. */
static std::vector<problem> chosen;
static const uint64_t MARK = 0x7461706572ull;

static bool is_power(uint32_t x) { return x && !(x & (x - 1)); }

/* Records the promised alignments; that of the vector is its present one. */
static bool promise(const cublasLtMatmulPreferenceOpaque_t &wish, problem *p) {
    const uintptr_t vector = (uintptr_t)p->product.vector | 256;
    std::copy(wish.alignment, wish.alignment + 4, p->alignment);
    p->alignment[4] = (uint32_t)(vector & (~vector + 1));
    p->workspace = wish.workspace;
    return std::all_of(p->alignment, p->alignment + 4, is_power) &&
           wish.schemes <= CUBLASLT_REDUCTION_SCHEME_MASK;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t wish, int most,
                                              cublasLtMatmulHeuristicResult_t found[], int *count) {
    const cuda_model_guard guard;
    problem p;
    cublasStatus_t status = cuda_model_lt_begins();
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    if (!cuda_model_lt_is(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!read_problem(product, a, b, c, d, &p) || !cuda_model_lt_is(wish) || most < 1 || !found ||
        !count || !promise(*wish, &p))
        return CUBLAS_STATUS_INVALID_VALUE;
    *count = 0;
    status = check(p);
    const cuda_model_refusal refusal = refusal_of(p.product.epilogue);
    if (refusal == CUDA_MODEL_NO_HEURISTIC) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (refusal == CUDA_MODEL_INVALID) return CUBLAS_STATUS_INVALID_VALUE;
    if (status != CUBLAS_STATUS_SUCCESS || refusal == CUDA_MODEL_NOT_FOUND) return status;
    found[0] =
        cublasLtMatmulHeuristicResult_t{{{MARK, chosen.size()}}, p.workspace, status, 1.0f, {}};
    if (refusal == CUDA_MODEL_BAD_STATE) found[0].state = CUBLAS_STATUS_NOT_SUPPORTED;
    chosen.push_back(p);
    *count = 1;
    return CUBLAS_STATUS_SUCCESS;
}

/* --- numbers --------------------------------------------------------------------------- */

static size_t size_of(int type) { return type == CUDA_R_32F ? sizeof(float) : sizeof(uint16_t); }

/* Rounds to a number with `bits` fewer bits, to nearest, ties to even. */
static float rounded(float x, int bits) {
    uint32_t all = __float_as_uint(x);
    if ((all & 0x7fffffffu) >= 0x7f800000u) return x;
    all += (1u << (bits - 1)) - 1 + (all >> bits & 1);
    all = all >> bits << bits;
    memcpy(&x, &all, sizeof x);
    return x;
}

static float load(int type, const void *from, size_t i) {
    float x;
    if (type == CUDA_R_32F) return ((const float *)from)[i];
    const uint32_t bits = (uint32_t)((const uint16_t *)from)[i] << 16;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void store(int type, void *to, size_t i, float x) {
    if (type == CUDA_R_32F)
        ((float *)to)[i] = x;
    else
        ((uint16_t *)to)[i] = (uint16_t)(__float_as_uint(rounded(x, 16)) >> 16);
}

/* --- the product ----------------------------------------------------------------------- */

/* A queued call; its descriptors may be destroyed before it runs. */
struct task {
    problem p;
    float alpha, beta;
    const void *a, *b, *c;
    void *d, *workspace;
    size_t workspace_bytes;
};

/* x[outer][inner] of a factor, rounded as in the product. by_rows: the outer index is the row. */
static std::vector<float> taken(const task &t, const matrix &x, const void *from, bool by_rows) {
    const uint64_t outer = by_rows ? x.rows : x.columns, inner = by_rows ? x.columns : x.rows,
                   step = by_rows ? 1 : (uint64_t)x.stride, next = by_rows ? (uint64_t)x.stride : 1;
    const bool shorter = t.p.product.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
    std::vector<float> all(outer * inner);
    for (uint64_t o = 0; o < outer; o++)
        for (uint64_t i = 0; i < inner; i++) {
            const float value = load(x.type, from, o * step + i * next);
            all[o * inner + i] = shorter ? rounded(value, 13) : value;
        }
    return all;
}

/* vector[i] = sum over k of x[i][]. */
static void sum_factor(const task &t, const std::vector<float> &x) {
    const size_t k = depth_of(t.p), n = x.size() / k;
    for (size_t i = 0; i < n; i++) {
        float sum = 0.0f;
        for (size_t j = 0; j < k; j++) sum += x[i * k + j];
        store(t.p.d.type, t.p.product.vector, i, sum);
    }
}

/* Applies the epilogue to one number of D in row i. */
static float finished(const task &t, float value, size_t i) {
    const uint32_t epilogue = t.p.product.epilogue;
    if (epilogue == CUBLASLT_EPILOGUE_BIAS || epilogue == CUBLASLT_EPILOGUE_RELU_BIAS)
        value += load(t.p.d.type, t.p.product.vector, i);
    return epilogue == CUBLASLT_EPILOGUE_RELU_BIAS && !(value > 0.0f) ? 0.0f : value;
}

static void run(const task &t) {
    const size_t m = t.p.d.rows, n = t.p.d.columns, k = depth_of(t.p);
    if (cuda_model_launch_fails()) return; /* cudaGetLastError reports it */
    if (cuda_model_counts("product", 0, (uint64_t)m * n * k)) return;
    memset(t.workspace, 0xff, t.workspace_bytes);
    const std::vector<float> a = taken(t, t.p.a, t.a, !t.p.product.transposed[0]),
                             b = taken(t, t.p.b, t.b, t.p.product.transposed[1]);
    if (t.p.product.epilogue == CUBLASLT_EPILOGUE_BGRADA) sum_factor(t, a);
    if (t.p.product.epilogue == CUBLASLT_EPILOGUE_BGRADB) sum_factor(t, b);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < m; i++) {
            float sum = 0.0f;
            for (size_t l = 0; l < k; l++) sum += a[i * k + l] * b[j * k + l];
            sum *= t.alpha;
            if (t.beta != 0.0f) sum += t.beta * load(t.p.c.type, t.c, j * t.p.c.stride + i);
            store(t.p.d.type, t.d, j * t.p.d.stride + i, finished(t, sum, i));
        }
}

/* --- checking arguments ---------------------------------------------------------------- */

/* Device memory that a task reads or writes. */
struct extent {
    const char *at;
    size_t bytes;
};

static extent extent_of(const matrix &x, const void *at) {
    return {(const char *)at, ((x.columns - 1) * (uint64_t)x.stride + x.rows) * size_of(x.type)};
}

static extent vector_of(const task &t) {
    const bool by_columns = t.p.product.epilogue == CUBLASLT_EPILOGUE_BGRADB;
    if (!has_vector(t.p.product)) return {nullptr, 0};
    return {(const char *)t.p.product.vector,
            (by_columns ? t.p.d.columns : t.p.d.rows) * size_of(t.p.d.type)};
}

static bool overlap(const extent &x, const extent &y) {
    return x.bytes && y.bytes && x.at < y.at + y.bytes && y.at < x.at + x.bytes;
}

/* Checks for errors that a GPU would not detect. */
static void check_memory(const task &t) {
    const extent d = extent_of(t.p.d, t.d), vector = vector_of(t),
                 workspace = {(const char *)t.workspace, t.workspace_bytes},
                 read[] = {extent_of(t.p.a, t.a), extent_of(t.p.b, t.b)};
    const bool writes_vector = t.p.product.epilogue >= CUBLASLT_EPILOGUE_BGRADA;
    for (const extent &e : {read[0], read[1], d, vector, workspace})
        if (e.bytes && !cuda_model_is_given(e.at, e.bytes))
            stop("a matrix, a vector or the workspace reaches beyond the device's memory");
    for (const extent &e : read)
        if (overlap(e, d) || overlap(e, workspace) || (writes_vector && overlap(e, vector)))
            stop("what is written lies on a factor");
    if (overlap(d, vector) || overlap(d, workspace) || overlap(vector, workspace))
        stop("what is written lies on what is written");
    if (t.beta != 0.0f && t.c != t.d && !cuda_model_is_given(t.c, extent_of(t.p.c, t.c).bytes))
        stop("C reaches beyond the device's memory");
}

static bool is_aligned(const void *at, uint32_t bytes) { return (uintptr_t)at % bytes == 0; }

/* Whether the promised alignments hold. */
static bool is_kept(const task &t, const problem &promised) {
    const uint32_t *align = promised.alignment;
    return is_same(t.p, promised) && is_aligned(t.a, align[0]) && is_aligned(t.b, align[1]) &&
           is_aligned(t.c, align[2]) && is_aligned(t.d, align[3]) &&
           (!has_vector(t.p.product) || is_aligned(t.p.product.vector, align[4])) &&
           t.workspace_bytes >= promised.workspace && is_aligned(t.workspace, 256) &&
           (t.workspace || !t.workspace_bytes);
}

/* --- queueing -------------------------------------------------------------------------- */

/* Workspaces of queued products. */
struct use {
    cudaStream_t stream;
    extent workspace;
};
static std::list<use> uses;

static void put(const task &t, cudaStream_t stream) {
    const extent workspace = {(const char *)t.workspace, t.workspace_bytes};
    for (const use &u : uses)
        if (u.stream != stream && overlap(u.workspace, workspace))
            stop("its workspace is another stream's");
    products[t.p.product.epilogue]++;
    uses.push_back({stream, workspace});
    const auto own = std::prev(uses.end());
    cuda_model_put(stream, [t, own] {
        run(t);
        uses.erase(own);
    });
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
                              const void *alpha, const void *a, cublasLtMatrixLayout_t a_layout,
                              const void *b, cublasLtMatrixLayout_t b_layout, const void *beta,
                              const void *c, cublasLtMatrixLayout_t c_layout, void *d,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t *algorithm, void *workspace,
                              size_t workspace_bytes, cudaStream_t stream) {
    const cuda_model_guard guard;
    task t = {};
    cublasStatus_t status = cuda_model_lt_begins();
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    if (cuda_model_is_lost()) return CUBLAS_STATUS_EXECUTION_FAILED;
    if (!cuda_model_lt_is(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!alpha || !a || !b || !beta || !c || !d || !algorithm ||
        (c == d) != (c_layout == d_layout) ||
        !read_problem(product, a_layout, b_layout, c_layout, d_layout, &t.p))
        return CUBLAS_STATUS_INVALID_VALUE;
    status = check(t.p);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    t.a = a, t.b = b, t.c = c, t.d = d;
    t.alpha = *(const float *)alpha, t.beta = *(const float *)beta;
    t.workspace = workspace, t.workspace_bytes = workspace_bytes;
    if (algorithm->data[0] != MARK || algorithm->data[1] >= chosen.size() ||
        !is_kept(t, chosen[algorithm->data[1]]))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (refusal_of(t.p.product.epilogue) == CUDA_MODEL_NOT_RUN) return CUBLAS_STATUS_NOT_SUPPORTED;
    check_memory(t);
    put(t, stream);
    return CUBLAS_STATUS_SUCCESS;
}
