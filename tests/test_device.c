/* test_device.c -- devices: their memory, the shadow's trap, failures; and every operation that
 * learners share, on the processor with one thread and with three and on the shadow, to the same
 * bits, against double and finite differences. Outputs are filled with NaN and ringed before. */
#include "every_device.h"
#include "train/device/feed.h"
#include "train/sampling/jitter.h"
#include "train/sampling/numbers.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 40000 };
static uint64_t seed = 20261123, drawn;

static int open_all(void **state) {
    const char *given = getenv("TAPER_TEST_SEED");
    if (given) seed = strtoull(given, NULL, 10);
    printf("seed %llu\n", (unsigned long long)seed);
    return open_every_device(state);
}

static void randomise(float *x, size_t n, float scale) {
    for (size_t i = 0; i < n; i++) {
        uint32_t word[4];
        train_philox(seed, drawn++, 0, word);
        x[i] = scale * (float)((double)word[0] / 2147483648.0 - 1.0);
    }
}

/* Device i's result is the first one's. */
#define same(i, first, got, bytes, what) check_same(i, NUMBERS_OF(got), first, got, bytes, what)
static void check_same(int i, numbers kind, const void *first, const void *got, size_t bytes,
                       const char *what) {
    if (!agrees(i, kind, first, got, bytes))
        fail_msg("%s: device %d gives other bits (seed %llu)", what, i, (unsigned long long)seed);
}

static void close_to(const float *got, const double *want, size_t n, double tolerance,
                     const char *what) {
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)got[i] - want[i]) <= tolerance * (1.0 + fabs(want[i]))))
            fail_msg("%s: element %zu is %g, expected %g (seed %llu)", what, i, (double)got[i],
                     want[i], (unsigned long long)seed);
}

/* --- memory --------------------------------------------------------------------------------- */

static void memory_moves(void **state) {
    (void)state;
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        char host[1000], back[1000];
        void *zeros;
        for (int k = 0; k < 1000; k++) host[k] = (char)(k * 7);
        char *a = on_device_give(d, host, sizeof host), *b = on_device_give(d, NULL, sizeof host);
        assert_int_equal(train_copy(&d->stream, b, a, 1000), TAPER_OK);
        assert_int_equal(train_zero(&d->stream, b + 10, 3), TAPER_OK);
        assert_int_equal(train_zero(&d->stream, NULL, 0), TAPER_OK);
        on_device_take(d, back, b, sizeof back);
        memset(host + 10, 0, 3);
        assert_memory_equal(host, back, sizeof host);
        assert_int_equal(d->device.memory->alloc(&d->device, 777, &zeros), TAPER_OK);
        assert_int_equal((uintptr_t)zeros % 64, 0);
        on_device_take(d, back, zeros, 777);
        for (int k = 0; k < 777; k++) assert_int_equal(back[k], 0);
        d->device.memory->release(&d->device, zeros, 777);
        d->device.memory->release(&d->device, NULL, 1);
        assert_int_equal(d->device.memory->sync(&d->stream), TAPER_OK);
        on_device_forget(d);
    }
}

static void arenas_count_then_lie(void **state) {
    (void)state;
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        train_arena a = {0};
        assert_null(train_arena_floats(&a, 3, 5));
        assert_null(train_arena_take(&a, 7, 1, 1));
        assert_int_equal(train_arena_alloc(&a, &d->device), TAPER_OK);
        float *first = train_arena_floats(&a, 3, 5);
        char *second = train_arena_take(&a, 7, 1, 1);
        assert_true(second == (char *)first + 64 && a.used == 128 && a.size == 128);
        assert_int_equal((uintptr_t)first % 64, 0);
        train_arena_free(&a);
        assert_null(a.memory);
        train_arena_floats(&a, SIZE_MAX / 8, 8); /* more than there can be */
        train_arena_floats(&a, 1, 1);
        assert_int_equal(train_arena_alloc(&a, &d->device), TAPER_ERR_NOMEM);
        train_arena_free(&a);
    }
}

static void what_is_lent_is_seen(void **state) {
    (void)state;
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        uint32_t host[3] = {5, 6, 7}, back[3];
        train_lent lent = {0};
        assert_int_equal(train_lend(&lent, &d->stream, host, sizeof host), TAPER_OK);
        assert_int_equal(lent.at == (const void *)host, i < 2); /* no copy where none is needed */
        host[1] = 9;
        assert_int_equal(train_lend_again(&lent, &d->stream, host), TAPER_OK);
        on_device_take(d, back, lent.at, sizeof back);
        assert_memory_equal(host, back, sizeof host);
        train_lent_free(&lent);
    }
}

/* What was put on a stream reads what was uploaded before it, whatever the host does to its array
 * meanwhile; more than the host is let go ahead by. */
static void uploads_may_pile_up(void **state) {
    (void)state;
    enum { UPLOADS = 24, SIZE = 60000 };
    for (int i = 0; i < TIMINGS * DEVICES; i++) {
        on_device *d = &device[i % DEVICES];
        uint8_t *host = malloc(SIZE), *back = malloc(SIZE);
        set_timing(i / DEVICES);
        assert_true(host && back);
        char *a = on_device_give(d, NULL, SIZE), *b = on_device_give(d, NULL, UPLOADS * SIZE);
        for (int k = 0; k < UPLOADS; k++) {
            memset(host, k + 1, SIZE);
            assert_int_equal(train_upload(&d->stream, a, host, SIZE - (size_t)k), TAPER_OK);
            assert_int_equal(d->stream.ops->gather_rows(&d->stream, 1, SIZE, a, NULL, b + k * SIZE),
                             TAPER_OK);
        }
        for (int k = 0; k < UPLOADS; k++) {
            on_device_take(d, back, b + k * SIZE, SIZE);
            for (int j = 0; j < SIZE - k; j++)
                if (back[j] != k + 1) fail_msg("device %d, upload %d, byte %d", i, k, j);
        }
        free(host), free(back);
        on_device_forget(d);
    }
    set_timing(0);
}

