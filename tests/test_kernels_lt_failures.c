/* test_kernels_lt_failures.c -- cuBLASLt that is missing, fails in any call, or has no algorithm:
 * on the execution model. */
#define EVERY_DEVICE_KERNELS 1
#include "on_device.h"
#include "cuda/cublasLt.h"
#include <stdio.h>

static const cuda_model_machine healthy = {.devices = 1, .capability = 90, .driver = 13000};

/* --- operations ------------------------------------------------------------------------- */

enum { M = 3, K = 4, N = 5, ALL = M * K + K * N + M * N + N };
typedef enum operation { GEMM, AFFINE, WEIGHT_GRADIENT, OPERATIONS } operation;
static const char *const names[OPERATIONS] = {"gemm", "affine", "weight_gradient"};

/* On ones: every element of a product is then K. */
static taper_status operate(on_device *d, operation which, float *got) {
    float ones[ALL];
    for (int i = 0; i < ALL; i++) ones[i] = 1.0f;
    float *a = on_device_give(d, ones, M * K * sizeof *a), *c,
          *b = on_device_give(d, ones, K * N * sizeof *b), *v;
    c = on_device_give(d, ones, M * N * sizeof *c), v = on_device_give(d, ones, N * sizeof *v);
    const train_affine layer = {
        .m = M, .n = N, .k = K, .a = a, .b = b, .c = c, .bias = v, .activation = CODEC_RELU};
    const train_weight_gradient gradient = {
        .rows = K, .m = M, .n = N, .a = a, .b = b, .c = c, .sums = v, .of_b = 1};
    taper_status status = TAPER_OK;
    if (which == GEMM)
        status = d->stream.ops->gemm(&d->stream, 0, 0, M, N, K, a, b, 1.0f, c);
    else if (which == AFFINE)
        status = d->stream.ops->affine(&d->stream, &layer);
    else
        status = d->stream.ops->weight_gradient(&d->stream, &gradient);
    if (status == TAPER_OK) on_device_take(d, got, c, M * N * sizeof *got);
    on_device_forget(d);
    return status;
}

/* It works, as if nothing had been. */
static void works(on_device *d, operation which) {
    float got[M * N];
    assert_int_equal(operate(d, which, got), TAPER_OK);
    for (int i = 0; i < M * N; i++) assert_true(got[i] == K + 1.0f);
}

static void fails(on_device *d, operation which, const char *fault) {
    float got[M * N];
    assert_int_equal(operate(d, which, got), TAPER_ERR_DEVICE);
    assert_string_equal(train_cuda_fault(&d->device), fault);
}

/* --- libraries -------------------------------------------------------------------------- */

/* First of all, as a library that was found is kept. */
static void a_missing_library_is_named(void **state) {
    (void)state;
    on_device d;
    for (int which = 0; which < OPERATIONS; which++) {
        char fault[128];
        cuda_model_set_lt(which ? CUDA_MODEL_LT_INCOMPLETE : CUDA_MODEL_LT_MISSING);
        snprintf(fault, sizeof fault,
                 "cuda:0: %s: libcublasLt.so.13 cannot be loaded; install CUDA's libcublas, or "
                 "give --device cpu",
                 names[which]);
        on_device_open_cuda(&d);
        fails(&d, (operation)which, fault);
        on_device_close(&d);
    }
    cuda_model_set_lt(CUDA_MODEL_LT_ELSEWHERE);
    on_device_open_cuda(&d);
    works(&d, GEMM);
    on_device_close(&d);
    cuda_model_set_lt(CUDA_MODEL_LT_WHOLE);
}

/* --- calls ------------------------------------------------------------------------------ */

/* Call number `call` of an operation fails; then it works, but where it has no algorithm. */
static void one_call_fails(train_precision precision, operation which, uint64_t call, int how) {
    on_device d;
    float got[M * N];
    on_device_open_precision(&d, precision);
    cuda_model_fail_lt(call, how);
    const taper_status status = operate(&d, which, got);
    const char *fault = train_cuda_fault(&d.device);
    char begin[64];
    snprintf(begin, sizeof begin, "cuda:0: %s: cu", names[which]); /* cuBLASLt, or the call */
    if (how == CUBLAS_STATUS_ALLOC_FAILED) assert_int_equal(status, TAPER_ERR_NOMEM);
    if (how == CUBLAS_STATUS_INTERNAL_ERROR) {
        assert_int_equal(status, TAPER_ERR_DEVICE);
        assert_non_null(strstr(fault, ": an internal error"));
    }
    if (status == TAPER_ERR_DEVICE)
        assert_int_equal(strncmp(fault, begin, strlen(begin)), 0);
    else
        assert_string_equal(fault, "");
    cuda_model_fail_lt(0, 0);
    if (how != CUBLAS_STATUS_NOT_SUPPORTED) works(&d, which);
    on_device_close(&d);
    assert_int_equal(cuda_model_lt_alive(), 0);
}

static void every_call_may_fail(void **state) {
    (void)state;
    static const int how[] = {CUBLAS_STATUS_INTERNAL_ERROR, CUBLAS_STATUS_ALLOC_FAILED,
                              CUBLAS_STATUS_NOT_SUPPORTED};
    for (int precision = 0; precision < 3; precision++)
        for (int which = 0; which < OPERATIONS; which++) {
            on_device d;
            on_device_open_precision(&d, (train_precision)precision);
            cuda_model_fail_lt(0, 0);
            works(&d, (operation)which);
            const uint64_t calls = cuda_model_lt_calls();
            on_device_close(&d);
            assert_true(calls >= 15);
            for (uint64_t call = 1; call <= calls; call++)
                for (int i = 0; i < 3; i++)
                    one_call_fails((train_precision)precision, (operation)which, call, how[i]);
        }
}

static void products_that_are_not_offered_are_named(void **state) {
    (void)state;
    on_device d;
    cuda_model_machine old = healthy;
    cuda_model_refuse(CUBLASLT_EPILOGUE_DEFAULT, CUDA_MODEL_NOT_FOUND);
    on_device_open_cuda(&d);
    fails(&d, GEMM, "cuda:0: gemm: cuBLASLt has no product of 3 x 4 x 5 in float32");
    works(&d, AFFINE);
    on_device_close(&d);
    cuda_model_refuse(CUBLASLT_EPILOGUE_DEFAULT, CUDA_MODEL_OFFERED);
    old.capability = 75;
    cuda_model_set_machine(old);
    on_device_open_precision(&d, TRAIN_BFLOAT16);
    fails(&d, AFFINE,
          "cuda:0: affine: cuBLASLt has no product of 3 x 4 x 5 in bf16; give --precision float32");
    on_device_close(&d);
    cuda_model_set_machine(healthy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_library_is_named),
        cmocka_unit_test(every_call_may_fail),
        cmocka_unit_test(products_that_are_not_offered_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
