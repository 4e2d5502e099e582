/* matmul.cu -- the bare matrix products of a training step, at the fastest that cuBLASLt has.
 *
 *     matmul [BATCH [WIDTH WIDTH ...]]     10000, and both networks of bench/gpu/README.md
 *
 * Widths go from the pixels to the code; the decoder mirrors them. A layer has its product forward,
 * its weights' gradient, and, but for the first, its input's gradient: laid out as train/nested/
 * lays them out. Every algorithm that the heuristic offers is tried, and the fastest few again: the
 * least mean of ten launches is kept, by CUDA's events. Factors of bfloat16 have results of
 * bfloat16, but for the weights' gradients: the least that a step could do.
 *
 * Prints JSON lines: each product in ms, their sums for each network and precision, and the copy
 * bandwidth, read and written. Without a GPU it says so and ends well. BENCH_DEVICE is
 * config.device. */
extern "C" {
#include "bench/bench.h"
}
#include <algorithm>
#include <cublasLt.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <vector>

static void need(bool good, const char *what) {
    if (good) return;
    fprintf(stderr, "matmul: %s: %s\n", what, cudaGetErrorString(cudaGetLastError()));
    exit(1);
}
static void need_lt(cublasStatus_t status, const char *what) {
    need(status == CUBLAS_STATUS_SUCCESS, what);
}

/* --- the products of a step ------------------------------------------------------------ */

/* C[m][n] = op(A) op(B), row-major. */
struct product {
    const char *what;
    bool turn_a, turn_b;
    size_t m, n, k;
    bool gradient; /* of weights: a result of single precision */
};

static std::vector<product> products_of(const std::vector<size_t> &width, size_t batch) {
    std::vector<product> all;
    for (size_t l = 0; l + 1 < width.size(); l++) {
        const size_t in = width[l], out = width[l + 1];
        all.push_back({"encoder", false, true, batch, out, in, false});
        all.push_back({"encoder, weights", true, false, out, in, batch, true});
        if (l) all.push_back({"encoder, back", false, false, batch, in, out, false});
        all.push_back({"decoder", false, false, batch, in, out, false});
        all.push_back({"decoder, weights", true, false, out, in, batch, true});
        all.push_back({"decoder, back", false, true, batch, out, in, false});
    }
    return all;
}

/* --- one product ------------------------------------------------------------------------ */

struct precision {
    const char *name;
    cudaDataType_t factors;
    cublasComputeType_t compute;
};
static const precision precisions[] = {
    {"float32", CUDA_R_32F, CUBLAS_COMPUTE_32F},
    {"tf32", CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32},
    {"bf16", CUDA_R_16BF, CUBLAS_COMPUTE_32F},
};

/* What all products use. */
struct bench {
    cublasLtHandle_t lt;
    void *a, *b, *c, *workspace;
    size_t room;
    cudaEvent_t begin, end;
};
static const size_t WORKSPACE = (size_t)256 << 20;

struct call {
    cublasLtMatmulDesc_t product;
    cublasLtMatrixLayout_t left, right, result;
};

/* cuBLASLt's matrices are column-major: it is asked for C^T = op(B)^T op(A)^T. */
static call describe(const product &p, const precision &how) {
    const cublasOperation_t turned = CUBLAS_OP_T, plain = CUBLAS_OP_N;
    const size_t b_row = p.turn_b ? p.k : p.n, b_rows = p.turn_b ? p.n : p.k;
    const size_t a_row = p.turn_a ? p.m : p.k, a_rows = p.turn_a ? p.k : p.m;
    const cudaDataType_t result = p.gradient ? CUDA_R_32F : how.factors;
    call c;
    need_lt(cublasLtMatmulDescCreate(&c.product, how.compute, CUDA_R_32F), "a product");
    need_lt(cublasLtMatmulDescSetAttribute(c.product, CUBLASLT_MATMUL_DESC_TRANSA,
                                           p.turn_b ? &turned : &plain, sizeof turned),
            "a product");
    need_lt(cublasLtMatmulDescSetAttribute(c.product, CUBLASLT_MATMUL_DESC_TRANSB,
                                           p.turn_a ? &turned : &plain, sizeof turned),
            "a product");
    need_lt(cublasLtMatrixLayoutCreate(&c.left, how.factors, b_row, b_rows, (int64_t)b_row), "B");
    need_lt(cublasLtMatrixLayoutCreate(&c.right, how.factors, a_row, a_rows, (int64_t)a_row), "A");
    need_lt(cublasLtMatrixLayoutCreate(&c.result, result, p.n, p.m, (int64_t)p.n), "C");
    return c;
}