/* --- rows that are fed ---------------------------------------------------------------------- */

enum { FED = 700, FED_WIDTH = 37, FED_MOST = 150, FED_TAKES = 9 };

/* Take after take, whose rows are read by an operation; then all that was read. */
static void take_all(on_device *d, const uint8_t *rows, const uint32_t *number, uint8_t *read) {
    train_feed feed = {0};
    train_order order = {0};
    train_stream *s = &d->stream;
    uint8_t *there = on_device_give(d, NULL, FED_TAKES * FED_MOST * FED_WIDTH);
    assert_int_equal(train_order_lend(&order, s, number, FED), TAPER_OK);
    assert_int_equal(train_feed_open(&feed, s, rows, FED, FED_WIDTH, FED_MOST), TAPER_OK);
    assert_int_equal(feed.streamed, d->device.most_kept && !d->device.in_host_memory);
    for (size_t k = 0; k < FED_TAKES; k++) {
        train_fed fed;
        size_t n = k == 4 ? 1 : FED_MOST - k, first = 50 * k;
        assert_int_equal(train_feed_take(&feed, s, k % 3 ? &order : NULL, first, n, &fed),
                         TAPER_OK);
        for (int again = 0; again < 2; again++) /* the rows stay until the next take */
            assert_int_equal(s->ops->gather_rows(s, n, FED_WIDTH, fed.rows, fed.order,
                                                 there + k * FED_MOST * FED_WIDTH),
                             TAPER_OK);
    }
    on_device_take(d, read, there, FED_TAKES * FED_MOST * FED_WIDTH);
    train_fed fed;
    assert_int_equal(train_feed_take(&feed, s, &order, 0, 0, &fed), TAPER_OK);
    if (feed.streamed)
        assert_int_equal(train_feed_take(&feed, s, &order, 0, FED_MOST + 1, &fed), TAPER_ERR_ARG);
    train_feed_close(&feed);
    train_order_free(&order);
    on_device_forget(d);
}

static void fed_rows_are_those_asked_for(void **state) {
    (void)state;
    static uint8_t rows[FED * FED_WIDTH], read[FED_TAKES * FED_MOST * FED_WIDTH];
    uint32_t number[FED];
    for (size_t i = 0; i < sizeof rows; i++) rows[i] = (uint8_t)(i * i / 7 + i);
    for (uint32_t i = 0; i < FED; i++) number[i] = (i * 449 + 5) % FED;
    for (int i = 0; i < TIMINGS * 2 * DEVICES; i++) {
        on_device *d = &device[i / 2 % DEVICES];
        set_timing(i / 2 / DEVICES);
        d->device.most_kept = i % 2 ? sizeof rows - 1 : 0; /* it fits; it does not */
        take_all(d, rows, number, read);
        d->device.most_kept = 0;
        for (size_t k = 0; k < FED_TAKES; k++)
            for (size_t r = 0; r < (k == 4 ? 1 : FED_MOST - k); r++) {
                size_t row = k % 3 ? number[50 * k + r] : 50 * k + r;
                assert_memory_equal(read + (k * FED_MOST + r) * FED_WIDTH, rows + row * FED_WIDTH,
                                    FED_WIDTH);
            }
    }
    set_timing(0);
}

static void what_does_not_fit_is_said(void **state) {
    (void)state;
    char words[160];
    train_feed feed = {.n = 60000000, .width = 3072, .streamed = 1};
    train_feed_say(&feed, &device[2].device, words, sizeof words);
    assert_string_equal(words, "shadow: 184 GB of images do not fit: streamed");
    feed.n = 1000;
    train_feed_say(&feed, &device[2].device, words, sizeof words);
    assert_string_equal(words, "shadow: 3.07 MB of images do not fit: streamed");
    feed.streamed = 0;
    train_feed_say(&feed, &device[2].device, words, sizeof words);
    assert_string_equal(words, "");
}

/* The host that looks at the shadow's memory is killed there. */
static void the_shadow_is_not_to_be_touched(void **state) {
    (void)state;
    for (int write = 0; write < 2; write++) {
        volatile char *there = on_device_give(&device[2], NULL, 100);
        pid_t child = fork();
        assert_true(child >= 0);
        if (!child) {
            signal(SIGSEGV, SIG_DFL), signal(SIGBUS, SIG_DFL);
            if (write)
                there[3] = 1;
            else
                _exit(there[3] == 1);
            _exit(0);
        }
        int how;
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_false(WIFEXITED(how) && WEXITSTATUS(how) < 2);
    }
    on_device_forget(&device[2]);
}

static void failures_come_when_asked_for(void **state) {
    (void)state;
    for (int i = 0; i < PROCESSORS; i++) {
        on_device *d = &device[i];
        void *memory = NULL;
        char byte = 1, *there = on_device_give(d, &byte, 1);
        uint64_t allocations, operations;
        train_processor_fail(&d->device, 2, 3);
        assert_int_equal(d->device.memory->alloc(&d->device, 1, &memory), TAPER_OK);
        d->device.memory->release(&d->device, memory, 1);
        assert_int_equal(d->device.memory->alloc(&d->device, 1, &memory), TAPER_ERR_NOMEM);
        assert_null(memory);
        assert_int_equal(train_upload(&d->stream, there, &byte, 1), TAPER_OK);
        assert_int_equal(train_zero(&d->stream, there, 1), TAPER_OK);
        float *x = (float *)(void *)there;
        assert_int_equal(d->stream.ops->scale(&d->stream, 0, 1.0f, x, x), TAPER_ERR_DEVICE);
        assert_int_equal(train_download(&d->stream, &byte, there, 1), TAPER_ERR_DEVICE);
        assert_int_equal(d->device.memory->sync(&d->stream), TAPER_ERR_DEVICE);
        train_processor_count(&d->device, &allocations, &operations);
        assert_true(allocations == 2 && operations == 5);
        train_processor_fail(&d->device, 0, 0);
        on_device_forget(d);
    }
}

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
        assert_int_equal(d->stream.ops->add_gram(&d->stream, rows, width, there, gram), TAPER_OK);
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

