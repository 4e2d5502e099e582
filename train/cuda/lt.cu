/* lt.cu -- matrix products by cuBLASLt; see lt.h. */
#include "train/cuda/lt.h"
#include "train/cuda/factors.h"
#include "train/cuda/lt_library.h"
#include "train/cuda/operations.h"
#include "train/cuda/stream.h"
#include <map>
#include <new>
#include <stdio.h>
#include <tuple>

/* --- state of a stream ----------------------------------------------------------------- */

/* The key of a chosen algorithm: shapes, transposes, type of the result, alignments and
 * epilogue. */
typedef std::tuple<size_t, size_t, size_t, int, int, bool, unsigned, unsigned, unsigned, unsigned,
                   unsigned>
    shape_key;
struct lt_choice {
    bool found; /* false: there is none */
    cublasLtMatmulAlgo_t algorithm;
};

struct cuda_products {
    const cuda_lt_library *lt;
    cublasLtHandle_t handle;
    void *workspace; /* used by one product at a time */
    std::map<shape_key, lt_choice> choice;
};

static taper_status take(train_stream *s, size_t bytes, void **memory) {
    return s->device->memory->alloc(s->device, bytes, memory);
}

void cuda_lt_free(train_stream *s) {
    cuda_products *p = cuda_stream_of(s)->products;
    if (!p) return;
    const train_memory *memory = s->device->memory;
    memory->release(s->device, p->workspace, LT_WORKSPACE_BYTES);
    if (p->handle) p->lt->cublasLtDestroy(p->handle);
    delete p;
    cuda_stream_of(s)->products = NULL;
}

