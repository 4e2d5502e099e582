/* test_device_number.c -- which GPU a process takes (cli/device.h). */
#include "cli/device.h"
#include "cmocka_all.h"

static int number(const char *name, uint32_t local_rank, int count) {
    const train_ranks ranks = {
        .rank = 10 + local_rank, .size = 20, .local_rank = local_rank, .local_size = 8};
    return cli_device_number(name, &ranks, count);
}

static void one_process_takes_the_first(void **state) {
    (void)state;
    assert_int_equal(cli_device_number("auto", NULL, 4), 0);
    assert_int_equal(cli_device_number("cuda", NULL, 4), 0);
    assert_int_equal(cli_device_number("cuda:3", NULL, 4), 3);
}

static void processes_of_a_machine_take_turns(void **state) {
    static const int expected[] = {0, 1, 2, 0, 1, 2, 0};
    (void)state;
    for (uint32_t rank = 0; rank < 7; rank++) {
        assert_int_equal(number("auto", rank, 3), expected[rank]);
        assert_int_equal(number("cuda", rank, 3), expected[rank]);
        assert_int_equal(number("cuda", rank, 1), 0);
        assert_int_equal(number("auto", rank, 0), 0);
    }
}

static void a_number_that_is_given_stays(void **state) {
    (void)state;
    assert_int_equal(number("cuda:1", 0, 2), 1);
    assert_int_equal(number("cuda:1", 3, 8), 1);
    assert_int_equal(number("cuda:9", 3, 2), 9); /* which fails when it is opened */
    assert_int_equal(number("cuda:99999999999999999999", 0, 2), 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_process_takes_the_first),
                                       cmocka_unit_test(processes_of_a_machine_take_turns),
                                       cmocka_unit_test(a_number_that_is_given_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