/* --- rows ----------------------------------------------------------------------------------- */

enum { OF_ROWS = 40, MOST_WIDTH = 1300 };

/* Into memory that is `shift` bytes from where a device's pieces begin. */
static void one_gathering(on_device *d, size_t rows, size_t width, size_t shift,
                          const uint32_t *order) {
    static uint8_t pixels[OF_ROWS * MOST_WIDTH], got[OF_ROWS * MOST_WIDTH + 16];
    static float mean[MOST_WIDTH], to[OF_ROWS * MOST_WIDTH];
    const size_t size = OF_ROWS * width;
    train_stream *s = &d->stream;
    for (size_t i = 0; i < size; i++) pixels[i] = (uint8_t)(i * 37);
    randomise(mean, width, 100.0f);
    const uint8_t *from = on_device_give(d, pixels, size);
    const uint32_t *by = order ? on_device_give(d, order, OF_ROWS * sizeof *order) : NULL;
    const float *centre = on_device_give(d, mean, width * sizeof *mean);
    uint8_t *bytes = on_device_give(d, NULL, shift + rows * width);
    float *x = on_device_give(d, NULL, rows * width * sizeof *x);
    assert_int_equal(s->ops->gather_rows(s, rows, width, from, by, bytes + shift), TAPER_OK);
    assert_int_equal(s->ops->centre_rows(s, rows, width, from, by, centre, 0.25f, x), TAPER_OK);
    on_device_take(d, got, bytes, shift + rows * width);
    on_device_take(d, to, x, rows * width * sizeof *x);
    for (size_t j = 0; j < shift; j++) assert_int_equal(got[j], 0xff);
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < width; j++) {
            uint8_t want = pixels[(order ? order[r] : r) * width + j];
            assert_int_equal(got[shift + r * width + j], want);
            assert_true(to[r * width + j] == ((float)want - mean[j]) * 0.25f);
        }
    on_device_forget(d);
}

static void rows_are_gathered_and_centred(void **state) {
    (void)state;
    static const size_t widths[] = {1, 4, 32, 67, 112, MOST_WIDTH}, shifts[] = {0, 4, 1};
    uint32_t order[OF_ROWS];
    for (uint32_t i = 0; i < OF_ROWS; i++) order[i] = i * 13 % OF_ROWS;
    for (int i = 0; i < DEVICES; i++)
        for (size_t rows = 0; rows <= OF_ROWS; rows += 17)
            for (int w = 0; w < 6; w++)
                for (int k = 0; k < 6; k++)
                    one_gathering(&device[i], rows, widths[w], shifts[k / 2], k % 2 ? order : NULL);
}

/* Examples move as jitter.h says, by the number of the row that they become. */
static void rows_are_moved(void **state) {
    (void)state;
    static const train_jitter jitters[] = {
        {9, 7, 3, 0.5f}, {20, 14, 2, 1.0f}, {2, 2, 1, 0.9f}, {1, 40, 1, 1.0f}};
    enum { MOST_VALUES = 20 * 14 * 2, MANY = 2100 };
    static uint8_t pixels[OF_ROWS * MOST_VALUES], got[MANY * 189], want[MOST_VALUES];
    static uint32_t order[MANY];
    for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)(i * i * 37);
    for (uint32_t i = 0; i < MANY; i++) order[i] = i * 13 % OF_ROWS;
    for (int i = 0; i < DEVICES; i++)
        for (int k = 0; k < 9; k++) {
            const train_jitter *j = &jitters[k / 2 % 4];
            const size_t values = (size_t)j->width * j->height * j->channels,
                         rows = k == 8       ? MANY
                                : k % 4 == 3 ? 1
                                             : OF_ROWS - 3;
            const int ordered = k == 8 || k % 2;
            on_device *d = &device[i];
            const uint8_t *from = on_device_give(d, pixels, OF_ROWS * values);
            const uint32_t *by = ordered ? on_device_give(d, order, rows * sizeof *order) : NULL;
            uint8_t *to = on_device_give(d, NULL, rows * values);
            assert_int_equal(d->stream.ops->jitter(&d->stream, j, rows, from, by, 5, 77, to),
                             TAPER_OK);
            on_device_take(d, got, to, rows * values);
            for (size_t r = 0; r < rows; r++) {
                train_jitter_row(j, pixels + (ordered ? order[r] : r) * values, 5, 77, r, want);
                assert_memory_equal(got + r * values, want, values);
            }
            on_device_forget(d);
        }
}

/* --- codes ---------------------------------------------------------------------------------- */

/* Bits of a unit as train/objectives/rate.h defines them. */
static double price(double x, double threshold, double log_scale) {
    double t = threshold / exp(log_scale), r = fmax(fabs(x) / threshold - 0.5, 0.0);
    return -log2(1.0 - exp(-t)) + fmin(r, 1.0) + r * t / log(2.0);
}

typedef struct priced {
    double bits[70];
    float dlog[70 * 129], dx[70 * 129];
} priced;