/* The status of a cuBLASLt call. If the driver reports an error, its message is used. */
static taper_status status_of(train_stream *s, const cuda_lt_library *lt, const char *operation,
                              const char *call, cublasStatus_t status) {
    char why[160];
    if (status == CUBLAS_STATUS_SUCCESS) return TAPER_OK;
    TAPER_TRY(cuda_end(s, operation));
    if (status == CUBLAS_STATUS_ALLOC_FAILED) return TAPER_ERR_NOMEM;
    snprintf(why, sizeof why, "%s: %s", call, lt->cublasLtGetStatusString(status));
    return cuda_fail(s, operation, why);
}
#define LT_TRY(s, own, product, name, ...) \
    TAPER_TRY(status_of(s, (own)->lt, (product)->operation, #name, (own)->lt->name(__VA_ARGS__)))

static taper_status open_products(train_stream *s, const cuda_product *p, cuda_products *own) {
    own->lt = cuda_lt_load();
    if (!own->lt)
        return cuda_fail(s, p->operation,
                         LT_FILENAME " cannot be loaded; install CUDA's libcublas, or give "
                                     "--device cpu");
    TAPER_TRY(take(s, LT_WORKSPACE_BYTES, &own->workspace));
    LT_TRY(s, own, p, cublasLtCreate, &own->handle);
    return TAPER_OK;
}

static taper_status products_of(train_stream *s, const cuda_product *p, cuda_products **out) {
    cuda_stream *own = cuda_stream_of(s);
    *out = own->products;
    if (*out) return TAPER_OK;
    own->products = new (std::nothrow) cuda_products();
    if (!own->products) return TAPER_ERR_NOMEM;
    taper_status status = open_products(s, p, own->products);
    if (status != TAPER_OK) cuda_lt_free(s);
    *out = own->products;
    return status;
}

/* The addresses of a product's matrices and of its epilogue's vector, and their types. */
struct lt_places {
    const void *a, *b;
    void *c, *vector; /* a bias, or sums; NULL: none */
    bool rounded;     /* a and b are bfloat16 */
    bool rounds;      /* c and a bias are bfloat16 too */
};

static taper_status places_of(train_stream *s, const cuda_product *p, lt_places *at) {
    const uint16_t *a, *b, *bias;
    uint16_t *c = cuda_numbers_at(s, p->c).factor;
    *at = {p->a, p->b, p->c, p->sums ? p->sums : (float *)p->bias, false, c != NULL};
    if (cuda_precision(s->device) != TRAIN_BFLOAT16) return TAPER_OK;
    TAPER_TRY(cuda_factor(s, 0, p->a, p->m * p->k, &a));
    TAPER_TRY(cuda_factor(s, 1, p->b, p->k * p->n, &b));
    at->a = a, at->b = b, at->rounded = true;
    if (!c) return TAPER_OK;
    at->c = c;
    if (!p->bias) return TAPER_OK;
    TAPER_TRY(cuda_factor(s, 2, p->bias, p->n, &bias));
    at->vector = (uint16_t *)bias;
    return TAPER_OK;
}

/* --- descriptors of a product ---------------------------------------------------------- */

/* cuBLASLt's matrices are column-major, so it computes C^T = op(B)^T op(A)^T. */
struct lt_matrices {
    cublasLtMatmulDesc_t product;
    cublasLtMatrixLayout_t left, right, result;
};

static void drop(const cuda_products *own, const lt_matrices *m) {
    if (m->result) own->lt->cublasLtMatrixLayoutDestroy(m->result);
    if (m->right) own->lt->cublasLtMatrixLayoutDestroy(m->right);
    if (m->left) own->lt->cublasLtMatrixLayoutDestroy(m->left);
    if (m->product) own->lt->cublasLtMatmulDescDestroy(m->product);
}

/* The epilogue for bias, activation and sums, after cublasLt.h of CUDA 13. An epilogue is a
 * uint32_t. The bias is a pointer to as many numbers as the result has rows, which are our n for
 * C^T, contiguous and of the result's type. RELU_BIAS adds it and takes max(x, 0).
 *   BGRADA stores the sums over k of its A, our B; BGRADB those of its B, our A, as many as the
 * result has columns. BGRADA requires that A is not transposed, BGRADB that B is, as in a weight
 * gradient. Not documented but assumed: the order of a sum does not change between runs. */
static uint32_t epilogue_of(const cuda_product *p) {
    if (p->sums) return p->of_b ? CUBLASLT_EPILOGUE_BGRADA : CUBLASLT_EPILOGUE_BGRADB;
    if (!p->bias) return CUBLASLT_EPILOGUE_DEFAULT;
    return p->activation == CODEC_RELU ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
}

/* Whether the epilogue reads or writes a vector. */
static bool has_vector(const cuda_product *p) { return p->sums || p->bias; }

static taper_status describe_product(train_stream *s, const cuda_products *own,
                                     const cuda_product *p, const lt_places &at,
                                     cublasLtMatmulDesc_t product) {
    const cublasOperation_t left = p->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N,
                            right = p->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    const uint32_t epilogue = epilogue_of(p);
    LT_TRY(s, own, p, cublasLtMatmulDescSetAttribute, product, CUBLASLT_MATMUL_DESC_TRANSA, &left,
           sizeof left);
    LT_TRY(s, own, p, cublasLtMatmulDescSetAttribute, product, CUBLASLT_MATMUL_DESC_TRANSB, &right,
           sizeof right);
    if (!has_vector(p)) return TAPER_OK;
    LT_TRY(s, own, p, cublasLtMatmulDescSetAttribute, product, CUBLASLT_MATMUL_DESC_EPILOGUE,
           &epilogue, sizeof epilogue);
    LT_TRY(s, own, p, cublasLtMatmulDescSetAttribute, product, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
           &at.vector, sizeof at.vector);
    return TAPER_OK;
}

/* *m holds the descriptors created so far, after a failure too. */
static taper_status describe(train_stream *s, const cuda_products *own, const cuda_product *p,
                             const lt_places &at, lt_matrices *m) {
    const train_precision precision = cuda_precision(s->device);
    const cudaDataType_t type = at.rounded ? CUDA_R_16BF : CUDA_R_32F,
                         result = at.rounds ? CUDA_R_16BF : CUDA_R_32F;
    const cublasComputeType_t compute =
        precision == TRAIN_TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    const size_t b_row = p->transpose_b ? p->k : p->n, b_rows = p->transpose_b ? p->n : p->k,
                 a_row = p->transpose_a ? p->m : p->k, a_rows = p->transpose_a ? p->k : p->m;
    LT_TRY(s, own, p, cublasLtMatmulDescCreate, &m->product, compute, CUDA_R_32F);
    LT_TRY(s, own, p, cublasLtMatrixLayoutCreate, &m->left, type, b_row, b_rows, (int64_t)b_row);
    LT_TRY(s, own, p, cublasLtMatrixLayoutCreate, &m->right, type, a_row, a_rows, (int64_t)a_row);
    LT_TRY(s, own, p, cublasLtMatrixLayoutCreate, &m->result, result, p->n, p->m, (int64_t)p->n);
    return describe_product(s, own, p, at, m->product);
}

/* --- choosing an algorithm ------------------------------------------------------------- */

/* The largest power of two that divides an address, at most 256. */
static uint32_t alignment(const void *at) {
    const uintptr_t bits = (uintptr_t)at | 256;
    return (uint32_t)(bits & (~bits + 1));
}

/* Alignments of cuBLASLt's A, B, and of C, which is also D. The epilogue's vector is at least as
 * aligned as C. */
struct lt_alignments {
    uint32_t left, right, result;
};

static lt_alignments alignments_of(const cuda_product *p, const lt_places &at) {
    const uint32_t result = alignment(at.c), vector = has_vector(p) ? alignment(at.vector) : result;
    return {alignment(at.b), alignment(at.a), vector < result ? vector : result};
}

/* Restricts the choice to algorithms with a fixed order of sums. */
static taper_status prefer(train_stream *s, const cuda_products *own, const cuda_product *p,
                           const lt_alignments &align, cublasLtMatmulPreference_t wish) {
    static const uint64_t workspace_bytes = LT_WORKSPACE_BYTES;
    static const uint32_t schemes =
        CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE | CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE;
    const struct {
        cublasLtMatmulPreferenceAttributes_t name;
        const void *value;
        size_t bytes;
    } said[] = {
        {CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes, sizeof workspace_bytes},
        {CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes, sizeof schemes},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &align.left, sizeof align.left},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &align.right, sizeof align.right},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &align.result, sizeof align.result},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &align.result, sizeof align.result}};
    for (const auto &each : said)
        LT_TRY(s, own, p, cublasLtMatmulPreferenceSetAttribute, wish, each.name, each.value,
               each.bytes);
    return TAPER_OK;
}