static void drop(call *c) {
    cublasLtMatrixLayoutDestroy(c->result);
    cublasLtMatrixLayoutDestroy(c->right);
    cublasLtMatrixLayoutDestroy(c->left);
    cublasLtMatmulDescDestroy(c->product);
}

/* Milliseconds of one of so many in a row; a negative number: the algorithm cannot do it. */
static float time_of(const bench &b, const call &c, const cublasLtMatmulAlgo_t *algorithm,
                     int launches) {
    const float one = 1.0f, none = 0.0f;
    float ms = 0.0f;
    need(cudaEventRecord(b.begin) == cudaSuccess, "an event");
    for (int i = 0; i < launches; i++)
        if (cublasLtMatmul(b.lt, c.product, &one, b.b, c.left, b.a, c.right, &none, b.c, c.result,
                           b.c, c.result, algorithm, b.workspace, WORKSPACE,
                           NULL) != CUBLAS_STATUS_SUCCESS)
            return -1.0f;
    need(cudaEventRecord(b.end) == cudaSuccess, "an event");
    need(cudaEventSynchronize(b.end) == cudaSuccess, "a product");
    need(cudaEventElapsedTime(&ms, b.begin, b.end) == cudaSuccess, "a time");
    return ms / (float)launches;
}

/* What the heuristic offers. */
static std::vector<cublasLtMatmulHeuristicResult_t> offered(const bench &b, const call &c) {
    enum { MOST = 256 };
    std::vector<cublasLtMatmulHeuristicResult_t> found(MOST);
    cublasLtMatmulPreference_t wish;
    int count = 0;
    need_lt(cublasLtMatmulPreferenceCreate(&wish), "a preference");
    need_lt(cublasLtMatmulPreferenceSetAttribute(wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                 &WORKSPACE, sizeof WORKSPACE),
            "a preference");
    need_lt(cublasLtMatmulAlgoGetHeuristic(b.lt, c.product, c.left, c.right, c.result, c.result,
                                           wish, MOST, found.data(), &count),
            "the heuristic");
    cublasLtMatmulPreferenceDestroy(wish);
    found.resize((size_t)count);
    return found;
}

/* Least milliseconds of a product; *tried algorithms. */
static float fastest(const bench &b, const product &p, const precision &how, size_t *tried) {
    enum { AGAIN = 5, ROUNDS = 5, LAUNCHES = 10 };
    call c = describe(p, how);
    const auto found = offered(b, c);
    std::vector<std::pair<float, const cublasLtMatmulAlgo_t *>> times;
    for (const auto &f : found) {
        time_of(b, c, &f.algo, 1); /* loads it */
        const float ms = time_of(b, c, &f.algo, 2);
        if (ms >= 0.0f) times.push_back({ms, &f.algo});
    }
    need(!times.empty(), "no algorithm");
    std::sort(times.begin(), times.end());
    float best = times[0].first;
    for (size_t i = 0; i < times.size() && i < AGAIN; i++)
        for (int round = 0; round < ROUNDS; round++)
            best = std::min(best, time_of(b, c, times[i].second, LAUNCHES));
    drop(&c);
    *tried = times.size();
    return best;
}

/* --- the whole -------------------------------------------------------------------------- */

static const char *device_name() {
    const char *name = getenv("BENCH_DEVICE");
    return name ? name : "cuda:0";
}

