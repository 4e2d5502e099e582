/* test_labels.c -- label files: text with and without names, IDX, numbering of classes, damage. */
#include "cmocka_all.h"
#include "formats/images/idx.h"
#include "formats/imageset/labels.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static taper_status decode(const char *text, formats_labels *out, taper_error *error) {
    return formats_labels_decode(text, strlen(text), NULL, out, error);
}

/* The class of the name with this key (formats_name_key). -1: no such name, or no label for it. */
static int32_t class_of(const formats_labels *l, const char *key) {
    const size_t place = formats_label_index_place(&l->index, key, NULL);
    return place < l->index.count ? l->classes[place] : -1;
}

static void assert_classes(const formats_labels *l, size_t n, const int32_t *classes,
                           size_t class_count, const char *const *names) {
    assert_int_equal(l->count, n);
    for (size_t i = 0; i < n; i++) assert_int_equal(l->classes[i], classes[i]);
    assert_int_equal(l->class_count, class_count);
    for (size_t k = 0; k < class_count; k++) assert_string_equal(l->class_names[k], names[k]);
}

static void lines_are_labels_in_order(void **state) {
    (void)state;
    formats_labels l;
    assert_int_equal(decode("dog\ncat\ndog\neel\n", &l, NULL), TAPER_OK);
    assert_classes(&l, 4, (const int32_t[]){1, 0, 1, 2}, 3,
                   (const char *const[]){"cat", "dog", "eel"});
    assert_null(l.names);
    formats_labels_free(&l);
    /* byte order mark, heading, CRLF, blank lines, spaces, quotes, no newline at the end */
    assert_int_equal(decode("\xef\xbb\xbfLabel\r\n dog \r\n\r\n\"c\"\"a,t\"\r\ndog", &l, NULL),
                     TAPER_OK);
    assert_classes(&l, 3, (const int32_t[]){1, 0, 1}, 2, (const char *const[]){"c\"a,t", "dog"});
    formats_labels_free(&l);
}

static void numbers_sort_as_numbers(void **state) {
    (void)state;
    formats_labels l;
    assert_int_equal(decode("10\n9\n-1\n10\n100\n", &l, NULL), TAPER_OK);
    assert_classes(&l, 5, (const int32_t[]){2, 1, 0, 2, 3}, 4,
                   (const char *const[]){"-1", "9", "10", "100"});
    formats_labels_free(&l);
    assert_int_equal(decode("10\n9\nx\n", &l, NULL), TAPER_OK); /* not all are numbers: by bytes */
    assert_classes(&l, 3, (const int32_t[]){0, 1, 2}, 3, (const char *const[]){"10", "9", "x"});
    formats_labels_free(&l);
}

static void names_are_found(void **state) {
    (void)state;
    formats_labels l;
    assert_int_equal(
        decode("file,class\nb.png,dog\na.png,cat\n\"c,d.png\", dog\nb.png,cat\n", &l, NULL),
        TAPER_OK);
    assert_int_equal(l.count, 4);
    assert_int_equal(l.class_count, 2);
    assert_int_equal(class_of(&l, "a.png"), 0);
    assert_int_equal(class_of(&l, "b.png"), 0); /* the last line counts */
    assert_int_equal(class_of(&l, "c,d.png"), 1);
    assert_int_equal(class_of(&l, "file"), -1);
    assert_int_equal(class_of(&l, ""), -1);
    assert_int_equal(class_of(&l, "zzz"), -1);
    formats_labels_free(&l);
}

