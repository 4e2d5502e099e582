/* test_kernels_precisions.c -- products of matrices in every precision, with and without what
 * cuBLASLt may do beside, against double precision: on the execution model, whose cuBLASLt refuses
 * what it is told to, or on a GPU. */
#define EVERY_DEVICE_KERNELS 1
#include "device_numbers.h"
#include <math.h>

enum { MOST = 17000 };
static float a[MOST], b[MOST], c[MOST], bias[160];

/* A product, of whichever operation. */
typedef struct product {
    size_t m, n, k;
    int transpose_a, transpose_b;
    float beta;
    int apart[4]; /* numbers by which a, b, c and bias begin behind an aligned address */
    int rounds;   /* c is factors */
} product;

/* A factor as it is multiplied; TF32's are rounded to 10 bits, how is not said. */
static double taken(train_precision precision, float x) {
    uint32_t bits;
    if (precision != TRAIN_BFLOAT16) return (double)x;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
    memcpy(&x, &bits, sizeof x);
    return (double)x;
}

/* What a result may be off by, of the sum of all magnitudes; sums may be of rounded numbers.
 * Factors are rounded, as their bias is, and once more where bias or activation are left to a
 * kernel. */
static double tolerance_of(train_precision precision, const product *p) {
    return p->rounds ? 3.0 / 512 : precision == TRAIN_TF32 ? 2e-3 : 1e-5;
}
static double sum_tolerance_of(train_precision precision) {
    return precision == TRAIN_FLOAT32 ? 1e-5 : precision == TRAIN_TF32 ? 1e-3 : 4e-3;
}

static void draw_all(const product *p) {
    randomise(a, p->m * p->k, 1.0f), randomise(b, p->k * p->n, 1.0f);
    randomise(c, p->m * p->n, 1.0f), randomise(bias, p->m + p->n, 1.0f);
    if (p->beta == 0.0f) c[0] = NAN;
}

/* Element i, j, and the sum of magnitudes that it is made of. */
static double element(const product *p, train_precision precision, size_t i, size_t j,
                      double *magnitude) {
    double sum = p->beta == 0.0f ? 0.0 : (double)p->beta * c[i * p->n + j];
    *magnitude = fabs(sum) + 1e-3;
    for (size_t t = 0; t < p->k; t++) {
        const double x = taken(precision, a[p->transpose_a ? t * p->m + i : i * p->k + t]) *
                         taken(precision, b[p->transpose_b ? j * p->k + t : t * p->n + j]);
        sum += x, *magnitude += fabs(x);
    }
    return sum;
}

static double activated(codec_activation activation, double z) {
    if (activation == CODEC_RELU) return z > 0.0 ? z : 0.0;
    return activation == CODEC_LOGISTIC ? 1.0 / (1.0 + exp(-z)) : z;
}

/* Most that a result is off by, of the sum of magnitudes. */
static double check(const product *p, train_precision precision, const float *got,
                    const float *added, codec_activation activation, const char *what) {
    double most = 0.0;
    for (size_t i = 0; i < p->m; i++)
        for (size_t j = 0; j < p->n; j++) {
            double magnitude, z = element(p, precision, i, j, &magnitude);
            const double want = activated(activation, z + (added ? (double)added[j] : 0.0));
            magnitude += fabs(bias[j]) + (p->rounds && activation == CODEC_LOGISTIC);
            const double off = fabs(got[i * p->n + j] - want) / magnitude;
            if (!(off <= tolerance_of(precision, p)))
                fail_msg("%s, %zu x %zu x %zu, %d %d, beta %g, precision %d: element %zu, %zu is "
                         "%.9g, expected %.9g (seed %llu)",
                         what, p->m, p->k, p->n, p->transpose_a, p->transpose_b, (double)p->beta,
                         precision, i, j, (double)got[i * p->n + j], want,
                         (unsigned long long)seed);
            most = off > most ? off : most;
        }
    return most;
}

/* An array there that begins `apart` numbers late. */
static float *give(on_device *d, const float *x, size_t n, int apart) {
    float *memory = on_device_give(d, NULL, (n + (size_t)apart) * sizeof *x);
    assert_int_equal(train_upload(&d->stream, memory + apart, x, n * sizeof *x), TAPER_OK);
    return memory + apart;
}

