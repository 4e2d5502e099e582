/* test_kernels_cublaslt_failures.c -- cuBLASLt misused: what its stand-in on the execution model
 * (tests/cuda/cublasLt.h) refuses, which is held against the library itself where that is
 * installed, as far as it goes without a GPU. */
#define EVERY_DEVICE_KERNELS 1
#include "on_device.h"
#include "cuda/cublasLt.h"
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { M = 3, K = 4, N = 5, ALL = M * K + K * N + M * N + N };

/* --- a product ---------------------------------------------------------------------------- */

/* A product as it should be asked for: C[3][5] += A[3][4] B[4][5] by columns, with a bias. Of its
 * own memory, as it tries what must not be. */
typedef struct asked {
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t product;
    cublasLtMatmulPreference_t wish;
    cublasLtMatrixLayout_t a, b, c;
    cublasLtMatmulAlgo_t algorithm;
    float *at[3], *vector, *workspace;
    size_t bytes;
} asked;

static on_device *const machine = &(on_device){.cuda = 0};

#define IS(status, call) assert_int_equal(call, CUBLAS_STATUS_##status)

static void say_vector(asked *q, uint32_t epilogue) {
    IS(SUCCESS, cublasLtMatmulDescSetAttribute(q->product, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                               sizeof epilogue));
    IS(SUCCESS, cublasLtMatmulDescSetAttribute(q->product, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                               &q->vector, sizeof q->vector));
}

