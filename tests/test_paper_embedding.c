/* test_paper_embedding.c -- the cells of the tables of supervised codes: their names, splits,
 * records, and the verdicts on them. */
#include "bench/paper-embedding/cells.h"
#include "bench/paper-embedding/records.h"
#include "bench/paper-embedding/sets.h"
#include "bench/paper-embedding/tables.h"
#include "cmocka_all.h"
#include "scratch.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static embedding_cell all[EMBEDDING_MOST_CELLS];

static int in_a_folder(void **state) {
    static char folder[SCRATCH_PATH];
    scratch_make(folder);
    *state = folder;
    return 0;
}

static int leave(void **state) {
    scratch_remove(*state);
    return 0;
}

static void test_cells_have_names_of_their_own(void **state) {
    (void)state;
    size_t n = embedding_cells(NULL, 1, all), usps = 0;
    for (size_t i = 0; i < n; i++) {
        assert_string_not_equal(all[i].name, "");
        usps += !strcmp(all[i].set, "usps");
        for (size_t j = 0; j < i; j++) assert_string_not_equal(all[i].name, all[j].name);
        assert_true(embedding_cell_matches(&all[i], all[i].name));
        assert_true(embedding_recipe_of(&all[i])->minutes > 0.0);
        if (strstr(all[i].name, "-moved-")) /* as its recipe has it */
            assert_non_null(strstr(embedding_recipe_of(&all[i])->settings, "jitter="));
    }
    assert_int_equal(usps, (7 * 2 + 1) * EMBEDDING_SPLITS); /* table 1, and images moved */
    embedding_cell c = embedding_cell_of("usps", "dt-nca", "d-1", 30, 4, 1);
    assert_string_equal(c.name, "usps-dt-nca-d-1-30-split4-seed1");
    assert_true(embedding_cell_matches(&c, "mnist-* usps-dt-nca-d-1-30-*"));
    assert_false(embedding_cell_matches(&c, "mnist-* usps-dt-nca-d-1-3-*"));
    assert_false(embedding_cell_matches(&c, ""));
}

/* Every row of `a` is once among those of `b`, with its label. */
static void check_same_rows(const embedding_set *a, const embedding_set *b) {
    size_t n = a->train.n + a->test.n, d = a->train.inputs;
    char *taken = calloc(n, 1);
    assert_int_equal(n, b->train.n + b->test.n);
    for (size_t i = 0; i < n; i++) {
        size_t j = 0;
        while (j < n && (taken[j] || a->label[i] != b->label[j] ||
                         memcmp(a->pixels + i * d, b->pixels + j * d, d) != 0))
            j++;
        assert_true(j < n);
        taken[j] = 1;
    }
    free(taken);
}

static void test_splits_are_orders_of_all_rows(void **state) {
    (void)state;
    embedding e = {.quick = 1, .seed = 1};
    embedding_set set[3], again, choosing;
    for (uint32_t split = 0; split < 3; split++) {
        embedding_cell c = embedding_cell_of("usps", "dg-nca", "", 2, split, 1);
        embedding_set_read(&e, &c, 0, &set[split]);
    }
    size_t bytes = (set[0].train.n + set[0].test.n) * set[0].train.inputs;
    check_same_rows(&set[0], &set[1]);
    check_same_rows(&set[1], &set[2]);
    assert_memory_not_equal(set[0].pixels, set[1].pixels, bytes);
    assert_memory_not_equal(set[1].pixels, set[2].pixels, bytes);
    embedding_cell other = embedding_cell_of("usps", "dt-nca", "d-1", 30, 2, 9);
    embedding_set_read(&e, &other, 0, &again); /* neither method nor seed matters */
    assert_memory_equal(set[2].pixels, again.pixels, bytes);
    embedding_set_read(&e, &other, 1, &choosing);
    assert_int_equal(choosing.train.n + choosing.test.n, set[2].train.n);
    assert_int_equal(choosing.test.n, set[2].train.n / 6);
    assert_memory_equal(choosing.test.pixels,
                        set[2].train.pixels + choosing.train.n * choosing.train.inputs,
                        choosing.test.n * choosing.test.inputs);
    for (int i = 0; i < 3; i++) embedding_set_free(&set[i]);
    embedding_set_free(&again), embedding_set_free(&choosing);
}

/* --- records --------------------------------------------------------------------------- */

static void keep(const embedding *e, const embedding_cell *c, double error, double alpha) {
    embedding_record r = {.tested = 2000, .minutes = 1.5, .alpha = alpha, .settings = "rate=0.1"};
    for (int i = 0; i < EMBEDDING_KS; i++)
        r.error[i] = error + i - 2, r.low[i] = r.error[i] - 0.5, r.high[i] = r.error[i] + 0.25;
    embedding_record_write(e, c, &r);
}

static size_t lines_of(const char *folder, const char *name) {
    char path[SCRATCH_PATH];
    FILE *from = fopen(scratch_join(path, folder, name), "r");
    size_t n = 0;
    assert_non_null(from);
    for (int c = getc(from); c != EOF; c = getc(from)) n += c == '\n';
    fclose(from);
    return n;
}

