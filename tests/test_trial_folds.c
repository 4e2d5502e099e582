/* test_trial_folds.c -- the parts of rows that trials hold out in turn. */
#include "train/supervised/trial_folds.h"
#include "cmocka_all.h"

enum { ROWS = 400, CLASSES = 7, RARE = 10 };

/* Every class is shared out evenly, a rare one too, and classes of one row have different parts;
 * the first rows have the same parts without the others. */
static void classes_are_shared_out(void **state) {
    (void)state;
    uint32_t order[ROWS], label[ROWS], count[CLASSES][TRAIN_TRIAL_PARTS] = {{0}};
    uint32_t all[TRAIN_TRIAL_PARTS] = {0};
    uint8_t part[ROWS], first[ROWS];
    for (uint32_t i = 0; i < ROWS; i++) {
        order[i] = i * 171 % ROWS;
        label[i] = i < RARE ? 1 : i == 50 ? 2 : i == 60 ? 3 : i == 70 ? 5 : i % 2 ? 0 : 6;
    }
    assert_int_equal(train_trial_parts(order, ROWS, label, CLASSES, part), TAPER_OK);
    assert_int_equal(train_trial_parts(order, ROWS / 2, label, CLASSES, first), TAPER_OK);
    assert_memory_equal(first, part, ROWS / 2);
    for (uint32_t i = 0; i < ROWS; i++) {
        assert_true(part[i] < TRAIN_TRIAL_PARTS);
        count[label[order[i]]][part[i]]++, all[part[i]]++;
    }
    for (uint32_t c = 0; c < CLASSES; c++)
        for (uint32_t p = 1; p < TRAIN_TRIAL_PARTS; p++)
            assert_in_range(count[c][p] + 1 - count[c][0], 0, 2);
    assert_true(count[2][2] == 1 && count[3][3] == 1 && count[5][1] == 1);
    for (uint32_t p = 0; p < TRAIN_TRIAL_PARTS; p++) assert_in_range(all[p], 98, 102);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(classes_are_shared_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