static double one_product(on_device *d, train_precision precision, const product *p) {
    static float got[MOST];
    draw_all(p);
    const float *left = give(d, a, p->m * p->k, p->apart[0]),
                *right = give(d, b, p->k * p->n, p->apart[1]);
    float *there = give(d, c, p->m * p->n, p->apart[2]);
    assert_int_equal(d->stream.ops->gemm(&d->stream, p->transpose_a, p->transpose_b, p->m, p->n,
                                         p->k, left, right, p->beta, there),
                     TAPER_OK);
    on_device_take(d, got, there, p->m * p->n * sizeof *got);
    on_device_forget(d);
    return check(p, precision, got, NULL, CODEC_LINEAR, "gemm");
}

static void one_layer(on_device *d, train_precision precision, const product *p,
                      codec_activation activation) {
    static float got[MOST];
    draw_all(p);
    train_affine layer = {.transpose_a = p->transpose_a, .transpose_b = p->transpose_b, .m = p->m};
    layer.n = p->n, layer.k = p->k, layer.beta = p->beta, layer.activation = activation;
    layer.a = give(d, a, p->m * p->k, p->apart[0]), layer.b = give(d, b, p->k * p->n, p->apart[1]);
    layer.bias = give(d, bias, p->n, p->apart[3]), layer.c = give(d, c, p->m * p->n, p->apart[2]);
    assert_int_equal(d->stream.ops->affine(&d->stream, &layer), TAPER_OK);
    on_device_take(d, got, layer.c, p->m * p->n * sizeof *got);
    on_device_forget(d);
    check(p, precision, got, bias, activation, "affine");
}

/* The same into factors, with a bias as it is, or of weights that have a copy. */
static void one_layer_of_factors(on_device *d, const product *like, codec_activation activation) {
    static float got[MOST];
    product p = *like;
    p.beta = 0.0f, p.rounds = 1;
    draw_all(&p);
    const size_t n = p.m * p.n;
    train_affine layer = {.transpose_a = p.transpose_a, .transpose_b = p.transpose_b, .m = p.m};
    layer.n = p.n, layer.k = p.k, layer.activation = activation;
    layer.a = give(d, a, p.m * p.k, p.apart[0]), layer.b = give(d, b, p.k * p.n, p.apart[1]);
    float *added = give(d, bias, p.n, p.apart[3]), *plain = give(d, c, n, 0);
    layer.bias = added, layer.c = give(d, c, n, p.apart[2]);
    assert_int_equal(train_keep(&d->device, TRAIN_FACTORS, layer.c, n), TAPER_OK);
    if (p.transpose_a)
        assert_int_equal(train_keep(&d->device, TRAIN_WEIGHTS, added, p.n), TAPER_OK);
    assert_int_equal(d->stream.ops->affine(&d->stream, &layer), TAPER_OK);
    assert_int_equal(d->stream.ops->copy_columns(&d->stream, p.m, p.n, layer.c, p.n, plain, p.n),
                     TAPER_OK);
    on_device_take(d, got, plain, n * sizeof *got);
    on_device_forget(d);
    check(&p, TRAIN_BFLOAT16, got, bias, activation, "affine into factors");
}

/* c += a^T b, sums += those of a's columns, or of b's. */
static void one_gradient(on_device *d, train_precision precision, const product *like, int of_b) {
    static float got[MOST], sums[160];
    product p = *like;
    p.transpose_a = 1, p.transpose_b = 0, p.beta = 1.0f;
    draw_all(&p);
    const size_t width = of_b ? p.n : p.m;
    const float *summed = of_b ? b : a;
    train_weight_gradient g = {.rows = p.k, .m = p.m, .n = p.n, .of_b = of_b};
    g.a = give(d, a, p.m * p.k, p.apart[0]), g.b = give(d, b, p.k * p.n, p.apart[1]);
    g.c = give(d, c, p.m * p.n, p.apart[2]), g.sums = give(d, bias, width, p.apart[3]);
    assert_int_equal(d->stream.ops->weight_gradient(&d->stream, &g), TAPER_OK);
    on_device_take(d, got, g.c, p.m * p.n * sizeof *got);
    on_device_take(d, sums, g.sums, width * sizeof *sums);
    on_device_forget(d);
    check(&p, precision, got, NULL, CODEC_LINEAR, "weight_gradient");
    for (size_t j = 0; j < width; j++) {
        double want = (double)bias[j], magnitude = fabs(want);
        for (size_t t = 0; t < p.k; t++)
            want += (double)summed[t * width + j], magnitude += fabs(summed[t * width + j]);
        assert_true(fabs(sums[j] - want) <= sum_tolerance_of(precision) * magnitude);
    }
}