/* What `classify` writes, and what a spreadsheet makes of it. */
static void headings_may_have_more_columns(void **state) {
    (void)state;
    formats_labels l;
    assert_int_equal(decode("name,label,votes,of,nearest,distance\n"
                            "a.png,dog,3,5,\"x,y.png\",0.25\nb.png,cat,5,5,z.png,1\n"
                            "c.png,,,,,\n,,,,,\nd.png,dog\n",
                            &l, NULL),
                     TAPER_OK);
    assert_classes(&l, 4, (const int32_t[]){1, 0, -1, 1}, 2, (const char *const[]){"cat", "dog"});
    assert_int_equal(class_of(&l, "a.png"), 1);
    assert_int_equal(class_of(&l, "c.png"), -1);
    assert_true(formats_label_index_has(&l.index, "c.png"));
    assert_false(formats_label_index_has(&l.index, "x,y.png"));
    assert_false(formats_label_index_has(&l.index, ""));
    formats_labels_free(&l);
    /* an empty label beside others, under a heading alone; see bad_files_name_their_line */
    assert_int_equal(decode("name,label\na.png,\nb.png,cat\n", &l, NULL), TAPER_OK);
    assert_classes(&l, 2, (const int32_t[]){-1, 0}, 1, (const char *const[]){"cat"});
    formats_labels_free(&l);
}

/* What other programs write is refused in words that say what it is. */
static void other_kinds_are_named(void **state) {
    (void)state;
    static const struct {
        const char *text, *words;
        size_t n; /* 0: to its end */
    } wrong[] = {
        {"a.png;dog\nb.png;cat\n", "line 1 of the labels has a semicolon where a comma", 0},
        {"\r\na.png\tdog\n", "line 2 of the labels has a tab where a comma", 0},
        {"\xff\xfe"
         "d\0o\0",
         "UTF-16", 6},
        {"\0\0\x0d\1\0\0\0\1\0\0\0\0", "numbers with fractions (type 0x0d)", 12}};
    formats_labels l;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        taper_error error = {0};
        const size_t n = wrong[i].n ? wrong[i].n : strlen(wrong[i].text);
        assert_int_equal(formats_labels_decode(wrong[i].text, n, NULL, &l, &error),
                         TAPER_ERR_CORRUPT);
        assert_non_null(strstr(error.text, wrong[i].words));
    }
    assert_int_equal(decode("\"salt;pepper\"\n", &l, NULL), TAPER_OK);
    assert_string_equal(l.class_names[0], "salt;pepper");
    formats_labels_free(&l);
    assert_int_equal(decode("dog\t\ncat\n", &l, NULL), TAPER_OK); /* a blank behind it */
    assert_string_equal(l.class_names[1], "dog");
    formats_labels_free(&l);
}

static void idx_labels_are_classes(void **state) {
    (void)state;
    static const uint8_t values[3] = {3, 11, 3};
    for (int gzip = 0; gzip <= 1; gzip++) {
        uint8_t *bytes;
        size_t n;
        formats_labels l;
        assert_int_equal(formats_idx_encode_labels(values, 3, gzip, &bytes, &n, NULL), TAPER_OK);
        assert_int_equal(formats_labels_decode(bytes, n, NULL, &l, NULL), TAPER_OK);
        assert_int_equal(l.class_count, 12);
        assert_string_equal(l.class_names[11], "11");
        assert_int_equal(l.classes[1], 11);
        assert_int_equal(l.classes[2], 3);
        formats_labels_free(&l);
        for (size_t cut = 1; cut < n; cut++) {
            taper_status status = formats_labels_decode(bytes, cut, NULL, &l, NULL);
            assert_true(status != TAPER_OK);
            assert_null(l.classes);
        }
        free(bytes);
    }
}

