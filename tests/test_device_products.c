/* test_device_products.c -- products, sums of products of columns, biases and their gradients. On
 * the processor with one thread and with three and on the shadow, to the same bits, against double
 * and finite differences. Outputs are filled with NaN and ringed before. */
#include "device_numbers.h"
#include <math.h>

enum { MOST = 40000 };

/* --- products ------------------------------------------------------------------------------- */

static void one_product(const size_t shape[3], int transpose_a, int transpose_b, float beta) {
    static float a[MOST], b[MOST], c[MOST], got[MOST];
    static double want[MOST];
    const size_t m = shape[0], n = shape[1], k = shape[2];
    randomise(a, m * k, 1.0f), randomise(b, k * n, 1.0f), randomise(c, m * n, 1.0f);
    if (beta == 0.0f) c[0] = NAN;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = beta == 0.0f ? 0.0 : (double)beta * c[i * n + j];
            for (size_t t = 0; t < k; t++)
                sum += (double)a[transpose_a ? t * m + i : i * k + t] *
                       b[transpose_b ? j * k + t : t * n + j];
            want[i * n + j] = sum;
        }
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        const float *left = on_device_give(d, a, m * k * sizeof *a),
                    *right = on_device_give(d, b, k * n * sizeof *b);
        float *there = on_device_give(d, c, m * n * sizeof *c);
        assert_int_equal(d->stream.ops->gemm(&d->stream, transpose_a, transpose_b, m, n, k, left,
                                             right, beta, there),
                         TAPER_OK);
        on_device_take(d, got, there, m * n * sizeof *got);
        close_to(got, want, m * n, 1e-5, "gemm");
        on_device_forget(d);
    }
}

static void products_equal_double(void **state) {
    (void)state;
    static const size_t shapes[][3] = {
        {1, 1, 1}, {3, 70, 9}, {65, 33, 40}, {130, 5, 64}, {7, 9, 0}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int turned = 0; turned < 4; turned++)
            for (int beta = 0; beta < 2; beta++)
                one_product(shapes[k], turned & 1, turned >> 1, (float)beta);
}

/* A layer is gemm and then bias, on the processor to the bit. */
static void one_layer(const size_t shape[3], int turned, float beta, codec_activation activation,
                      int biased) {
    static float a[MOST], b[MOST], c[MOST], bias[300], got[MOST], first[MOST];
    static double want[MOST];
    const size_t m = shape[0], n = shape[1], k = shape[2];
    randomise(a, m * k, 1.0f), randomise(b, k * n, 1.0f), randomise(c, m * n, 1.0f);
    randomise(bias, n, 1.0f);
    if (beta == 0.0f) c[0] = NAN;
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        train_stream *s = &d->stream;
        train_affine layer = {.transpose_a = turned & 1, .transpose_b = turned >> 1, .m = m};
        layer.n = n, layer.k = k, layer.beta = beta, layer.activation = activation;
        layer.a = on_device_give(d, a, m * k * sizeof *a);
        layer.b = on_device_give(d, b, k * n * sizeof *b);
        layer.bias = biased ? on_device_give(d, bias, n * sizeof *bias) : NULL;
        layer.c = on_device_give(d, c, m * n * sizeof *c);
        float *apart = on_device_give(d, c, m * n * sizeof *c);
        assert_int_equal(s->ops->affine(s, &layer), TAPER_OK);
        assert_int_equal(s->ops->gemm(s, layer.transpose_a, layer.transpose_b, m, n, k, layer.a,
                                      layer.b, beta, apart),
                         TAPER_OK);
        assert_int_equal(s->ops->bias(s, m, n, layer.bias, activation, apart), TAPER_OK);
        on_device_take(d, got, layer.c, m * n * sizeof *got);
        on_device_take(d, first, apart, m * n * sizeof *first);
        for (size_t j = 0; j < m * n; j++) want[j] = (double)first[j];
        if (d->cuda)
            close_to(got, want, m * n, 1e-5, "affine");
        else
            assert_memory_equal(got, first, m * n * sizeof *got);
        on_device_forget(d);
    }
}

static void layers_are_products_and_biases(void **state) {
    (void)state;
    static const size_t shapes[][3] = {{1, 1, 1}, {3, 70, 9}, {65, 33, 40}, {7, 9, 0}, {0, 3, 5}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int turned = 0; turned < 4; turned++)
            for (int a = 0; a < 3; a++)
                one_layer(shapes[k], turned, (float)(turned & 1), (codec_activation)a, turned != 2);
}

