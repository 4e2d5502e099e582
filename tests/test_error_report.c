/* test_error_report.c -- what is said of wrong labels; the pairs that are confused most. */
#include "cli/search/error_report.h"
#include "cmocka_all.h"
#include <stdlib.h>
#include <string.h>

static const taper_error_rate rates[] = {{0, 200, 5, 0.025, 0.0125, 0.0572},
                                         {0, 1, 1, 1, 0.2065, 1}};
static const size_t votes[] = {5, 1};
static const taper_error_rate means[] = {{0, 200, 5, 0.25, 0.125, 0.375}, {0, 1, 1, 1, 0.2, 1}};

typedef void report_fn(const cli_error_report *, FILE *);

static void assert_said(report_fn *say, cli_error_report report, const char *want) {
    char *text;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    say(&report, to);
    assert_int_equal(fclose(to), 0);
    assert_string_equal(text, want);
    free(text);
}

static const char *const three[] = {"cat", "\xc3\xa9l\xc3\xa9phant", "a \x1b and a long name"};
static const uint64_t confusion[] = {10, 1, 0, 0, 0, 0, 1234567, 0, 3};

static const char *tested_names[] = {"cat", "a \x1b and a long name", "dog"};
static uint64_t wrong_of[] = {1, 4, 0}, tested_of[] = {100, 100, 0};
static const cli_class_errors by_class = {tested_names, wrong_of, tested_of, 3, 1, {0}};
static const cli_class_errors none = {0};

static void people_see_a_matrix(void **state) {
    (void)state;
    const cli_error_report report = {2, votes, rates, three, 3, confusion, means, &by_class, false};
    assert_said(cli_error_report_print, report,
                "error 2.50 % by 5 votes: 5 of 200; 95 % interval 1.25 to 5.72 %\n"
                "balanced error 25.00 %, the mean of 2 classes; 95 % interval 12.50 to 37.50 %; "
                "1 class is without a test image, which may have any error\n"
                "error 100.00 % by 1 vote: 1 of 1; 95 % interval 20.65 to 100.00 %\n"
                "balanced error 100.00 %, the mean of 2 classes; 95 % interval 20.00 to 100.00 %; "
                "1 class is without a test image, which may have any error\n"
                "errors of each class:\n"
                "    1.00 %  cat: 1 of 100; 95 % interval 0.18 to 5.45 %\n"
                "    4.00 %  a \\x1b and a long name: 4 of 100; 95 % interval 1.57 to 9.84 %\n"
                "       ?    dog: no test image\n"
                "true label, and what it was taken for:\n"
                "                  cat \xc3\xa9l\xc3\xa9phant a \\x1b and a\n"
                "cat                10        1            0\n"
                "\xc3\xa9l\xc3\xa9phant            0        0            0\n"
                "a \\x1b and a  1234567        0            3\n");
}

/* Classes that are nowhere have no row. */
static void absent_classes_are_left_out(void **state) {
    (void)state;
    const uint64_t few[] = {7, 0, 0, 0, 0, 0, 0, 0, 3};
    const cli_error_report report = {0, votes, rates, three, 3, few, means, &none, false};
    assert_said(cli_error_report_print, report,
                "true label, and what it was taken for:\n"
                "                  cat a \\x1b and a\n"
                "cat                 7            0\n"
                "a \\x1b and a        0            3\n");
}

static void many_classes_are_told_in_pairs(void **state) {
    (void)state;
    enum { CLASSES = 30 };
    static char text[CLASSES][16];
    const char *name[CLASSES];
    static uint64_t many[CLASSES * CLASSES];
    for (int i = 0; i < CLASSES; i++) {
        snprintf(text[i], sizeof text[i], "c%d", i);
        name[i] = text[i];
        many[i * CLASSES + i] = 100;
    }
    many[3 * CLASSES + 4] = 9, many[29 * CLASSES + 0] = 9, many[0 * CLASSES + 29] = 1;
    const cli_error_report report = {0, votes, rates, name, CLASSES, many, means, &none, false};
    assert_said(cli_error_report_print, report,
                "c3 was taken for c4 9 times\nc29 was taken for c0 9 times\n"
                "c0 was taken for c29 1 time\n");
    for (int i = 0; i < CLASSES; i++) many[7 * CLASSES + i] = 20;
    char want[600] = "";
    for (int i = 0, n = 0; n < 10; i++)
        if (i != 7) snprintf(want + strlen(want), 40, "c7 was taken for c%d 20 times\n", i), n++;
    assert_said(cli_error_report_print, report, want);
}