/* Whether cuBLASLt has no algorithm for it. For epilogues there are several such statuses. */
static bool is_refused(const cuda_product *p, cublasStatus_t status) {
    return status == CUBLAS_STATUS_NOT_SUPPORTED ||
           (has_vector(p) &&
            (status == CUBLAS_STATUS_INVALID_VALUE || status == CUBLAS_STATUS_ARCH_MISMATCH));
}

/* Takes the first algorithm of the heuristic. */
static taper_status ask(train_stream *s, const cuda_products *own, const cuda_product *p,
                        const lt_matrices *m, cublasLtMatmulPreference_t wish, lt_choice *choice) {
    cublasLtMatmulHeuristicResult_t first = {};
    int count = 0;
    const cublasStatus_t status = own->lt->cublasLtMatmulAlgoGetHeuristic(
        own->handle, m->product, m->left, m->right, m->result, m->result, wish, 1, &first, &count);
    choice->found = status == CUBLAS_STATUS_SUCCESS && count && first.state == status;
    choice->algorithm = first.algo;
    if (is_refused(p, status)) return TAPER_OK;
    return status_of(s, own->lt, p->operation, "cublasLtMatmulAlgoGetHeuristic", status);
}

/* The algorithm for such products, from the stream's table or from the heuristic. */
static taper_status choose(train_stream *s, cuda_products *own, const cuda_product *p,
                           const lt_places &at, const lt_matrices *m, lt_choice **choice) {
    const lt_alignments align = alignments_of(p, at);
    const shape_key key(p->m, p->n, p->k, p->transpose_a, p->transpose_b, at.rounds, align.left,
                        align.right, align.result, epilogue_of(p),
                        has_vector(p) ? alignment(at.vector) : 0);
    auto known = own->choice.find(key);
    if (known == own->choice.end()) {
        lt_choice asked = {};
        cublasLtMatmulPreference_t wish = NULL;
        LT_TRY(s, own, p, cublasLtMatmulPreferenceCreate, &wish);
        taper_status status = prefer(s, own, p, align, wish);
        if (status == TAPER_OK) status = ask(s, own, p, m, wish, &asked);
        own->lt->cublasLtMatmulPreferenceDestroy(wish);
        TAPER_TRY(status);
        try {
            known = own->choice.emplace(key, asked).first;
        } catch (const std::bad_alloc &) {
            return TAPER_ERR_NOMEM;
        }
    }
    *choice = &known->second;
    return TAPER_OK;
}

