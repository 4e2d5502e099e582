/* test_page.c -- pages hold everything themselves, are dark for those who want that, text stays
 * text, names are broken between their parts, and pictures come back as they went in. */
#include "cli/common/page.h"
#include "image_equal.h"
#include "formats/images/png.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static char *page_text;
static size_t page_size;

static FILE *open_page(void) {
    FILE *to = open_memstream(&page_text, &page_size);
    assert_non_null(to);
    return to;
}

static size_t count(const char *text, const char *what) {
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what)) n++;
    return n;
}

static void test_text_is_escaped(void **state) {
    (void)state;
    const char hostile[] = "<script>\"a\" & b</script>\x01";
    FILE *to = open_page();
    cli_page_begin(to, hostile, hostile);
    cli_page_heading(to, hostile);
    cli_page_text(to, hostile);
    cli_page_note(to, hostile);
    cli_page_code(to, hostile);
    const char *cell[] = {hostile, NULL};
    const char *head[] = {"a", "b"};
    const double shade[] = {0.0, 0.5};
    const cli_page_table table = {2, 1, head, cell, 1, NULL, shade};
    cli_page_put_table(to, &table);
    cli_page_photo_begin(to, hostile, hostile, 3, 2);
    cli_page_pictures_begin(to, false);
    const cli_page_picture none = {
        .why = hostile, .by = hostile, .first = hostile, .second = hostile};
    assert_int_equal(cli_page_put_picture(to, &none, NULL), TAPER_OK);
    cli_page_pictures_end(to);
    cli_page_photo_end(to);
    cli_page_label(to, hostile);
    cli_page_subheading(to, hostile);
    cli_page_strip_begin(to);
    cli_page_strip_picture(to, NULL, hostile, hostile, hostile, true, NULL);
    cli_page_strip_end(to);
    cli_page_end(to, hostile);
    fclose(to);
    assert_int_equal(count(page_text, "<td style=\"background"), 1);
    assert_null(strstr(page_text, "<script"));
    assert_null(strchr(page_text, '\x01'));
    const size_t names = 7; /* which may be broken after the slash */
    assert_int_equal(count(page_text, "&lt;script&gt;&quot;a&quot; &amp; b&lt;/script&gt;"), 13);
    assert_int_equal(count(page_text, "&lt;script&gt;&quot;a&quot; &amp; b&lt;/<wbr>script&gt;"),
                     names);
    assert_int_equal(count(page_text, "<table"), count(page_text, "</table>"));
    free(page_text);
}

static int digit_of(char c) {
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = strchr(digit, c);
    return c && at ? (int)(at - digit) : -1;
}

/* The bytes of the first data: URI of the page; the caller's. */
static uint8_t *picture_bytes(size_t *n) {
    const char *at = strstr(page_text, "data:image/png;base64,");
    assert_non_null(at);
    at += strlen("data:image/png;base64,");
    uint8_t *bytes = malloc(strlen(at));
    assert_non_null(bytes);
    uint32_t bits = 0;
    int have = 0;
    for (*n = 0; digit_of(*at) >= 0; at++) {
        bits = bits << 6 | (uint32_t)digit_of(*at);
        have += 6;
        if (have >= 8) bytes[(*n)++] = (uint8_t)(bits >> (have -= 8));
    }
    while (*at == '=') at++;
    assert_int_equal(*at, '"');
    return bytes;
}

static void test_pictures_come_back(void **state) {
    (void)state;
    for (uint32_t width = 1; width < 40; width += 6) {
        taper_image image = {width, 5, 3, 8, malloc(width * 5 * 3)}, back;
        assert_non_null(image.pixels);
        for (uint32_t i = 0; i < width * 5 * 3; i++)
            ((uint8_t *)image.pixels)[i] = (uint8_t)(i * i * 37);
        FILE *to = open_page();
        const cli_page_picture picture = {
            .image = &image, .alt = "\"quoted\"", .first = "12 B", .second = "30 dB"};
        assert_int_equal(cli_page_put_picture(to, &picture, NULL), TAPER_OK);
        fclose(to);
        size_t n;
        uint8_t *bytes = picture_bytes(&n);
        assert_int_equal(formats_png_decode(bytes, n, NULL, &back, NULL, NULL), TAPER_OK);
        assert_true(image_equal(&image, &back));
        free(bytes);
        free(image.pixels);
        free(back.pixels);
        free(page_text);
    }
}