static void programs_see_json(void **state) {
    (void)state;
    cli_error_report report = {2, votes, rates, three, 3, confusion, means, &none, false};
    const char *front = "{\"schema\":1,\"kind\":\"errors\",\"tested\":200,\"errors\":["
                        "{\"k\":5,\"wrong\":5,\"percent\":2.5,\"low_percent\":1.25,"
                        "\"high_percent\":5.72,\"balanced_percent\":25,"
                        "\"balanced_low_percent\":12.5,\"balanced_high_percent\":37.5},"
                        "{\"k\":1,\"wrong\":1,\"percent\":100,\"low_percent\":20.65,"
                        "\"high_percent\":100,\"balanced_percent\":100,"
                        "\"balanced_low_percent\":20,\"balanced_high_percent\":100}],"
                        "\"class_errors\":[],"
                        "\"classes\":[\"cat\",\"\xc3\xa9l\xc3\xa9phant\","
                        "\"a \\u001b and a long name\"]";
    char want[900];
    snprintf(want, sizeof want, "%s,\"confusion\":[[10,1,0],[0,0,0],[1234567,0,3]]}\n", front);
    assert_said(cli_error_report_json, report, want);
    report.confusion = NULL;
    snprintf(want, sizeof want, "%s}\n", front);
    assert_said(cli_error_report_json, report, want);
}

static void put_line(void *to, const char *line) { fprintf(to, "%s\n", line); }

static void count_lines(void *user, const char *line) {
    (void)line;
    ++*(int *)user;
}

/* Of many classes the worst five, in order; with -v all; and none where nothing is wrong. */
static void worst_classes_are_told(void **state) {
    (void)state;
    enum { CLASSES = 40 };
    cli_class_errors e;
    static char names[CLASSES][8];
    int lines = 0;
    assert_true(cli_class_errors_open(&e, CLASSES));
    for (int i = 0; i < CLASSES; i++) {
        snprintf(names[i], sizeof names[i], "c%d", i);
        cli_class_errors_add(&e, names[i], (uint64_t)(i * 7 % CLASSES), i % 9 ? 100 : 0);
        if (!e.tested[i]) e.wrong[i] = 0;
    }
    assert_int_equal(cli_class_errors_balance(&e, NULL), TAPER_OK);
    assert_int_equal(e.unknown, 5);
    assert_true(e.balanced.low < e.balanced.rate && e.balanced.rate < e.balanced.high);
    cli_class_errors_say_classes(&e, true, count_lines, &lines);
    assert_int_equal(lines, 1 + CLASSES);
    char *text;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    cli_class_errors_say_classes(&e, false, put_line, to);
    assert_int_equal(fclose(to), 0);
    int before = CLASSES, n = 0;
    for (const char *at = strchr(text, '\n') + 1; *at; at = strchr(at, '\n') + 1, n++) {
        const int percent = (int)strtol(at, NULL, 10);
        assert_true(percent < before && percent > 20);
        before = percent;
    }
    assert_int_equal(n, 5);
    free(text);
    for (int i = 0; i < CLASSES; i++) e.wrong[i] = 0;
    assert_int_equal(cli_class_errors_balance(&e, NULL), TAPER_OK);
    cli_class_errors_say_classes(&e, false, count_lines, (lines = 0, &lines));
    assert_int_equal(lines, 0);
    cli_class_errors_free(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(people_see_a_matrix), cmocka_unit_test(absent_classes_are_left_out),
        cmocka_unit_test(many_classes_are_told_in_pairs), cmocka_unit_test(programs_see_json),
        cmocka_unit_test(worst_classes_are_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