/* --- products -------------------------------------------------------------------------- */

static taper_status multiply_described(train_stream *s, cuda_products *own, const cuda_product *p,
                                       const lt_places &at, const lt_matrices *m, bool *offered) {
    const float one = 1.0f;
    lt_choice *choice;
    TAPER_TRY(choose(s, own, p, at, m, &choice));
    *offered = choice->found;
    if (!*offered) return TAPER_OK;
    const cublasStatus_t status = own->lt->cublasLtMatmul(
        own->handle, m->product, &one, at.b, m->left, at.a, m->right, &p->beta, at.c, m->result,
        at.c, m->result, &choice->algorithm, own->workspace, LT_WORKSPACE_BYTES, cuda_on(s));
    if (!has_vector(p) || !is_refused(p, status))
        return status_of(s, own->lt, p->operation, "cublasLtMatmul", status);
    *offered = choice->found = false; /* the caller repeats it without its epilogue */
    return TAPER_OK;
}

/* Computes the product with its epilogue. If no algorithm has it, *offered is false and nothing is
 * done. */
static taper_status multiply(train_stream *s, cuda_products *own, const cuda_product *p,
                             const lt_places &at, bool *offered) {
    lt_matrices m = {};
    *offered = false;
    taper_status status = describe(s, own, p, at, &m);
    if (status == TAPER_OK) status = multiply_described(s, own, p, at, &m, offered);
    drop(own, &m);
    return status;
}

static taper_status none_offered(train_stream *s, const cuda_product *p) {
    static const char *const name[] = {"float32", "tf32", "bf16"}; /* train_precision */
    const train_precision precision = cuda_precision(s->device);
    char why[160];
    snprintf(why, sizeof why, "cuBLASLt has no product of %zu x %zu x %zu in %s%s", p->m, p->k,
             p->n, name[precision], precision == TRAIN_FLOAT32 ? "" : "; give --precision float32");
    return cuda_fail(s, p->operation, why);
}

taper_status cuda_lt_product(train_stream *s, const cuda_product *p, cuda_finish *left) {
    cuda_products *own;
    cuda_product plain = *p;
    lt_places at;
    bool offered;
    TAPER_TRY(products_of(s, p, &own));
    TAPER_TRY(places_of(s, p, &at));
    *left = p->bias && p->activation == CODEC_LOGISTIC ? CUDA_ACTIVATION : CUDA_NOTHING;
    TAPER_TRY(multiply(s, own, p, at, &offered));
    if (!offered && has_vector(p)) {
        plain.bias = NULL, plain.sums = NULL;
        *left = p->sums ? CUDA_SUMS : CUDA_BIAS_AND_ACTIVATION;
        TAPER_TRY(multiply(s, own, &plain, at, &offered));
    }
    return offered ? TAPER_OK : none_offered(s, p);
}