static void price_on(on_device *d, size_t rows, uint32_t units, const train_cut *cuts,
                     const float *x, const float *inverse, const float *before, priced *to) {
    train_stream *s = &d->stream;
    size_t n = rows * units * sizeof *x;
    const train_cut *cut = on_device_give(d, cuts, rows * sizeof *cuts);
    const float *code = on_device_give(d, x, n);
    const float *scale = on_device_give(d, inverse, units * sizeof *inverse);
    double *bits = on_device_give(d, NULL, rows * sizeof *bits);
    float *dlog = on_device_give(d, NULL, n), *dx = on_device_give(d, before, n);
    assert_int_equal(s->ops->rate(s, rows, units, cut, 2.0f, 3.0f, code, scale, bits, dlog),
                     TAPER_OK);
    assert_int_equal(s->ops->rate_gradient(s, rows, units, cut, 2.0f, 5.0f, code, scale, dx),
                     TAPER_OK);
    on_device_take(d, to->bits, bits, rows * sizeof *bits);
    on_device_take(d, to->dlog, dlog, n);
    on_device_take(d, to->dx, dx, n);
    on_device_forget(d);
}

static void bits_have_their_gradients(void **state) {
    (void)state;
    static const size_t shapes[][2] = {{1, 1}, {17, 9}, {70, 129}};
    static float x[70 * 129], inverse[129], before[70 * 129];
    static priced first, got;
    for (size_t k = 0; k < 3; k++) {
        size_t rows = shapes[k][0], units = shapes[k][1], n = rows * units;
        train_cut cuts[70];
        randomise(x, n, 30.0f), randomise(before, n, 1.0f), randomise(inverse, units, 0.05f);
        for (size_t u = 0; u < units; u++) inverse[u] = fabsf(inverse[u]) + 0.05f;
        for (size_t r = 0; r < rows; r++)
            cuts[r] = (train_cut){8.0f + (float)r, r % 3 ? (uint32_t)units : 1 + (uint32_t)r % 5};
        for (size_t r = 0; r < rows; r++)
            if (cuts[r].kept > units) cuts[r].kept = (uint32_t)units;
        for (int i = 0; i < DEVICES; i++) {
            price_on(&device[i], rows, (uint32_t)units, cuts, x, inverse, before, &got);
            if (!i) first = got;
            same(i, first.bits, got.bits, rows * sizeof *got.bits, "rate");
            same(i, first.dlog, got.dlog, n * sizeof *got.dlog, "rate, log scale");
            same(i, first.dx, got.dx, n * sizeof *got.dx, "rate, code");
        }
        for (size_t r = 0; r < rows; r++) {
            double sum = 0.0, threshold = cuts[r].threshold / 2.0, h = 1e-5;
            for (size_t u = 0; u < units; u++) {
                size_t at = r * units + u;
                double log_scale = -log((double)inverse[u]), code = x[at];
                int kept = u < cuts[r].kept;
                double by_x = (price(code + h, threshold, log_scale) -
                               price(code - h, threshold, log_scale)) /
                              (2 * h),
                       by_scale = (price(code, threshold, log_scale + h) -
                                   price(code, threshold, log_scale - h)) /
                                  (2 * h);
                if (kept) sum += price(code, threshold, log_scale);
                double near = fabs(fabs(code) / threshold - 0.5);
                if (near < 1e-4 || fabs(near - 1.0) < 1e-4) continue; /* a kink */
                assert_true(fabs(first.dx[at] - before[at] - (kept ? 5.0 * by_x : 0.0)) < 1e-4);
                assert_true(fabs(first.dlog[at] - (kept ? 3.0 * by_scale : 0.0)) <
                            1e-4 * (1.0 + fabs(by_scale)));
            }
            assert_true(fabs(first.bits[r] - sum) < 1e-5 * (1.0 + sum));
        }
    }
}

/* --- losses --------------------------------------------------------------------------------- */

static void errors_and_their_gradient(void **state) {
    (void)state;
    static const size_t shapes[][2] = {{1, 1}, {1, 65}, {7, 3}, {33, 64}, {70, 129}, {4, 700}};
    static float target[MOST], y[MOST], e[MOST], first[MOST], after[MOST], first_after[MOST];
    double square[70], first_square[70], weight[70];
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        size_t rows = shapes[k][0], width = shapes[k][1], n = rows * width;
        randomise(target, n, 2.0f), randomise(y, n, 2.0f);
        for (size_t r = 0; r < rows; r++) weight[r] = 0.1 + (double)r;
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            train_stream *s = &d->stream;
            float *there = on_device_give(d, y, n * sizeof *y);
            const float *aim = on_device_give(d, target, n * sizeof *target);
            double *sums = on_device_give(d, NULL, rows * sizeof *sums);
            const double *weights = on_device_give(d, weight, rows * sizeof *weight);
            assert_int_equal(s->ops->errors(s, rows, width, aim, there, sums), TAPER_OK);
            on_device_take(d, e, there, n * sizeof *e);
            on_device_take(d, square, sums, rows * sizeof *square);
            assert_int_equal(s->ops->error_gradient(s, rows, width, weights, there), TAPER_OK);
            on_device_take(d, after, there, n * sizeof *after);
            if (!i) {
                memcpy(first, e, sizeof e), memcpy(first_after, after, sizeof after);
                memcpy(first_square, square, sizeof square);
            }
            same(i, first, e, n * sizeof *e, "errors");
            same(i, first_after, after, n * sizeof *e, "error_gradient");
            same(i, first_square, square, rows * sizeof *square, "squared errors");
            on_device_forget(d);
        }
        for (size_t r = 0; r < rows; r++) {
            double sum = 0.0;
            for (size_t j = 0; j < width; j++) {
                size_t at = r * width + j;
                assert_true(first[at] == y[at] - target[at]);
                sum += (double)first[at] * first[at];
                /* d (mean of weight |e|^2) / d e */
                double want = 2.0 * weight[r] * first[at] / (double)rows;
                assert_true(fabs(first_after[at] - want) <= 1e-6 * (1.0 + fabs(want)));
            }
            assert_true(fabs(first_square[r] - sum) <= 1e-5 * (1.0 + sum));
        }
    }
}