static void test_records_come_back_and_are_replaced(void **state) {
    const embedding e = {
        .figures = {.out = *state, .work = *state}, .device_name = "cpu", .seed = 1};
    embedding_cell one = embedding_cell_of("mnist", "dt-nca", "learned", 2, 0, 1),
                   other = embedding_cell_of("mnist", "dt-nca", "learned", 2, 0, 11);
    embedding_record r;
    assert_false(embedding_record_read(&e, &one, &r));
    keep(&e, &one, 5.25, 0.75);
    assert_false(embedding_record_read(&e, &other, &r)); /* seed1 is not seed11 */
    keep(&e, &other, 9.0, 0.0);
    keep(&e, &one, 4.25, 0.5);
    assert_true(embedding_record_read(&e, &one, &r));
    assert_int_equal(r.tested, 2000);
    for (int i = 0; i < EMBEDDING_KS; i++) assert_true(fabs(r.error[i] - (2.25 + i)) < 1e-9);
    assert_true(fabs(r.low[2] - 3.75) < 1e-9 && fabs(r.high[2] - 4.5) < 1e-9);
    assert_true(r.minutes == 1.5 && r.alpha == 0.5);
    assert_string_equal(r.settings, "rate=0.1");
    assert_true(embedding_record_read(&e, &other, &r));
    assert_true(r.error[2] == 9.0 && r.alpha == 0.0);
    assert_int_equal(lines_of(*state, "mnist.jsonl"), 6 + 5); /* errors, minutes; one has alpha */
}

static char *table_of(const embedding *e, const embedding_published *row, size_t rows) {
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    assert_non_null(to);
    embedding_put_table(e, to, row, rows);
    embedding_put_order(e, to, row, rows);
    assert_int_equal(fclose(to), 0);
    return text;
}

static void test_verdicts_know_noise(void **state) {
    const embedding e = {
        .figures = {.out = *state, .work = *state}, .device_name = "cpu", .seed = 3};
    embedding_cell c = embedding_cell_of("mnist", "dg-nca", "", 30, 0, 3);
    static const double paper[] = {4.0, 3.0, 5.0};
    static const char *const verdict[] = {"the same, within 95 %", ">worse<", ">better<"};
    keep(&e, &c, 4.25, 0.0); /* 3.75 to 4.5 */
    for (int i = 0; i < 3; i++) {
        embedding_published row = {"dG-NCA", "mnist", "dg-nca", "", 30, paper[i], 0.0};
        char *text = table_of(&e, &row, 1);
        assert_non_null(strstr(text, verdict[i]));
        assert_null(strstr(text, "not run"));
        free(text);
    }
    embedding_published none = {"t-SNE", "mnist", NULL, NULL, 2, 9.9, 0.0};
    char *made = table_of(&e, &none, 1);
    assert_non_null(strstr(made, "not made here"));
    assert_null(strstr(made, "PARTS="));
    free(made);
    embedding_published two[] = {{"dG-NCA", "mnist", "dg-nca", "", 30, 4.0, 0.0},
                                 {"dt-NCA", "mnist", "dt-nca", "d-1", 30, 5.0, 0.0}};
    char *text = table_of(&e, two, 2);
    assert_non_null(strstr(text, "not run"));
    assert_non_null(strstr(text, "CELLS='mnist-dt-nca-d-1-30-*'"));
    free(text);
    c = embedding_cell_of("mnist", "dt-nca", "d-1", 30, 0, 3);
    keep(&e, &c, 4.5, 0.0);
    text = table_of(&e, two, 2);
    assert_non_null(strstr(text, "+0.25 \302\261 0.53 (paper: +1.00); the paper's order, within"));
    free(text);
    keep(&e, &c, 3.0, 0.0);
    text = table_of(&e, two, 2);
    assert_non_null(strstr(text, "; the other order."));
    free(text);
}

static void test_splits_have_a_mean_and_a_deviation(void **state) {
    const embedding e = {
        .figures = {.out = *state, .work = *state}, .device_name = "cpu", .seed = 1};
    static const double errors[] = {1.0, 2.0, 3.0};
    for (uint32_t split = 1; split <= 3; split++) {
        embedding_cell c = embedding_cell_of("usps", "dt-mcml", "learned", 2, split, 1);
        keep(&e, &c, 2.0 + errors[split - 1], (double)split);
    }
    embedding_figure f = embedding_figure_of(&e, "usps", "dt-mcml", "learned", 2);
    assert_int_equal(f.runs, 3);
    assert_int_equal(f.of, EMBEDDING_SPLITS);
    assert_true(fabs(f.error - 4.0) < 1e-9 && fabs(f.deviation - 1.0) < 1e-9);
    assert_true(fabs(f.alpha - 2.0) < 1e-9);
    assert_true(f.minutes > 0.0); /* of the three that are missing */
    /* noise 2.23 sqrt(0.36^2 / 6 + 1 / 3) = 1.33 */
    static const double paper[] = {2.8, 2.6};
    for (int i = 0; i < 2; i++) {
        embedding_published row = {"dt-MCML", "usps", "dt-mcml", "learned", 2, paper[i], 0.36};
        char *text = table_of(&e, &row, 1);
        assert_non_null(strstr(text, i ? ">worse<" : "the same, within noise"));
        assert_non_null(strstr(text, "3 of 6 splits"));
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells_have_names_of_their_own),
        cmocka_unit_test(test_splits_are_orders_of_all_rows),
        cmocka_unit_test_setup_teardown(test_records_come_back_and_are_replaced, in_a_folder,
                                        leave),
        cmocka_unit_test_setup_teardown(test_verdicts_know_noise, in_a_folder, leave),
        cmocka_unit_test_setup_teardown(test_splits_have_a_mean_and_a_deviation, in_a_folder,
                                        leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