/* Of columns: gram[j][k] += sum of x[][j] x[][k], k <= j. exact: to the bit on every device. */
enum { GRAM_ROWS = 1030, GRAM_WIDTH = 130 };
static void one_gram(size_t rows, size_t width, const float *x, bool exact) {
    static double want[GRAM_WIDTH * GRAM_WIDTH], first[GRAM_WIDTH * GRAM_WIDTH],
        got[GRAM_WIDTH * GRAM_WIDTH];
    size_t bytes = width * width * sizeof *got;
    for (size_t k = 0; k < width * width; k++) want[k] = (double)k - 3.0;
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        const float *there = on_device_give(d, x, rows * width * sizeof *x);
        double *gram = on_device_give(d, want, bytes);
        assert_int_equal(d->stream.ops->add_gram(&d->stream, rows, width, there, 0, gram),
                         TAPER_OK);
        on_device_take(d, got, gram, bytes);
        if (!i) memcpy(first, got, bytes);
        same(i, first, got, bytes, "add_gram");
        if (exact) assert_memory_equal(first, got, bytes);
        on_device_forget(d);
    }
    for (size_t j = 0; j < width; j++)
        for (size_t k = 0; k <= j; k++)
            for (size_t r = 0; r < rows; r++)
                want[j * width + k] += (double)x[r * width + j] * x[r * width + k];
    for (size_t k = 0; k < width * width; k++)
        if (exact ? first[k] != want[k] : !is_near(want[k], first[k], 1e-5))
            fail_msg("add_gram of %zu rows: element %zu is %.17g, expected %.17g (seed %llu)", rows,
                     k, first[k], want[k], (unsigned long long)seed);
}

static const size_t gram_shapes[][2] = {
    {0, 5}, {1, 1}, {31, 7}, {256, 64}, {257, 65}, {40, 129}, {GRAM_ROWS, GRAM_WIDTH}};
enum { N_GRAM_SHAPES = sizeof gram_shapes / sizeof *gram_shapes };

static void column_products_equal_double(void **state) {
    (void)state;
    static float x[GRAM_ROWS * GRAM_WIDTH];
    randomise(x, GRAM_ROWS * GRAM_WIDTH, 1.0f);
    for (size_t k = 0; k < N_GRAM_SHAPES; k++)
        one_gram(gram_shapes[k][0], gram_shapes[k][1], x, false);
}

/* Also where all are large, so that sums over more rows than a block has would be rounded. */
static void column_products_of_bytes_are_exact(void **state) {
    (void)state;
    static float x[GRAM_ROWS * GRAM_WIDTH];
    randomise(x, GRAM_ROWS * GRAM_WIDTH, 1.0f);
    for (size_t k = 0; k < GRAM_ROWS * GRAM_WIDTH; k++)
        x[k] = roundf(k % 3 ? 255.0f * x[k] : 250.0f + 5.0f * x[k]);
    for (size_t k = 0; k < N_GRAM_SHAPES; k++)
        one_gram(gram_shapes[k][0], gram_shapes[k][1], x, true);
    for (size_t k = 0; k < GRAM_ROWS * GRAM_WIDTH; k++) x[k] = k % 7 ? 255.0f : 254.0f;
    one_gram(GRAM_ROWS, 33, x, true);
}

/* --- biases --------------------------------------------------------------------------------- */

static const size_t areas[][2] = {{1, 1}, {1, 65}, {7, 3}, {33, 64}, {70, 129}, {257, 31}};
enum { N_AREAS = sizeof areas / sizeof *areas };

static void one_bias(size_t rows, size_t width, codec_activation activation, bool is_there) {
    static float y[MOST], bias[300], first[MOST], got[MOST];
    const size_t n = rows * width, bytes = n * sizeof *y;
    randomise(y, n, 2.0f), randomise(bias, width, 1.0f);
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        float *there = on_device_give(d, y, bytes),
              *added = is_there ? on_device_give(d, bias, width * sizeof *bias) : NULL;
        assert_int_equal(d->stream.ops->bias(&d->stream, rows, width, added, activation, there),
                         TAPER_OK);
        on_device_take(d, got, there, bytes);
        if (!i) memcpy(first, got, bytes);
        same(i, first, got, bytes, "bias");
        for (size_t k = 0; k < n; k++) {
            const double z = (double)y[k] + (is_there ? (double)bias[k % width] : 0.0);
            const double want = activation == CODEC_RELU       ? (z > 0.0 ? z : 0.0)
                                : activation == CODEC_LOGISTIC ? 1.0 / (1.0 + exp(-z))
                                                               : z;
            assert_true(fabs(got[k] - want) <= 1e-6 * (1.0 + fabs(want)));
        }
        on_device_forget(d);
    }
}
static void biases_are_added(void **state) {
    (void)state;
    for (size_t s = 0; s < N_AREAS; s++)
        for (int a = 0; a < 3; a++)
            for (int is_there = 0; is_there < 2; is_there++)
                one_bias(areas[s][0], areas[s][1], (codec_activation)a, is_there);
}

/* The slope of an activation whose output is y. */
static double slope_of(codec_activation activation, double y) {
    if (activation == CODEC_RELU) return y > 0.0;
    return activation == CODEC_LOGISTIC ? y * (1.0 - y) : 1.0;
}