/* Of more rows than a launch has blocks. */
static void many_rows_have_their_gradient(void **state) {
    (void)state;
    enum { ROWS = 2100, WIDTH = 3 };
    static float e[ROWS * WIDTH], got[ROWS * WIDTH];
    static double weight[ROWS];
    randomise(e, ROWS * WIDTH, 2.0f);
    for (int r = 0; r < ROWS; r++) weight[r] = r;
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        float *there = on_device_give(d, e, sizeof e);
        assert_int_equal(d->stream.ops->error_gradient(&d->stream, ROWS, WIDTH,
                                                       on_device_give(d, weight, sizeof weight),
                                                       there),
                         TAPER_OK);
        on_device_take(d, got, there, sizeof got);
        for (int k = 0; k < ROWS * WIDTH; k++)
            assert_true(got[k] == e[k] * (float)(2.0 * weight[k / WIDTH] / ROWS));
        on_device_forget(d);
    }
}

static void errors_are_weighed(void **state) {
    (void)state;
    enum { ROWS = 30 };
    train_cut cuts[ROWS];
    double error[ROWS], weight[ROWS], loss[ROWS], before[ROWS], logs[ROWS];
    for (int r = 0; r < ROWS; r++) {
        cuts[r] = (train_cut){r % 2 ? 10.0f : 1000.0f, 1}; /* two qualities, far apart */
        error[r] = 1.0 + r, before[r] = 100.0 * r;
    }
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        train_stream *s = &d->stream;
        const train_cut *cut = on_device_give(d, cuts, sizeof cuts);
        const double *of = on_device_give(d, error, sizeof error);
        double *w = on_device_give(d, NULL, sizeof weight),
               *l = on_device_give(d, before, sizeof loss),
               *l2 = on_device_give(d, before, sizeof logs);
        assert_int_equal(s->ops->weigh_errors(s, ROWS, cut, 10.0f, 0.5f, of, w, l), TAPER_OK);
        on_device_take(d, weight, w, sizeof weight);
        on_device_take(d, loss, l, sizeof loss);
        assert_int_equal(s->ops->log_errors(s, ROWS, 0.5, of, w, l2), TAPER_OK);
        on_device_take(d, logs, l2, sizeof logs);
        for (int r = 0; r < ROWS; r++) {
            double mean = r % 2 ? 16.0 : 15.0, t = r % 2 ? 1.0 : 100.0;
            double want = sqrt(fmin(10.0, fmax(0.1, mean / error[r]))) / (t * t);
            assert_true(fabs(weight[r] - want) < 1e-9 * want);
            assert_true(fabs(loss[r] - before[r] - want * error[r]) < 1e-9 * (1.0 + before[r]));
            assert_true(fabs(logs[r] - before[r] - log(error[r] + 0.5)) < 1e-9 * (1 + before[r]));
        }
        on_device_forget(d);
    }
}

/* A batch of eight qualities, each of its own part of the range: against double, by their means. */
static void many_qualities_are_weighed(void **state) {
    (void)state;
    enum { ROWS = 700, PARTS = 8 };
    static train_cut cuts[ROWS];
    static double error[ROWS], before[ROWS], weight[ROWS], loss[ROWS];
    double sum[PARTS] = {0}, count[PARTS] = {0}, all = 0.0;
    float within[ROWS], size[ROWS];
    randomise(within, ROWS, 0.4f), randomise(size, ROWS, 1.0f);
    for (int r = 0; r < ROWS; r++) { /* an octave each, from 2 to 512, and both its ends */
        float octave = (float)(r % PARTS) + 0.5f + within[r];
        cuts[r] = (train_cut){r == 200 ? 2.0f : r == 327 ? 512.0f : exp2f(1.0f + octave), 1};
        error[r] = exp(3.0 * size[r]), before[r] = 0.01 * r;
        sum[r % PARTS] += error[r], count[r % PARTS] += 1.0, all += error[r];
    }
    for (int i = 0; i < 2 * DEVICES; i++) {
        on_device *d = &device[i / 2];
        train_stream *s = &d->stream;
        const float balance = i % 2 ? 0.7f : 0.0f;
        const double zeros[3] = {0};
        double *w = on_device_give(d, NULL, sizeof weight),
               *l = on_device_give(d, before, sizeof before),
               *total = on_device_give(d, zeros, sizeof zeros), got[3];
        const double *of = on_device_give(d, error, sizeof error);
        assert_int_equal(s->ops->weigh_errors(s, ROWS, on_device_give(d, cuts, sizeof cuts), 4.0f,
                                              balance, of, w, l),
                         TAPER_OK);
        assert_int_equal(s->ops->error_losses(s, ROWS, of, of, 0.5, 3.0, 10.0, total), TAPER_OK);
        assert_int_equal(s->ops->weigh_errors(s, 0, NULL, 4.0f, balance, NULL, NULL, NULL),
                         TAPER_OK);
        on_device_take(d, weight, w, sizeof weight);
        on_device_take(d, loss, l, sizeof loss);
        on_device_take(d, got, total, sizeof got);
        for (int r = 0; r < ROWS; r++) {
            double mean = sum[r % PARTS] / count[r % PARTS], t = (double)cuts[r].threshold / 4.0;
            double want = pow(fmin(10.0, fmax(0.1, mean / error[r])), (double)balance) / (t * t);
            assert_true(fabs(weight[r] - want) < 1e-9 * want);
            assert_true(fabs(loss[r] - before[r] - want * error[r]) < 1e-9 * (1.0 + loss[r]));
        }
        assert_true(is_near(1.5 * all / 10.0, got[0], 1e-12));
        assert_true(is_near(9.0 * all / 10.0, got[1], 1e-12));
        assert_true(is_near(all / 10.0, got[2], 1e-12));
        on_device_forget(d);
    }
}

/* Loss of labels under logits, as operations.h defines it. */
static double entropy(const float *logit, size_t classes, uint32_t label, size_t moved, double by) {
    double sum = 0.0;
    for (size_t c = 0; c < classes; c++) sum += exp((double)logit[c] + (c == moved ? by : 0.0));
    return log(sum) - (double)logit[label] - (label == moved ? by : 0.0);
}