static const size_t shapes[][3] = {{1, 1, 1},    {3, 70, 9},    {65, 33, 40}, {130, 5, 64},
                                   {16, 48, 96}, {40, 64, 257}, {5, 3, 1}};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

static product nth(size_t i, int turned, int beta, int apart) {
    return (product){.m = shapes[i][0],
                     .n = shapes[i][1],
                     .k = shapes[i][2],
                     .transpose_a = turned & 1,
                     .transpose_b = turned >> 1,
                     .beta = 0.5f * (float)beta,
                     .apart = {apart, apart, apart, apart}};
}

static void every_operation(on_device *d, train_precision precision, const product *p) {
    one_product(d, precision, p);
    for (int activation = 0; activation < 3; activation++)
        one_layer(d, precision, p, (codec_activation)activation);
    for (int activation = 0; activation < 3 && precision == TRAIN_BFLOAT16; activation++)
        one_layer_of_factors(d, p, (codec_activation)activation);
    if (p->transpose_a || p->transpose_b) return;
    one_gradient(d, precision, p, 0), one_gradient(d, precision, p, 1);
}

static bool can(train_precision precision) {
    train_cuda_info info = {0};
    taper_error error;
    int count;
    assert_int_equal(train_cuda_devices(&info, 1, &count, &error), TAPER_OK);
    return precision == TRAIN_FLOAT32 || info.capability >= 80;
}

/* Products that cuBLASLt has made without an epilogue; not known of a GPU's. */
static uint64_t plain_products(void) {
#ifdef EVERY_DEVICE_GPU
    return 0;
#else
    return cuda_model_products(1);
#endif
}

/* A product that differs from the first in one thing: where an array lies, a size, a transpose. */
enum { CHANGES = 10 };
static product nth_change(int i) {
    product p = nth(1, 0, 1, 0);
    if (i >= 1 && i <= 4) p.apart[i - 1] = 1;
    p.m += i == 5, p.n += i == 6, p.k += i == 7;
    p.transpose_a = i == 8, p.transpose_b = i == 9;
    return p;
}

/* None is taken for another, for which the algorithm was chosen; epilogues are done in all. */
static void products_are_told_apart(void **state) {
    (void)state;
    for (int precision = 0; precision < 3; precision++) {
        on_device d;
        if (!can((train_precision)precision)) continue;
        const uint64_t before = plain_products();
        on_device_open_precision(&d, (train_precision)precision);
        for (int i = 0; i < CHANGES; i++) {
            const product p = nth_change(i);
            every_operation(&d, (train_precision)precision, &p);
        }
        assert_true(plain_products() - before <= CHANGES);
        on_device_close(&d);
    }
}

static void in_precision(train_precision precision) {
    on_device d;
    if (!can(precision)) return;
    on_device_open_precision(&d, precision);
    for (size_t i = 0; i < N_SHAPES; i++)
        for (int turned = 0; turned < 4; turned++)
            for (int beta = turned % 2; beta < 3; beta += 2) {
                const product p = nth(i, turned, beta, (turned + (int)i) % 3);
                every_operation(&d, precision, &p);
            }
    on_device_close(&d);
}
static void products_in_float32(void **state) {
    (void)state;
    in_precision(TRAIN_FLOAT32);
}
static void products_in_tf32(void **state) {
    (void)state;
    in_precision(TRAIN_TF32);
}
static void products_in_bfloat16(void **state) {
    (void)state;
    in_precision(TRAIN_BFLOAT16);
}

/* That TF32 is taken is seen by what it costs. */
static void tf32_is_taken(void **state) {
    (void)state;
    on_device d;
    const product p = nth(2, 0, 0, 0);
    if (!can(TRAIN_TF32)) return;
    on_device_open_precision(&d, TRAIN_TF32);
    assert_true(one_product(&d, TRAIN_TF32, &p) > 2e-5);
    on_device_close(&d);
}

/* Not numbers, and infinities, are what they are in bfloat16, too. */
static void special_numbers_are_rounded(void **state) {
    (void)state;
    static const float x[] = {INFINITY, -INFINITY, NAN, 0.0f, -0.0f, 1e-40f, 3.4e38f, 1.00390625f};
    static const float want[] = {INFINITY, -INFINITY, NAN, 0.0f, 0.0f, 0.0f, INFINITY, 1.0f};
    const float one = 1.0f, none = 0.0f;
    on_device d;
    if (!can(TRAIN_BFLOAT16)) return;
    on_device_open_precision(&d, TRAIN_BFLOAT16);
    const float *unit = on_device_give(&d, &one, sizeof one);
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
        float got, *to = on_device_give(&d, &none, sizeof none);
        const float *from = on_device_give(&d, &x[i], sizeof x[i]);
        assert_int_equal(d.stream.ops->gemm(&d.stream, 0, 0, 1, 1, 1, from, unit, 0.0f, to),
                         TAPER_OK);
        on_device_take(&d, &got, to, sizeof got);
        if (isnan(want[i]) ? !isnan(got) : !(fabsf(got - want[i]) <= 1e-30f || got == want[i]))
            fail_msg("%g became %g", (double)x[i], (double)got);
    }
    on_device_close(&d);
}

