/* test_json.c -- the writer of JSON lines: nesting, escapes, numbers. */
#include "cli/common/json.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
/* after the four headers it needs */
#include <cmocka.h>

typedef struct sheet {
    char *text;
    size_t size;
    FILE *to;
} sheet;

static void open_sheet(sheet *s) {
    *s = (sheet){0};
    s->to = open_memstream(&s->text, &s->size);
    assert_non_null(s->to);
}

static void expect(sheet *s, const char *text) {
    fclose(s->to);
    assert_string_equal(s->text, text);
    free(s->text);
}

static void nesting_and_commas(void **state) {
    (void)state;
    sheet s;
    open_sheet(&s);
    cli_json j;
    cli_json_begin(&j, s.to);
    cli_json_open(&j, "curves", '[');
    for (int i = 0; i < 2; i++) {
        cli_json_open(&j, NULL, '{');
        cli_json_uint(&j, "n", (uint64_t)i);
        cli_json_open(&j, "empty", '[');
        cli_json_close(&j);
        cli_json_bool(&j, "last", i == 1);
        cli_json_close(&j);
    }
    cli_json_close(&j);
    cli_json_open(&j, "row", '[');
    cli_json_number(&j, NULL, 1);
    cli_json_string(&j, NULL, NULL);
    cli_json_string(&j, NULL, NULL);
    cli_json_end(&j); /* closes the array and the object */
    cli_json_begin(&j, s.to);
    cli_json_end(&j);
    expect(&s, "{\"schema\":1,\"curves\":[{\"n\":0,\"empty\":[],\"last\":false},{\"n\":1,\"empty\":"
               "[],\"last\":true}],"
               "\"row\":[1,null,null]}\n{\"schema\":1}\n");
}

static void strings_are_always_legal(void **state) {
    (void)state;
    static const struct {
        const char *raw, *written;
    } cases[] = {
        {"plain", "plain"},
        {"a\"b\\c/", "a\\\"b\\\\c/"},
        {"\n\t\x01\x7f", "\\u000a\\u0009\\u0001\\u007f"},
        {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\xc2\x9b\xc2\x85\xe2\x80\xae\xd8\x9c", "\\u009b\\u0085\\u202e\\u061c"},
        {"\xff|", "\\ufffd|"}, /* no start byte */
        {"\xc3", "\\ufffd"},   /* cut short by the end */
        {"\xe2\x82", "\\ufffd\\ufffd"},
        {"\xc0\xaf", "\\ufffd\\ufffd"}, /* overlong '/' */
        {"\xe0\x80\xaf", "\\ufffd\\ufffd\\ufffd"},
        {"\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd"}, /* surrogate */
        {"\xf4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd"} /* above U+10FFFF */};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sheet s;
        open_sheet(&s);
        cli_json j;
        cli_json_begin(&j, s.to);
        cli_json_string(&j, "s", cases[i].raw);
        cli_json_end(&j);
        char expected[128];
        snprintf(expected, sizeof expected, "{\"schema\":1,\"s\":\"%s\"}\n", cases[i].written);
        expect(&s, expected);
    }
}

static void numbers_read_back(void **state) {
    (void)state;
    sheet s;
    open_sheet(&s);
    cli_json j;
    cli_json_begin(&j, s.to);
    cli_json_open(&j, "n", '[');
    cli_json_number(&j, NULL, 0.1);
    cli_json_number(&j, NULL, -20);
    cli_json_number(&j, NULL, 32.123456789);
    cli_json_number(&j, NULL, 1e300);
    cli_json_number(&j, NULL, (double)NAN);
    cli_json_number(&j, NULL, (double)INFINITY);
    cli_json_uint(&j, NULL, UINT64_MAX);
    cli_json_int(&j, NULL, INT64_MIN);
    cli_json_end(&j);
    expect(&s, "{\"schema\":1,\"n\":[0.1,-20,32.123456789,1e+300,null,null,18446744073709551615,"
               "-9223372036854775808]}\n");
    uint64_t seed = 1;
    for (int i = 0; i < 2000; i++) { /* random doubles of every exponent */
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        double value;
        uint64_t bits = seed ^ seed >> 29;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        open_sheet(&s);
        cli_json_begin(&j, s.to);
        cli_json_number(&j, "n", value);
        cli_json_end(&j);
        fclose(s.to);
        double back = strtod(s.text + strlen("{\"schema\":1,\"n\":"), NULL);
        if (!(back == value))
            fail_msg("%.17g was written as %s (bits %llx)", value, s.text,
                     (unsigned long long)bits);
        free(s.text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(nesting_and_commas),
                                       cmocka_unit_test(strings_are_always_legal),
                                       cmocka_unit_test(numbers_read_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