static void labels_have_their_price(void **state) {
    (void)state;
    static const size_t shapes[][2] = {{1, 1}, {19, 10}, {40, 100}};
    static float logit[4000], first[4000], gradient[4000], soft[4000];
    for (size_t k = 0; k < 3; k++) {
        size_t rows = shapes[k][0], classes = shapes[k][1], n = rows * classes;
        uint32_t label[40];
        double loss[40], before[40];
        randomise(logit, n, 20.0f);
        for (size_t r = 0; r < rows; r++) {
            label[r] = r % 8 == 3   ? UINT32_MAX
                       : r % 4 == 3 ? (uint32_t)classes
                                    : (uint32_t)((r * 7) % classes);
            before[r] = (double)r;
        }
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            train_stream *s = &d->stream;
            const float *x = on_device_give(d, logit, n * sizeof *logit);
            const uint32_t *y = on_device_give(d, label, rows * sizeof *label);
            double *l = on_device_give(d, before, rows * sizeof *loss);
            float *g = on_device_give(d, NULL, n * sizeof *g),
                  *p = on_device_give(d, NULL, n * sizeof *p);
            assert_int_equal(s->ops->cross_entropy(s, rows, classes, x, y, l, g), TAPER_OK);
            assert_int_equal(s->ops->softmax(s, rows, classes, x, p), TAPER_OK);
            on_device_take(d, gradient, g, n * sizeof *g);
            on_device_take(d, soft, p, n * sizeof *p);
            on_device_take(d, loss, l, rows * sizeof *loss);
            if (!i) memcpy(first, gradient, sizeof first);
            same(i, first, gradient, n * sizeof *g, "cross_entropy");
            on_device_forget(d);
        }
        for (size_t r = 0; r < rows; r++) {
            const float *x = logit + r * classes;
            int labelled = label[r] < classes;
            double want = labelled ? entropy(x, classes, label[r], classes, 0.0) : 0.0, sum = 0.0;
            assert_true(fabs(loss[r] - before[r] - want) < 1e-5 * (1.0 + want));
            for (size_t c = 0; c < classes; c++) {
                double h = 1e-4, slope = 0.0;
                if (labelled)
                    slope = (entropy(x, classes, label[r], c, h) -
                             entropy(x, classes, label[r], c, -h)) /
                            (2 * h);
                assert_true(fabs(gradient[r * classes + c] * (double)rows - slope) < 1e-5);
                sum += soft[r * classes + c];
            }
            assert_true(fabs(sum - 1.0) < 1e-5);
        }
    }
}

/* In place, and rows that hold what is not finite: NaN, but for -infinity. */
static void softmax_tells_what_is_not_finite(void **state) {
    (void)state;
    enum { WIDTH = 40, ROWS = 5 };
    float x[ROWS * WIDTH], got[ROWS * WIDTH], soft[ROWS * WIDTH];
    randomise(x, ROWS * WIDTH, 5.0f);
    x[35] = -INFINITY, x[WIDTH + 33] = NAN, x[2 * WIDTH] = NAN, x[3 * WIDTH + 9] = INFINITY;
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        train_stream *s = &d->stream;
        float *own = on_device_give(d, x, sizeof x), *to = on_device_give(d, NULL, sizeof x);
        assert_int_equal(s->ops->softmax(s, ROWS, WIDTH, own, to), TAPER_OK);
        assert_int_equal(s->ops->softmax(s, ROWS, WIDTH, own, own), TAPER_OK);
        on_device_take(d, soft, to, sizeof soft);
        on_device_take(d, got, own, sizeof got);
        for (int k = 0; k < ROWS * WIDTH; k++) {
            int finite = k / WIDTH == 0 || k / WIDTH == 4;
            assert_true(finite ? got[k] == soft[k] && isfinite(got[k])
                               : isnan(got[k]) && isnan(soft[k]));
        }
        assert_true(got[35] == 0.0f);
        on_device_forget(d);
    }
}

/* Of the first rows of a and of b. */
static void distances_of(size_t rows, size_t others, size_t width, const float *a, const float *b) {
    static float got[MOST], first[MOST];
    static double want[MOST];
    for (size_t i = 0; i < rows * others; i++) {
        want[i] = 0.0;
        for (size_t j = 0; j < width; j++) {
            double e = (double)a[i / others * width + j] - b[i % others * width + j];
            want[i] += e * e;
        }
    }
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        float *to = on_device_give(d, NULL, rows * others * sizeof *got);
        const float *from = on_device_give(d, a, rows * width * sizeof *a),
                    *with = a == b ? from : on_device_give(d, b, others * width * sizeof *b);
        assert_int_equal(d->stream.ops->distances(&d->stream, rows, others, width, from, with, to),
                         TAPER_OK);
        on_device_take(d, got, to, rows * others * sizeof *got);
        close_to(got, want, rows * others, 1e-5, "distances");
        if (!i) memcpy(first, got, sizeof got);
        same(i, first, got, rows * others * sizeof *got, "distances");
        on_device_forget(d);
    }
}

static void distances_equal_double(void **state) {
    (void)state;
    enum { ROWS = 130, WIDTH = 70 };
    static const size_t shapes[][3] = {{1, 1, 1},    {33, 7, 13},   {63, 65, 31},
                                       {65, 64, 32}, {3, ROWS, 33}, {ROWS, 66, WIDTH}};
    static float a[ROWS * WIDTH], b[ROWS * WIDTH];
    randomise(a, ROWS * WIDTH, 1.0f), randomise(b, ROWS * WIDTH, 1.0f);
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        distances_of(shapes[k][0], shapes[k][1], shapes[k][2], a, b);
    distances_of(40, 40, 20, a, a);
    distances_of(0, 40, 20, a, b);
}

/* --- vectors -------------------------------------------------------------------------------- */