static asked begin(void) {
    asked q = {.bytes = 1024};
    const uint64_t most = 1024;
    float zeros[ALL] = {0};
    IS(SUCCESS, cublasLtCreate(&q.handle));
    IS(SUCCESS, cublasLtMatmulDescCreate(&q.product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    IS(SUCCESS, cublasLtMatmulPreferenceCreate(&q.wish));
    IS(SUCCESS, cublasLtMatmulPreferenceSetAttribute(
                    q.wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof most));
    IS(SUCCESS, cublasLtMatrixLayoutCreate(&q.a, CUDA_R_32F, M, K, M));
    IS(SUCCESS, cublasLtMatrixLayoutCreate(&q.b, CUDA_R_32F, K, N, K));
    IS(SUCCESS, cublasLtMatrixLayoutCreate(&q.c, CUDA_R_32F, M, N, M));
    q.at[0] = on_device_give(machine, zeros, M * K * sizeof(float));
    q.at[1] = on_device_give(machine, zeros, K * N * sizeof(float));
    q.at[2] = on_device_give(machine, zeros, M * N * sizeof(float));
    q.vector = on_device_give(machine, zeros, M * sizeof(float));
    q.workspace = on_device_give(machine, NULL, q.bytes);
    say_vector(&q, CUBLASLT_EPILOGUE_BIAS);
    return q;
}

static int choose(asked *q) {
    cublasLtMatmulHeuristicResult_t found = {.workspaceSize = 0};
    int count = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        q->handle, q->product, q->a, q->b, q->c, q->c, q->wish, 1, &found, &count);
    q->algorithm = found.algo;
    return status == CUBLAS_STATUS_SUCCESS && count == 1 ? (int)found.state : (int)status;
}

static cublasStatus_t multiply(const asked *q) {
    const float one = 1.0f;
    return cublasLtMatmul(q->handle, q->product, &one, q->at[0], q->a, q->at[1], q->b, &one,
                          q->at[2], q->c, q->at[2], q->c, &q->algorithm, q->workspace, q->bytes,
                          NULL);
}

static void end(asked *q) {
    cublasLtMatrixLayoutDestroy(q->a), cublasLtMatrixLayoutDestroy(q->b);
    cublasLtMatrixLayoutDestroy(q->c), cublasLtMatmulPreferenceDestroy(q->wish);
    cublasLtMatmulDescDestroy(q->product), cublasLtDestroy(q->handle);
    on_device_forget(machine);
}

/* What is asked for in another way, each on its own, and what becomes of it when an algorithm is
 * chosen, and when it is used that was chosen before. */
typedef enum change {
    NOTHING,
    SHORT_STRIDE,
    OTHER_SHAPE,
    TURNED,
    OTHER_TYPE,
    OTHER_EPILOGUE,
    SUMS_OF_A_TURNED,
    SUMS_OF_B_NOT_TURNED,
    OTHER_VECTOR_TYPE,
    NO_VECTOR,
    WIDER_STRIDE,
    CHANGES
} change;

static void remake(cublasLtMatrixLayout_t *matrix, cudaDataType_t type, uint64_t rows,
                   uint64_t columns, int64_t stride) {
    cublasLtMatrixLayoutDestroy(*matrix);
    IS(SUCCESS, cublasLtMatrixLayoutCreate(matrix, type, rows, columns, stride));
}

static void turn(asked *q, cublasLtMatmulDescAttributes_t which) {
    const int32_t turned = CUBLAS_OP_T;
    IS(SUCCESS, cublasLtMatmulDescSetAttribute(q->product, which, &turned, sizeof turned));
}

static void apply(asked *q, change which) {
    const int32_t type = CUDA_R_16BF;
    switch (which) {
    case SHORT_STRIDE: remake(&q->a, CUDA_R_32F, M, K, M - 1); break;
    case OTHER_SHAPE: remake(&q->b, CUDA_R_32F, K + 1, N, K + 1); break;
    case TURNED: turn(q, CUBLASLT_MATMUL_DESC_TRANSA); break;
    case OTHER_TYPE: remake(&q->a, CUDA_R_16BF, M, K, M); break;
    case OTHER_EPILOGUE: say_vector(q, CUBLASLT_EPILOGUE_RELU_BIAS); break;
    case SUMS_OF_A_TURNED:
        turn(q, CUBLASLT_MATMUL_DESC_TRANSA), remake(&q->a, CUDA_R_32F, K, M, K);
        say_vector(q, CUBLASLT_EPILOGUE_BGRADA);
        break;
    case SUMS_OF_B_NOT_TURNED: say_vector(q, CUBLASLT_EPILOGUE_BGRADB); break;
    case OTHER_VECTOR_TYPE:
        IS(SUCCESS, cublasLtMatmulDescSetAttribute(q->product, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE,
                                                   &type, sizeof type));
        break;
    case NO_VECTOR: q->vector = NULL, say_vector(q, CUBLASLT_EPILOGUE_BIAS); break;
    case WIDER_STRIDE: remake(&q->a, CUDA_R_32F, M, K - 1, M + 1), (void)0; break;
    default: break;
    }
}

static void what_does_not_fit_is_refused(void **state) {
    (void)state;
    enum { OK = CUBLAS_STATUS_SUCCESS, NO = CUBLAS_STATUS_INVALID_VALUE };
    enum { NONE = CUBLAS_STATUS_NOT_SUPPORTED };
    static const int want[CHANGES][2] = {[NOTHING] = {OK, OK},
                                         [SHORT_STRIDE] = {NO, NO},
                                         [OTHER_SHAPE] = {NO, NO},
                                         [TURNED] = {NO, NO},
                                         [OTHER_TYPE] = {NONE, NONE},
                                         [OTHER_EPILOGUE] = {OK, NO},
                                         [SUMS_OF_A_TURNED] = {NONE, NONE},
                                         [SUMS_OF_B_NOT_TURNED] = {NONE, NONE},
                                         [OTHER_VECTOR_TYPE] = {NONE, NONE},
                                         [NO_VECTOR] = {NO, NO},
                                         [WIDER_STRIDE] = {NO, NO}};
    for (int which = 0; which < CHANGES; which++) {
        asked q = begin();
        assert_int_equal(choose(&q), OK);
        apply(&q, (change)which);
        assert_int_equal(multiply(&q), want[which][1]);
        assert_int_equal(choose(&q), want[which][0]);
        end(&q);
    }
}

/* An algorithm keeps to what it was promised, and takes no other's place. */
static void promises_are_kept(void **state) {
    (void)state;
    const uint32_t less = 4, crooked = 3;
    asked q = begin();
    IS(SUCCESS, (cublasStatus_t)choose(&q));
    IS(SUCCESS, multiply(&q));
    for (int i = 0; i < 3; i++) {
        q.at[i]++;
        IS(INVALID_VALUE, multiply(&q));
        q.at[i]--;
    }
    q.bytes--;
    IS(INVALID_VALUE, multiply(&q));
    q.bytes++, q.workspace++;
    IS(INVALID_VALUE, multiply(&q));
    q.workspace--, q.algorithm.data[1] += 99;
    IS(INVALID_VALUE, multiply(&q));
    IS(SUCCESS, cublasLtMatmulPreferenceSetAttribute(
                    q.wish, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &less, sizeof less));
    IS(SUCCESS, (cublasStatus_t)choose(&q));
    IS(SUCCESS, cublasLtMatmulPreferenceSetAttribute(
                    q.wish, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &crooked, sizeof crooked));
    IS(INVALID_VALUE, (cublasStatus_t)choose(&q));
    end(&q);
}

/* --- what a GPU would not notice -------------------------------------------------------- */

static bool ends_the_program(asked *q) {
    int how = 0;
    fflush(stdout);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        assert_non_null(freopen("/dev/null", "w", stderr));
        multiply(q);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    return WIFSIGNALED(how) && WTERMSIG(how) == SIGABRT;
}

static void what_a_gpu_would_not_notice_ends_the_program(void **state) {
    (void)state;
    const uint32_t least = 4;
    asked q = begin();
    float *const own[3] = {q.at[0], q.at[1], q.at[2]}, *const workspace = q.workspace;
    for (int i = 0; i < 4; i++)
        IS(SUCCESS,
           cublasLtMatmulPreferenceSetAttribute(
               q.wish,
               (cublasLtMatmulPreferenceAttributes_t)(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES +
                                                      i),
               &least, sizeof least));
    IS(SUCCESS, (cublasStatus_t)choose(&q));
    assert_false(ends_the_program(&q));
    for (int i = 0; i < 3; i++) {
        q.at[i] = own[i] + 1; /* its end is beyond its memory */
        assert_true(ends_the_program(&q));
        q.at[i] = own[i];
    }
    q.at[2] = own[1]; /* as large at least */
    assert_true(ends_the_program(&q));
    q.at[2] = own[2], q.bytes += 256;
    assert_true(ends_the_program(&q));
    q.bytes -= 256, q.workspace = (float *)on_device_give(machine, NULL, 64);
    assert_true(ends_the_program(&q));
    q.workspace = workspace;
    assert_false(ends_the_program(&q));
    end(&q);
}

/* --- and the library itself ------------------------------------------------------------- */

/* What the handles that need no GPU say of attributes, and of the sizes of these. */
enum { ANSWERS = 24 };
typedef struct library {
    __typeof__(&cublasLtMatmulDescCreate) describe;
    __typeof__(&cublasLtMatmulDescSetAttribute) set;
    __typeof__(&cublasLtMatmulDescDestroy) drop;
    __typeof__(&cublasLtMatmulPreferenceCreate) prefer;
    __typeof__(&cublasLtMatmulPreferenceSetAttribute) say;
    __typeof__(&cublasLtMatmulPreferenceDestroy) forget;
    __typeof__(&cublasLtMatrixLayoutCreate) lay;
    __typeof__(&cublasLtMatrixLayoutDestroy) lift;
} library;

static void answers_of(const library *lt, int answers[ANSWERS]) {
    static const uint64_t zeros[2];
    static const cublasLtMatmulDescAttributes_t described[] = {
        CUBLASLT_MATMUL_DESC_TRANSA, CUBLASLT_MATMUL_DESC_TRANSB, CUBLASLT_MATMUL_DESC_EPILOGUE,
        CUBLASLT_MATMUL_DESC_BIAS_POINTER, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE};
    static const cublasLtMatmulPreferenceAttributes_t preferred[] = {
        CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
    cublasLtMatmulDesc_t product = NULL;
    cublasLtMatmulPreference_t wish = NULL;
    cublasLtMatrixLayout_t matrix = NULL;
    int n = 0;
    answers[n++] = (int)lt->describe(&product, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F);
    for (int i = 0; i < 5; i++)
        for (size_t bytes = 4; bytes <= 8; bytes += 4)
            answers[n++] = (int)lt->set(product, described[i], zeros, bytes);
    answers[n++] = (int)lt->drop(product);
    answers[n++] = (int)lt->prefer(&wish);
    for (int i = 0; i < 4; i++)
        for (size_t bytes = 4; bytes <= 8; bytes += 4)
            answers[n++] = (int)lt->say(wish, preferred[i], zeros, bytes);
    answers[n++] = (int)lt->forget(wish);
    answers[n++] = (int)lt->lay(&matrix, CUDA_R_16BF, 5, 7, 4);
    answers[n++] = (int)lt->lift(matrix);
    assert_int_equal(n, ANSWERS);
}

static void the_stand_in_is_as_the_library(void **state) {
    (void)state;
    static const char *const functions[] = {"cublasLtMatmulDescCreate",
                                            "cublasLtMatmulDescSetAttribute",
                                            "cublasLtMatmulDescDestroy",
                                            "cublasLtMatmulPreferenceCreate",
                                            "cublasLtMatmulPreferenceSetAttribute",
                                            "cublasLtMatmulPreferenceDestroy",
                                            "cublasLtMatrixLayoutCreate",
                                            "cublasLtMatrixLayoutDestroy"};
    const library own = {cublasLtMatmulDescCreate,
                         cublasLtMatmulDescSetAttribute,
                         cublasLtMatmulDescDestroy,
                         cublasLtMatmulPreferenceCreate,
                         cublasLtMatmulPreferenceSetAttribute,
                         cublasLtMatmulPreferenceDestroy,
                         cublasLtMatrixLayoutCreate,
                         cublasLtMatrixLayoutDestroy};
    library there;
    int want[ANSWERS], got[ANSWERS];
    void *found = dlopen("libcublasLt.so.13", RTLD_NOW | RTLD_LOCAL); /* for good */
    if (!found) found = dlopen("/usr/local/cuda/lib64/libcublasLt.so.13", RTLD_NOW | RTLD_LOCAL);
    if (!found) {
        printf("libcublasLt.so.13 is not installed\n");
        skip();
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *function = dlsym(found, functions[i]);
        assert_non_null(function);
        memcpy((char *)&there + i * sizeof function, &function, sizeof function);
    }
    answers_of(&there, want), answers_of(&own, got);
    for (int i = 0; i < ANSWERS; i++)
        if (want[i] != got[i]) fail_msg("answer %d is %d, the library's %d", i, got[i], want[i]);
}

static int open_machine(void **state) {
    (void)state;
    on_device_open_cuda(machine);
    return 0;
}
static int close_machine(void **state) {
    (void)state;
    on_device_close(machine);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(promises_are_kept),
        cmocka_unit_test(what_a_gpu_would_not_notice_ends_the_program),
        cmocka_unit_test(the_stand_in_is_as_the_library),
    };
    return cmocka_run_group_tests(tests, open_machine, close_machine);
}