#ifndef EVERY_DEVICE_GPU
#include "cuda/cublasLt.h"

static const unsigned epilogues[] = {CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS,
                                     CUBLASLT_EPILOGUE_BGRADA, CUBLASLT_EPILOGUE_BGRADB};
enum { N_EPILOGUES = sizeof epilogues / sizeof *epilogues };

/* Each operation is one product, with its epilogue where that is offered, and plain where not. */
static void with_refused(train_precision precision, unsigned refused, cuda_model_refusal how) {
    on_device d;
    uint64_t before[N_EPILOGUES], plain = cuda_model_products(CUBLASLT_EPILOGUE_DEFAULT);
    const product p = nth(1, 0, 1, 0);
    cuda_model_refuse(refused, how);
    on_device_open_precision(&d, precision);
    for (int e = 0; e < N_EPILOGUES; e++) before[e] = cuda_model_products(epilogues[e]);
    for (int again = 0; again < 2; again++) every_operation(&d, precision, &p);
    one_layer(&d, precision, &p, CODEC_RELU);
    on_device_close(&d);
    /* of each activation, and once more into factors */
    const uint64_t layers = precision == TRAIN_BFLOAT16 ? 2 : 1;
    uint64_t offered = 0, all = 2 * (3 * layers + 3) + 1;
    for (int e = 0; e < N_EPILOGUES; e++) {
        const uint64_t made = cuda_model_products(epilogues[e]) - before[e];
        /* BIAS is linear layers' and logistic ones' */
        const uint64_t want = e == 0 ? 4 * layers : e == 1 ? 2 * layers + 1 : 2;
        assert_int_equal(made, epilogues[e] == refused && how ? 0 : want);
        offered += made;
    }
    assert_int_equal(cuda_model_products(CUBLASLT_EPILOGUE_DEFAULT) - plain, all - offered);
    cuda_model_refuse(refused, CUDA_MODEL_OFFERED);
}

static void epilogues_may_be_refused(void **state) {
    (void)state;
    for (int precision = 0; precision < 3; precision++)
        for (int e = 0; e < N_EPILOGUES; e++)
            for (int how = CUDA_MODEL_OFFERED; how <= CUDA_MODEL_NOT_RUN; how++)
                with_refused((train_precision)precision, epilogues[e], (cuda_model_refusal)how);
}

/* What was described is done when it is due, also after others were. */
static void products_may_be_late(void **state) {
    (void)state;
    for (int timing = 0; timing < TIMINGS; timing++) {
        set_timing(timing);
        for (int precision = 0; precision < 3; precision++) {
            on_device d;
            float *x, got[2];
            const float two[2] = {2.0f, 3.0f};
            on_device_open_precision(&d, (train_precision)precision);
            x = on_device_give(&d, two, sizeof two);
            for (int i = 0; i < 3; i++) { /* x = x[0] x + x, in two places */
                float *to = on_device_give(&d, two, sizeof two);
                assert_int_equal(d.stream.ops->gemm(&d.stream, 0, 0, 1, 2, 1, x, x, 1.0f, to),
                                 TAPER_OK);
                x = to;
            }
            on_device_take(&d, got, x, sizeof got);
            on_device_close(&d);
            /* 2 3; 6 9; 38 57; 1446 2169, where 38, 57 have few bits, 1446 too many */
            assert_true(got[0] == 1446.0f && got[1] == 2169.0f);
        }
    }
    set_timing(0);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_in_float32),
        cmocka_unit_test(products_in_tf32),
        cmocka_unit_test(products_in_bfloat16),
        cmocka_unit_test(products_are_told_apart),
        cmocka_unit_test(tf32_is_taken),
        cmocka_unit_test(special_numbers_are_rounded),
#ifndef EVERY_DEVICE_GPU
        cmocka_unit_test(epilogues_may_be_refused),
        cmocka_unit_test(products_may_be_late),
#endif
    };
    return cmocka_run_group_tests(tests, open_all, close_every_device);
}