/* the last is small again: what a longer sum has left behind is none of its business */
static const size_t sizes[] = {0, 1, 7, 33, 32768, 32769, MOST, 40};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

static void vectors_equal_their_definitions(void **state) {
    (void)state;
    static float a[MOST], b[MOST], y[MOST], got[4][MOST];
    for (size_t k = 0; k < N_SIZES; k++)
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            train_stream *s = &d->stream;
            size_t n = sizes[k], bytes = n * sizeof *a;
            randomise(a, n, 3.0f), randomise(b, n, 3.0f), randomise(y, n, 3.0f);
            const float *x = on_device_give(d, a, bytes), *z = on_device_give(d, b, bytes);
            float *to[3] = {on_device_give(d, NULL, bytes), on_device_give(d, NULL, bytes),
                            on_device_give(d, y, bytes)};
            assert_int_equal(s->ops->scale(s, n, 0.3f, x, to[0]), TAPER_OK);
            assert_int_equal(s->ops->exponential(s, n, -2.0f, x, to[1]), TAPER_OK);
            assert_int_equal(s->ops->add_products(s, n, x, z, to[2]), TAPER_OK);
            for (int t = 0; t < 3; t++) on_device_take(d, got[t], to[t], bytes);
            for (size_t j = 0; j < n; j++) {
                assert_true(got[0][j] == 0.3f * a[j]);
                assert_true(got[1][j] == train_exp(-2.0f * a[j]));
                assert_true(got[2][j] == y[j] + a[j] * b[j]);
            }
            on_device_forget(d);
        }
}

static void sums_equal_double(void **state) {
    (void)state;
    static float x[MOST];
    static double y[1000];
    for (size_t k = 0; k < N_SIZES; k++) {
        double first = 0.0;
        randomise(x, sizes[k], 1.0f);
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            train_stream *s = &d->stream;
            float *there = on_device_give(d, x, sizes[k] * sizeof *x);
            double *sum = on_device_give(d, NULL, sizeof *sum), got[2], want = 0.0;
            for (size_t j = 0; j < sizes[k]; j++) want += (double)x[j] * x[j];
            for (int add_to = 0; add_to < 2; add_to++) {
                assert_int_equal(s->ops->sum_squares(s, sizes[k], there, add_to, sum), TAPER_OK);
                on_device_take(d, &got[add_to], sum, sizeof *sum);
            }
            assert_true(fabs(got[0] - want) <= 1e-12 * (double)(sizes[k] + 1));
            assert_true(got[1] == 2.0 * got[0]);
            if (!i) first = got[0];
            assert_true(agrees(i, DOUBLES, &first, got, sizeof first));
            if (sizes[k]) {
                const float nan = NAN;
                train_upload(s, there + sizes[k] / 2, &nan, sizeof nan);
                s->ops->sum_squares(s, sizes[k], there, 0, sum);
                on_device_take(d, got, sum, sizeof *sum);
                assert_true(isnan(got[0]));
            }
            on_device_forget(d);
        }
    }
    for (int j = 0; j < 1000; j++) y[j] = j * 0.5;
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        train_stream *s = &d->stream;
        const double *there = on_device_give(d, y, sizeof y);
        double *to = on_device_give(d, y, sizeof y), *sum = on_device_give(d, NULL, sizeof *sum);
        double got;
        assert_int_equal(s->ops->add_doubles(s, 1000, 3.0, there, to), TAPER_OK);
        assert_int_equal(s->ops->sum_doubles(s, 1000, to, sum), TAPER_OK);
        on_device_take(d, &got, sum, sizeof got);
        assert_true(got == 4.0 * 0.5 * 999 * 1000 / 2);
        assert_int_equal(s->ops->sum_doubles(s, 0, to, sum), TAPER_OK);
        on_device_take(d, &got, sum, sizeof got);
        assert_true(got == 0.0);
        on_device_forget(d);
    }
}

/* --- the optimiser -------------------------------------------------------------------------- */

static train_verdict judged(on_device *d, uint64_t step, double loss, double most, double squares,
                            float max_norm, train_verdict before) {
    train_verdict *there = on_device_give(d, &before, sizeof before), got;
    assert_int_equal(d->stream.ops->judge(&d->stream, step, on_device_give(d, &loss, sizeof loss),
                                          most, on_device_give(d, &squares, sizeof squares),
                                          max_norm, there),
                     TAPER_OK);
    on_device_take(d, &got, there, sizeof got);
    on_device_forget(d);
    return got;
}

static void verdicts_are_just(void **state) {
    (void)state;
    const train_verdict none = {0, 7.0f}, old = {3, 1.0f};
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        train_verdict v = judged(d, 5, 1e30, INFINITY, 16.0, 2.0f, none);
        assert_true(v.diverged == 0 && v.scale == 0.5f);
        v = judged(d, 5, 1.0, INFINITY, 16.0, 0.0f, none);
        assert_true(v.diverged == 0 && v.scale == 1.0f);
        v = judged(d, 5, 1.0, INFINITY, 16.0, 5.0f, none);
        assert_true(v.diverged == 0 && v.scale == 1.0f);
        assert_int_equal(judged(d, 5, NAN, INFINITY, 1.0, 0.0f, none).diverged, 5);
        assert_int_equal(judged(d, 5, -INFINITY, INFINITY, 1.0, 0.0f, none).diverged, 5);
        assert_int_equal(judged(d, 5, 1e12, 1e12, 1.0, 0.0f, none).diverged, 5);
        assert_int_equal(judged(d, 5, 1.0, INFINITY, NAN, 1.0f, none).diverged, 5);
        assert_int_equal(judged(d, 5, 1.0, INFINITY, INFINITY, 1.0f, none).diverged, 5);
        assert_int_equal(judged(d, 5, NAN, INFINITY, 1.0, 0.0f, old).diverged, 3);
        assert_int_equal(judged(d, 5, 1.0, INFINITY, 1.0, 0.0f, old).diverged, 3);
    }
}

