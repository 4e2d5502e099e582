/* test_class_tally.c -- errors by class: of votes that are weighted by class, of held-out rows, and
 * of the trials of a search. */
#include "cmocka_all.h"
#include "train/supervised/trial_errors.h"
#include <math.h>
#include <string.h>

enum { TRAINING = 13, HELD = 4, N = TRAINING + HELD };

/* Codes on a line: twelve rows of class 0 from 0 on, one of class 2 at 3.4. Class 1 has none. */
static float code[N];
static uint32_t label[N], all[N];

static train_embedding_rows rows_of(void) {
    static const float held[HELD] = {3.3f, 3.5f, 9.1f, 20.0f};
    static const uint32_t truth[HELD] = {2, 2, 0, 1};
    for (uint32_t i = 0; i < N; i++) {
        all[i] = N - 1 - i; /* rows are not in the order of the data */
        code[i] = i < 12 ? (float)i : i == 12 ? 3.4f : held[i - TRAINING];
        label[all[i]] = i < 12 ? 0 : i == 12 ? 2 : truth[i - TRAINING];
    }
    return (train_embedding_rows){.all = all, .n = N, .n_training = TRAINING, .classes = 3};
}

static void rare_classes_are_not_outvoted(void **state) {
    (void)state;
    const train_embedding_rows rows = rows_of();
    static const uint8_t want[2][HELD] = {{1, 1, 0, 1}, {0, 0, 0, 1}};
    for (int balanced = 0; balanced < 2; balanced++) {
        uint8_t wrong[HELD];
        taper_error_rate rate = {.size = sizeof rate};
        const train_embedding_codes codes = {code, 1, &rows, label, 5, 1, wrong, balanced};
        assert_int_equal(train_embedding_vote(&codes, &rate, NULL), TAPER_OK);
        assert_memory_equal(wrong, want[balanced], HELD);
        assert_int_equal(rate.wrong, balanced ? 1 : 3);
        train_class_tally tally;
        assert_int_equal(train_class_tally_open(&tally, 3, NULL), TAPER_OK);
        assert_true(isnan(train_class_tally_mean(&tally)));
        train_embedding_tally(&rows, label, wrong, &tally);
        const uint64_t tested[] = {1, 1, 2}, errors[] = {0, 1, balanced ? 0 : 2};
        assert_memory_equal(tally.tested, tested, sizeof tested);
        assert_memory_equal(tally.wrong, errors, sizeof errors);
        assert_true(fabs(train_class_tally_mean(&tally) - (balanced ? 1 : 2) / 3.0) < 1e-15);
        train_class_tally_free(&tally);
    }
}

/* Two folds of the rows, three trials of which the second is repeated. */
static void trials_are_counted_by_half(void **state) {
    (void)state;
    const train_embedding_rows rows = rows_of();
    static const uint8_t wrong[3][2][HELD] = {
        {{1, 0, 0, 0}, {0, 0, 0, 0}}, {{1, 1, 0, 1}, {0, 1, 1, 0}}, {{0, 0, 0, 0}, {0, 0, 0, 1}}};
    train_trial_errors errors;
    assert_int_equal(train_trial_errors_open(&errors, 2 * HELD, 3, NULL), TAPER_OK);
    static const uint8_t all_wrong[HELD] = {1, 1, 1, 1};
    for (uint32_t f = 0; f < 2; f++) train_trial_errors_add(&errors, 1, f, &rows, label, all_wrong);
    for (uint32_t t = 0; t < 3; t++)
        for (uint32_t f = 0; f < 2; f++)
            train_trial_errors_add(&errors, t, f, &rows, label, wrong[t][f]);
    for (uint32_t t = 0; t < 3; t++)
        for (int half = 0; half <= TRAIN_BOTH_HALVES; half++) {
            uint64_t tested[3] = {0}, mistaken[3] = {0};
            double sum = 0, n = 0;
            for (int i = 0; i < 2 * HELD; i++) {
                const int row = i % HELD;
                if (half != TRAIN_BOTH_HALVES && row % 2 != half) continue;
                const uint32_t class = label[all[TRAINING + row]];
                tested[class]++, mistaken[class] += wrong[t][i / HELD][row];
            }
            for (int c = 0; c < 3; c++)
                if (tested[c]) sum += (double)mistaken[c] / (double)tested[c], n++;
            train_class_tally tally;
            assert_int_equal(train_class_tally_open(&tally, 3, NULL), TAPER_OK);
            train_trial_errors_count(&errors, t, half, &tally);
            assert_memory_equal(tally.tested, tested, sizeof tested);
            assert_memory_equal(tally.wrong, mistaken, sizeof mistaken);
            assert_true(fabs(train_trial_errors_mean(&errors, t, half) - sum / n) < 1e-15);
            train_class_tally_free(&tally);
        }
    train_trial_errors_free(&errors);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rare_classes_are_not_outvoted),
                                       cmocka_unit_test(trials_are_counted_by_half)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