static void one_network(const bench &b, const std::vector<size_t> &width, size_t batch) {
    char network[160] = "", config[512];
    size_t used = 0;
    for (size_t i = 0; i < 2 * width.size() - 1; i++) {
        const size_t w = width[i < width.size() ? i : 2 * width.size() - 2 - i];
        used += (size_t)snprintf(network + used, sizeof network - used, "%s%zu", i ? "-" : "", w);
    }
    for (const precision &how : precisions) {
        double sum = 0.0, flops = 0.0;
        for (const product &p : products_of(width, batch)) {
            size_t tried;
            const float ms = fastest(b, p, how, &tried);
            sum += (double)ms, flops += 2.0 * (double)p.m * (double)p.n * (double)p.k;
            snprintf(config, sizeof config,
                     "{\"device\":\"%s\",\"network\":\"%s\",\"precision\":\"%s\",\"batch\":%zu,"
                     "\"product\":\"%s\",\"m\":%zu,\"n\":%zu,\"k\":%zu,\"algorithms\":%zu}",
                     device_name(), network, how.name, batch, p.what, p.m, p.n, p.k, tried);
            bench_print("speed/matmul", "product", (double)ms, "ms", config);
        }
        snprintf(config, sizeof config,
                 "{\"device\":\"%s\",\"network\":\"%s\",\"precision\":\"%s\",\"batch\":%zu}",
                 device_name(), network, how.name, batch);
        bench_print("speed/matmul", "sum", sum, "ms", config);
        bench_print("speed/matmul", "rate", flops / sum * 1e-9, "TFLOP/s", config);
    }
}

static void bandwidth(const bench &b) {
    char config[128];
    float best = 1e9f;
    for (int round = 0; round < 10; round++) {
        float ms;
        need(cudaEventRecord(b.begin) == cudaSuccess, "an event");
        need(cudaMemcpyAsync(b.c, b.a, b.room, cudaMemcpyDeviceToDevice) == cudaSuccess, "a copy");
        need(cudaEventRecord(b.end) == cudaSuccess, "an event");
        need(cudaEventSynchronize(b.end) == cudaSuccess, "a copy");
        need(cudaEventElapsedTime(&ms, b.begin, b.end) == cudaSuccess, "a time");
        best = std::min(best, ms);
    }
    snprintf(config, sizeof config, "{\"device\":\"%s\",\"bytes\":%zu}", device_name(), b.room);
    bench_print("speed/matmul", "copy", 2e-6 * (double)b.room / (double)best, "GB/s", config);
}

int main(int argc, char **argv) {
    int devices = 0;
    bench_begin(argc, argv);
    if (cudaGetDeviceCount(&devices) != cudaSuccess || !devices) {
        printf("skip: matmul: %s\n", cudaGetErrorString(cudaGetLastError()));
        return 0;
    }
    const size_t batch = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000;
    std::vector<std::vector<size_t>> networks = {{3072, 1024}, {3072, 2048, 1024, 512}};
    if (argc > 3) {
        networks = {{}};
        for (int i = 2; i < argc; i++) networks[0].push_back(strtoul(argv[i], NULL, 10));
    }
    size_t widest = 1;
    for (const auto &network : networks)
        for (size_t w : network) widest = std::max(widest, w);
    bench b = {};
    b.room = std::max((size_t)1 << 28, sizeof(float) * widest * std::max(batch, widest));
    /* bytes of 0x3c: small numbers, in float and bfloat16 alike; zeros would take less power */
    for (void **memory : {&b.a, &b.b, &b.c})
        need(cudaMalloc(memory, b.room) == cudaSuccess &&
                 cudaMemset(*memory, 0x3c, b.room) == cudaSuccess,
             "memory");
    need(cudaMalloc(&b.workspace, WORKSPACE) == cudaSuccess, "memory");
    need(cudaEventCreate(&b.begin) == cudaSuccess && cudaEventCreate(&b.end) == cudaSuccess,
         "an event");
    need_lt(cublasLtCreate(&b.lt), "cuBLASLt");
    bandwidth(b);
    for (const auto &network : networks) one_network(b, network, batch);
    cublasLtDestroy(b.lt);
    return 0;
}
