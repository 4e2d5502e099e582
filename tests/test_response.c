/* test_response.c -- heads of responses; URLs as they are shown. */
#include "cmocka_all.h"
#include "remote/remote.h"
#include "remote/response.h"
#include "remote/url.h"
#include <stdio.h>
#include <string.h>

static remote_head head_of(const char *fields) {
    remote_head head = {0};
    remote_head_line(&head, "HTTP/1.1 206 Partial Content\r\n", 30);
    while (*fields) {
        const size_t n = strcspn(fields, "\n") + 1;
        remote_head_line(&head, fields, n);
        fields += n;
    }
    return head;
}

static remote_head range_of(const char *value) {
    char line[200];
    snprintf(line, sizeof line, "Content-Range: %s\n", value);
    return head_of(line);
}

static void the_status_begins_anew(void **state) {
    (void)state;
    remote_head head = head_of("ETag: \"a\"\n");
    assert_int_equal(head.status, 206);
    assert_string_equal(head.etag, "\"a\"");
    remote_head_line(&head, "HTTP/2 404 \r\n", 13);
    assert_int_equal(head.status, 404);
    assert_string_equal(head.etag, "");
    remote_head_line(&head, "HTTP/1.1 2x6 hm\r\n", 17);
    assert_int_equal(head.status, 0);
    remote_head_line(&head, "HTTP/1.1", 8);
    assert_int_equal(head.status, 0);
}

static void ranges_are_read(void **state) {
    (void)state;
    remote_head head = range_of("bytes 5-99/1000");
    assert_true(head.has_range && head.has_total && !head.is_bad_range);
    assert_int_equal(head.first, 5);
    assert_int_equal(head.last, 99);
    assert_int_equal(head.total, 1000);
    head = range_of("  BYTES   0-0/1  ");
    assert_true(head.has_range && head.last == 0 && head.total == 1);
    head = range_of("bytes 0-9/*");
    assert_true(head.has_range && !head.has_total && !head.is_bad_range);
    head = range_of("bytes */1000");
    assert_true(!head.has_range && head.has_total && head.total == 1000);
    head = range_of("bytes 0-9223372036854775806/9223372036854775807");
    assert_true(head.has_range && head.total == (uint64_t)INT64_MAX);
}

static void what_is_no_range_is_told(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      "bytes",
                                      "bytes 1-",
                                      "bytes 1-2",
                                      "bytes 1-2/",
                                      "bytes -2/9",
                                      "bytes 2-1/9",
                                      "bytes 0-9/9",
                                      "bytes 0-8/9x",
                                      "bytes */*",
                                      "items 0-1/9",
                                      "bytes 0-1/-9",
                                      "bytes 0 -1/9",
                                      "bytes0-1/9",
                                      "bytes 0x0-1/9",
                                      "bytes 0-18446744073709551616/18446744073709551617",
                                      "bytes 0-9223372036854775807/9223372036854775808"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        const remote_head head = range_of(bad[k]);
        if (!head.is_bad_range || head.has_range) fail_msg("accepted: %s", bad[k]);
    }
    /* two are none */
    assert_true(head_of("Content-Range: bytes 0-1/9\nContent-Range: bytes 0-1/9\n").is_bad_range);
}

static void other_fields_are_read(void **state) {
    (void)state;
    remote_head head = head_of("content-LENGTH: 123\r\nContent-Encoding: identity\r\n"
                               "Content-Type: Multipart/byteranges\r\nRetry-After: 99999\r\n");
    assert_true(head.has_length && head.length == 123 && !head.is_encoded && head.is_multipart);
    assert_int_equal(head.retry_after_s, 3600);
    head = head_of("Content-Length: 12 3\r\nContent-Encoding: gzip\r\nRetry-After: soon\r\nx\r\n");
    assert_true(!head.has_length && head.is_encoded && head.retry_after_s == 0);
    assert_string_equal(head.encoding, "gzip");
    assert_false(head_of("Content-Encoding:\r\n").is_encoded);
}

static void long_values_keep_their_length(void **state) {
    (void)state;
    char line[2000] = "ETag: ";
    memset(line + 6, 'a', 1500);
    line[1506] = '\n';
    remote_head a = head_of(line);
    assert_int_equal(strlen(a.etag), sizeof a.etag - 24 + strlen("...1500"));
    line[1505] = 'b'; /* differs beyond what is kept */
    remote_head b = head_of(line);
    assert_true(remote_head_is_same(&a, &b));
    line[1505] = '\n', line[1506] = 0;
    b = head_of(line);
    assert_false(remote_head_is_same(&a, &b));
    a = head_of("ETag: \"\x1b[31m\x80\"\n");
    assert_string_equal(a.etag, "\"?[31m?\"");
}

static void versions_are_told_apart(void **state) {
    (void)state;
    const remote_head none = head_of(""), a = head_of("ETag: \"a\"\nLast-Modified: 1\n"),
                      weak = head_of("ETag: W/\"a\"\n"), b = head_of("ETag: \"b\"\n"),
                      one = head_of("Last-Modified: 1\n"), two = head_of("Last-Modified: 2\n");
    assert_true(remote_head_is_same(&none, &a) && remote_head_is_same(&a, &weak));
    assert_false(remote_head_is_same(&a, &b) || remote_head_is_same(&a, &two));
    assert_true(remote_head_is_same(&a, &one) && remote_head_is_same(&b, &two));
}

static void check_shown(const char *url, const char *shown) {
    char to[100];
    assert_string_equal(remote_url_shown(url, to, sizeof to), shown);
}

static void urls_are_shown_without_secrets(void **state) {
    (void)state;
    check_shown("https://a.b/c.taper", "https://a.b/c.taper");
    check_shown("https://u:p@a.b:80/c", "https://a.b:80/c");
    check_shown("HTTP://u@v@a.b", "HTTP://a.b");
    check_shown("http://a.b/c@d", "http://a.b/c@d");
    check_shown("http://a.b/c?key=1#x", "http://a.b/c?...");
    check_shown("http://a.b?u@v", "http://a.b?...");
    check_shown("a@b.taper", "a@b.taper");
    assert_true(remote_is_url("HTTPS://a") && !remote_is_url("https:/a") &&
                !remote_is_url("ftp://a"));
    assert_true(remote_url_has_credentials("http://u@a/") &&
                !remote_url_has_credentials("http://a/@"));
    assert_true(remote_url_is_clean("http://a/") && !remote_url_is_clean("http://a/\n") &&
                !remote_url_is_clean("http://a b"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_status_begins_anew),        cmocka_unit_test(ranges_are_read),
        cmocka_unit_test(what_is_no_range_is_told),      cmocka_unit_test(other_fields_are_read),
        cmocka_unit_test(long_values_keep_their_length), cmocka_unit_test(versions_are_told_apart),
        cmocka_unit_test(urls_are_shown_without_secrets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
