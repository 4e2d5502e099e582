/* test_device.c -- devices: their memory, rows that are fed to them, the shadow's trap, failures.
 */
#include "device_numbers.h"
#include "train/device/feed.h"
#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

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
        train_mirror mirror = {0};
        assert_int_equal(train_mirror_open(&mirror, &d->stream, host, sizeof host), TAPER_OK);
        assert_int_equal(mirror.at == (const void *)host, i < 2); /* no copy where none is needed */
        host[1] = 9;
        assert_int_equal(train_mirror_update(&mirror, &d->stream, host), TAPER_OK);
        on_device_take(d, back, mirror.at, sizeof back);
        assert_memory_equal(host, back, sizeof host);
        train_mirror_free(&mirror);
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
    assert_int_equal(train_order_open(&order, s, number, FED), TAPER_OK);
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
    };
    return cmocka_run_group_tests(tests, open_all, close_every_device);
}