static void bad_files_name_their_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *word;
    } bad[] = {
        {"a.png,cat\nb.png\n", "line 2"},
        {"cat\ndog\na.png,dog\n", "line 3"},
        {"a,b,c\n", "more than 2 columns"},
        {"a.png,cat\nb.png,\n", "line 2"},
        {"\"cat\" x\n", "line 1"},
        {"", "no label"},
        {"label\n\n", "no label"},
        {"name,label\na.png,\n", "no label"},
        {"name,label\na.png,1,2\n", "more than 2 columns"},
        {"name,label\n,\n", "line 2"},
        {"name,label,votes\na.png\n", "line 2"},
        {"a.png,\"two\nlines\"\nb.png\n", "line 3"},
        {"a.png,cat\nb.png,\"dog\nc.png,cat\n", "line 2 of the labels opens a quote that is never"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        formats_labels l;
        taper_error error = {.status = TAPER_OK};
        assert_int_equal(decode(bad[k].text, &l, &error), TAPER_ERR_CORRUPT);
        if (!strstr(error.text, bad[k].word)) fail_msg("case %zu: %s", k, error.text);
        assert_null(l.classes);
    }
    formats_labels l;
    taper_error error;
    assert_int_equal(formats_labels_decode("a\0b\n", 4, NULL, &l, &error), TAPER_ERR_CORRUPT);
    char *endless = malloc(1 << 20);
    memset(endless, 'x', 1 << 20);
    assert_int_equal(formats_labels_decode(endless, 1 << 20, NULL, &l, &error), TAPER_ERR_CORRUPT);
    free(endless);
    const taper_limits limits = {.size = sizeof(taper_limits), .max_images = 2};
    assert_int_equal(formats_labels_decode("1\n2\n3\n", 6, &limits, &l, &error), TAPER_ERR_LIMIT);
    assert_null(l.classes);
}

static void quotes_hold_any_text(void **state) {
    (void)state;
    formats_labels l;
    assert_int_equal(decode("name,label\n\"a\nb.png\",\"two\nlines\" \r\nb.png,\" c\td \"\n"
                            "c.png,\"\x1b\r\"\nd.png,\"x,\"\"\n\"\"\"\n",
                            &l, NULL),
                     TAPER_OK);
    assert_classes(&l, 4, (const int32_t[]){2, 1, 0, 3}, 4,
                   (const char *const[]){"\x1b\r", " c\td ", "two\nlines", "x,\"\n\""});
    assert_int_equal(class_of(&l, "a\nb.png"), 2);
    formats_labels_free(&l);
    taper_error error;
    assert_int_equal(formats_labels_decode("\"a\0b\"\n", 6, NULL, &l, &error), TAPER_ERR_CORRUPT);
}

static void wrong_counts_are_told_with_both(void **state) {
    (void)state;
    formats_labels l;
    taper_error error;
    assert_int_equal(decode("1\n2\n3\n", &l, NULL), TAPER_OK);
    assert_int_equal(formats_labels_check_count(&l, 3, &error), TAPER_OK);
    assert_int_equal(formats_labels_check_count(&l, 10000, &error), TAPER_ERR_ARG);
    assert_non_null(strstr(error.text, "3 labels"));
    assert_non_null(strstr(error.text, "10000 images"));
    formats_labels_free(&l);
}

static void texts_may_be_missing(void **state) {
    (void)state;
    formats_labels l;
    const char *const texts[] = {"b", NULL, "a", "b"};
    assert_int_equal(formats_labels_from_texts(texts, 4, &l, NULL), TAPER_OK);
    assert_classes(&l, 4, (const int32_t[]){1, -1, 0, 1}, 2, (const char *const[]){"a", "b"});
    formats_labels_free(&l);
    assert_int_equal(formats_labels_from_texts(NULL, 0, &l, NULL), TAPER_OK);
    assert_int_equal(l.class_count, 0);
    formats_labels_free(&l);
    formats_labels_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_labels_in_order),
        cmocka_unit_test(numbers_sort_as_numbers),
        cmocka_unit_test(names_are_found),
        cmocka_unit_test(headings_may_have_more_columns),
        cmocka_unit_test(other_kinds_are_named),
        cmocka_unit_test(idx_labels_are_classes),
        cmocka_unit_test(bad_files_name_their_line),
        cmocka_unit_test(quotes_hold_any_text),
        cmocka_unit_test(wrong_counts_are_told_with_both),
        cmocka_unit_test(texts_may_be_missing),
    };
    return cmocka_run_group_tests_name("labels", tests, NULL, NULL);
}