static void one_bias_backward(size_t rows, size_t width, codec_activation activation, int add_to) {
    static float y[MOST], dy[MOST], first[MOST], got[MOST], bias[300], sums[300], first_sums[300];
    static double want[MOST], want_sums[300];
    size_t n = rows * width;
    randomise(y, n, 1.0f), randomise(dy, n, 1.0f), randomise(bias, width, 1.0f);
    for (size_t j = 0; j < width; j++) want_sums[j] = add_to ? bias[j] : 0.0;
    for (size_t i = 0; i < n; i++) {
        want[i] = (double)dy[i] * slope_of(activation, y[i]);
        want_sums[i % width] += want[i];
    }
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        const float *output =
            activation == CODEC_LINEAR ? NULL : on_device_give(d, y, n * sizeof *y);
        float *there = on_device_give(d, dy, n * sizeof *dy),
              *dbias = on_device_give(d, add_to ? bias : NULL, width * sizeof *bias);
        assert_int_equal(d->stream.ops->bias_backward(&d->stream, rows, width, activation, output,
                                                      there, add_to, dbias),
                         TAPER_OK);
        on_device_take(d, got, there, n * sizeof *got);
        on_device_take(d, sums, dbias, width * sizeof *sums);
        if (!i) memcpy(first, got, sizeof got), memcpy(first_sums, sums, sizeof sums);
        same(i, first, got, n * sizeof *got, "bias_backward");
        same(i, first_sums, sums, width * sizeof *sums, "bias_backward sums");
        close_to(got, want, n, 1e-6, "bias_backward");
        close_to(sums, want_sums, width, 1e-5, "bias_backward sums");
        on_device_forget(d);
    }
}

/* More columns than a GPU has room for sums of at once (4,096): in slices. */
static void wide_biases_go_back(void **state) {
    (void)state;
    enum { WIDE = 2 * 4096 + 33, ROWS = 130, ALL = ROWS * WIDE };
    float *y = malloc(ALL * sizeof *y), *dy = malloc(ALL * sizeof *dy),
          *got = malloc(ALL * sizeof *got), *sums = malloc(2 * WIDE * sizeof *sums);
    assert_true(y && dy && got && sums);
    randomise(y, ALL, 1.0f), randomise(dy, ALL, 1.0f), randomise(sums, WIDE, 1.0f);
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        float *output = on_device_give(d, y, ALL * sizeof *y),
              *there = on_device_give(d, dy, ALL * sizeof *dy),
              *dbias = on_device_give(d, sums, WIDE * sizeof *sums);
        assert_int_equal(d->stream.ops->bias_backward(&d->stream, ROWS, WIDE, CODEC_RELU, output,
                                                      there, 1, dbias),
                         TAPER_OK);
        on_device_take(d, got, there, ALL * sizeof *got);
        on_device_take(d, sums + WIDE, dbias, WIDE * sizeof *sums);
        for (size_t j = 0; j < WIDE; j++) {
            float want = sums[j];
            for (size_t r = j; r < ALL; r += WIDE) {
                assert_true(got[r] == (y[r] > 0.0f ? dy[r] : 0.0f));
                want += got[r];
            }
            assert_true(is_near(want, sums[WIDE + j], 1e-5));
        }
        on_device_forget(d);
    }
    free(y), free(dy), free(got), free(sums);
}
static void bias_goes_back(void **state) {
    (void)state;
    for (size_t s = 0; s < N_AREAS; s++)
        for (int a = 0; a < 3; a++)
            for (int add_to = 0; add_to < 2; add_to++)
                one_bias_backward(areas[s][0], areas[s][1], (codec_activation)a, add_to);
}

/* The slope that goes back is that of the curve: against finite differences in double. */
static void logistic_slope_is_the_curves(void **state) {
    (void)state;
    on_device *d = &device[2];
    float x[109], one[109], y[109];
    for (int i = 0; i < 109; i++) x[i] = -20.0f + 0.37f * (float)i, one[i] = 1.0f;
    float *there = on_device_give(d, x, sizeof x), *slope = on_device_give(d, one, sizeof one);
    d->stream.ops->bias(&d->stream, 109, 1, NULL, CODEC_LOGISTIC, there);
    d->stream.ops->bias_backward(&d->stream, 109, 1, CODEC_LOGISTIC, there, slope, 0, NULL);
    on_device_take(d, y, slope, sizeof y);
    for (int i = 0; i < 109; i++) {
        double h = 1e-5, at = (double)x[i];
        double want = (1.0 / (1.0 + exp(-at - h)) - 1.0 / (1.0 + exp(-at + h))) / (2 * h);
        assert_true(fabs(y[i] - want) <= 1e-6 * want + 1e-7);
    }
    on_device_forget(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_equal_double),
        cmocka_unit_test(column_products_equal_double),
        cmocka_unit_test(column_products_of_bytes_are_exact),
        cmocka_unit_test(biases_are_added),
        cmocka_unit_test(layers_are_products_and_biases),
        cmocka_unit_test(bias_goes_back),
        cmocka_unit_test(wide_biases_go_back),
        cmocka_unit_test(logistic_slope_is_the_curves),
    };
    return cmocka_run_group_tests(tests, open_all, close_every_device);
}