static void test_nothing_comes_from_elsewhere(void **state) {
    (void)state;
    FILE *to = open_page();
    const char svg[] =
        "<?xml version=\"1.0\"?>\n<!DOCTYPE svg PUBLIC \"x\" \"y\">\n<svg width=\"1\"><g/></svg>\n";
    cli_page_begin(to, "t", NULL);
    cli_page_svg(to, svg, sizeof svg - 1, "a plot");
    cli_page_svg(to, "no picture", 10, "unseen");
    cli_page_svg(to, "<sv", 3, "unseen");
    cli_page_end(to, NULL);
    fclose(to);
    assert_non_null(strstr(page_text, "<svg width=\"1\"><g/></svg>"));
    assert_null(strstr(page_text, "<?xml"));
    assert_null(strstr(page_text, "unseen"));
    assert_null(strstr(page_text, "http"));
    assert_null(strstr(page_text, "url("));
    assert_null(strstr(page_text, "<link"));
    free(page_text);
}

static void test_every_page_has_a_dark_one(void **state) {
    (void)state;
    FILE *to = open_page();
    cli_page_begin(to, "t", NULL);
    cli_page_end(to, NULL);
    fclose(to);
    assert_int_equal(count(page_text, "@media (prefers-color-scheme: dark)"), 1);
    assert_non_null(strstr(page_text, "color-scheme: light dark"));
    assert_null(strstr(page_text, "<script"));
    free(page_text);
    to = open_page();
    cli_page_style(to);
    cli_page_script(to);
    fclose(to);
    assert_int_equal(count(page_text, "<style>"), 1);
    assert_int_equal(count(page_text, "</style>"), 1);
    assert_int_equal(count(page_text, "<script>"), 1);
    assert_int_equal(count(page_text, "</script>"), 1);
    free(page_text);
}

static void test_names_are_broken_between_parts(void **state) {
    (void)state;
    FILE *to = open_page();
    cli_page_subheading(to, "a/b_c-d.jpg 31.5 -2 end.");
    cli_page_text(to, "a/b");
    fclose(to);
    assert_string_equal(page_text, "<h3>a/<wbr>b_<wbr>c-<wbr>d.jpg 31.5 -2 end.</h3>\n"
                                   "<p>a/b</p>\n");
    free(page_text);
}

/* A part of a file that browsers show: the window is filled by its share of the picture. */
static void test_a_view_of_a_file(void **state) {
    (void)state;
    FILE *to = open_page();
    const uint8_t file[] = "abc";
    const cli_page_picture p = {.file = file,
                                .file_size = 3,
                                .type = "image/webp",
                                .alt = "a",
                                .by = "WebP",
                                .cut = 2,
                                .view = {100, 50, 50, 25, 200, 100}};
    assert_int_equal(cli_page_put_picture(to, &p, NULL), TAPER_OK);
    fclose(to);
    assert_string_equal(page_text, "<figure data-by=\"WebP\" data-cut=\"2\"><div class=\"pic\" "
                                   "style=\"aspect-ratio:100/50\"><img loading=\"lazy\" alt=\"a\" "
                                   "style=\"width:200.0000%;left:-50.0000%;top:-50.0000%\" "
                                   "src=\"data:image/webp;base64,YWJj\"></div></figure>\n");
    free(page_text);
}

static void test_an_impossible_picture_leaves_the_page_whole(void **state) {
    (void)state;
    FILE *to = open_page();
    taper_image nothing = {0};
    taper_error error;
    const cli_page_picture picture = {.image = &nothing, .alt = "x"};
    assert_int_not_equal(cli_page_put_picture(to, &picture, &error), TAPER_OK);
    fclose(to);
    assert_string_equal(page_text, "<figure><img alt=\"x\"></figure>\n");
    free(page_text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_is_escaped),
        cmocka_unit_test(test_pictures_come_back),
        cmocka_unit_test(test_nothing_comes_from_elsewhere),
        cmocka_unit_test(test_every_page_has_a_dark_one),
        cmocka_unit_test(test_names_are_broken_between_parts),
        cmocka_unit_test(test_a_view_of_a_file),
        cmocka_unit_test(test_an_impossible_picture_leaves_the_page_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