static const train_adam_step adam_step = {0.01f, 0.9f, 0.99f, 1e-6f};

static void adam_equals_double(void **state) {
    (void)state;
    static float g[MOST], w[3][MOST], got[3][MOST], first[3][MOST];
    static double want[3][MOST];
    for (size_t k = 0; k < N_SIZES; k++) {
        size_t n = sizes[k], bytes = n * sizeof *g;
        randomise(g, n, 1.0f);
        for (int t = 0; t < 3; t++) randomise(w[t], n, 1.0f);
        for (size_t j = 0; j < n; j++) {
            double gradient = 0.25 * g[j], v0 = fabs((double)w[2][j]);
            w[2][j] = fabsf(w[2][j]);
            want[1][j] = (double)adam_step.beta1 * w[1][j] + (1.0 - adam_step.beta1) * gradient;
            want[2][j] =
                (double)adam_step.beta2 * v0 + (1.0 - adam_step.beta2) * gradient * gradient;
            want[0][j] = w[0][j] - adam_step.rate * want[1][j] /
                                       (sqrt(want[2][j]) + (double)adam_step.epsilon);
        }
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            train_verdict go = {0, 0.25f}, stop = {1, 0.25f};
            float *to[3];
            const float *gradient = on_device_give(d, g, bytes);
            for (int t = 0; t < 3; t++) to[t] = on_device_give(d, w[t], bytes);
            assert_int_equal(d->stream.ops->adam(&d->stream, n, &adam_step,
                                                 on_device_give(d, &stop, sizeof stop), gradient,
                                                 to[0], to[1], to[2]),
                             TAPER_OK);
            for (int t = 0; t < 3; t++) on_device_take(d, got[t], to[t], bytes);
            for (int t = 0; t < 3; t++) assert_memory_equal(got[t], w[t], bytes);
            assert_int_equal(d->stream.ops->adam(&d->stream, n, &adam_step,
                                                 on_device_give(d, &go, sizeof go), gradient, to[0],
                                                 to[1], to[2]),
                             TAPER_OK);
            for (int t = 0; t < 3; t++) {
                on_device_take(d, got[t], to[t], bytes);
                close_to(got[t], want[t], n, t ? 2e-7 : 2e-6, "adam");
                if (!i) memcpy(first[t], got[t], bytes);
                same(i, first[t], got[t], bytes, "adam");
            }
            on_device_forget(d);
        }
    }
}

/* A weight whose gradient stays 0, or nearly: its moments end at 0, on no path through numbers that
 * are slow to reckon with. */
static void adam_moments_are_never_subnormal(void **state) {
    (void)state;
    enum { N = 40, STEPS = 12000 };
    on_device *d = &device[0];
    const float zeros[N] = {0};
    const train_verdict go = {0, 1.0f};
    float g[N], m[N], v[N], *there[4];
    for (int t = 0; t < 4; t++) there[t] = on_device_give(d, zeros, sizeof zeros);
    const train_verdict *verdict = on_device_give(d, &go, sizeof go);
    for (int t = 0; t < STEPS; t++) {
        for (int k = 0; k < N; k++) g[k] = t ? ldexpf(1.0f, -4 * k) * (float)(k % 2) : 1.0f;
        train_upload(&d->stream, there[0], g, sizeof g);
        assert_int_equal(d->stream.ops->adam(&d->stream, N, &adam_step, verdict, there[0], there[1],
                                             there[2], there[3]),
                         TAPER_OK);
        on_device_take(d, m, there[2], sizeof m);
        on_device_take(d, v, there[3], sizeof v);
        for (int k = 0; k < N; k++)
            if (fpclassify(m[k]) == FP_SUBNORMAL || fpclassify(v[k]) == FP_SUBNORMAL)
                fail_msg("step %d, weight %d: %g, %g", t, k, (double)m[k], (double)v[k]);
    }
    for (int k = 0; k < N; k += 2) assert_true(m[k] == 0 && v[k] == 0);
    on_device_forget(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_moves),
        cmocka_unit_test(arenas_count_then_lie),
        cmocka_unit_test(what_is_lent_is_seen),
        cmocka_unit_test(uploads_may_pile_up),
        cmocka_unit_test(fed_rows_are_those_asked_for),
        cmocka_unit_test(what_does_not_fit_is_said),
        cmocka_unit_test(the_shadow_is_not_to_be_touched),
        cmocka_unit_test(failures_come_when_asked_for),
        cmocka_unit_test(products_equal_double),
        cmocka_unit_test(column_products_equal_double),
        cmocka_unit_test(column_products_of_bytes_are_exact),
        cmocka_unit_test(biases_are_added),
        cmocka_unit_test(layers_are_products_and_biases),
        cmocka_unit_test(bias_goes_back),
        cmocka_unit_test(wide_biases_go_back),
        cmocka_unit_test(logistic_slope_is_the_curves),
        cmocka_unit_test(rows_are_gathered_and_centred),
        cmocka_unit_test(rows_are_moved),
        cmocka_unit_test(bits_have_their_gradients),
        cmocka_unit_test(errors_and_their_gradient),
        cmocka_unit_test(many_rows_have_their_gradient),
        cmocka_unit_test(errors_are_weighed),
        cmocka_unit_test(many_qualities_are_weighed),
        cmocka_unit_test(labels_have_their_price),
        cmocka_unit_test(softmax_tells_what_is_not_finite),
        cmocka_unit_test(distances_equal_double),
        cmocka_unit_test(vectors_equal_their_definitions),
        cmocka_unit_test(sums_equal_double),
        cmocka_unit_test(verdicts_are_just),
        cmocka_unit_test(adam_equals_double),
        cmocka_unit_test(adam_moments_are_never_subnormal),
    };
    return cmocka_run_group_tests(tests, open_all, close_every_device);
}
