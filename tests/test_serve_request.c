/* test_serve_request.c -- what requests ask for: paths, queries, ranges, conditions, IIIF. */
#include "cmocka_all.h"
#include "serve/request/conditions.h"
#include "serve/request/iiif.h"
#include "serve/request/media.h"
#include "serve/request/query.h"
#include "serve/request/range.h"
#include <stdio.h>
#include <string.h>

/* --- paths --- */

static void expect_path(const char *raw, serve_path_kind kind, const char *clean) {
    char to[SERVE_PATH_BYTES];
    const serve_path_kind got = serve_path_clean(raw, strlen(raw), to);
    if (got != kind) fail_msg("%s: kind %d instead of %d", raw, got, kind);
    if (clean) assert_string_equal(to, clean);
}

static void paths_are_names_joined_by_slashes(void **state) {
    (void)state;
    expect_path("/", SERVE_PATH_IS_FOLDER, "");
    expect_path("/a.taper", SERVE_PATH_IS_FILE, "a.taper");
    expect_path("/a/b/", SERVE_PATH_IS_FOLDER, "a/b");
    expect_path("/a%20b/%C3%A4.taper", SERVE_PATH_IS_FILE, "a b/\xC3\xA4.taper");
    expect_path("/%41", SERVE_PATH_IS_FILE, "A");
}

static void paths_that_lead_elsewhere_are_refused(void **state) {
    (void)state;
    static const char *const refused[] = {"/..",       "/../etc/passwd", "/%2e%2e/x", "/a/../b",
                                          "/.",        "/a/./b",         "//etc",     "/a//b",
                                          "/.ssh/key", "/a/%2Ehidden",   "/%2e%2E"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        expect_path(refused[i], SERVE_PATH_IS_REFUSED, NULL);
    static const char *const bad[] = {"",
                                      "a",
                                      "*",
                                      "/%",
                                      "/%4",
                                      "/%zz",
                                      "/%00",
                                      "/a%00b",
                                      "/..%2fetc",
                                      "/a%2Fb",
                                      "/%0d%0aX: y",
                                      "/\x7F",
                                      "/\xFF",
                                      "/%c0%ae%c0%ae",
                                      "/%ed%a0%80",
                                      "/%f5%80%80%80"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_path(bad[i], SERVE_PATH_IS_BAD, NULL);
}

static void long_paths_are_bad(void **state) {
    (void)state;
    char raw[2 * SERVE_PATH_BYTES], to[SERVE_PATH_BYTES];
    memset(raw, 'a', sizeof raw);
    raw[0] = '/';
    for (size_t n = SERVE_PATH_BYTES - 8; n < SERVE_PATH_BYTES + 8; n++) {
        const serve_path_kind kind = serve_path_clean(raw, n, to);
        if (kind == SERVE_PATH_IS_FILE)
            assert_int_equal(strlen(to), n - 1);
        else
            assert_int_equal(kind, SERVE_PATH_IS_BAD);
    }
    assert_int_equal(serve_path_clean(raw, sizeof raw, to), SERVE_PATH_IS_BAD);
    for (size_t i = 0; i < sizeof raw; i += 2) raw[i] = '/';
    assert_int_equal(serve_path_clean(raw, sizeof raw - 1, to), SERVE_PATH_IS_BAD);
}

static void a_container_is_the_first_name_with_its_ending(void **state) {
    (void)state;
    assert_int_equal(serve_path_container("a.taper"), 7);
    assert_int_equal(serve_path_container("x/a.taper/1.jpg"), 9);
    assert_int_equal(serve_path_container("a.taperx/b.taper/c.taper"), 16);
    assert_int_equal(serve_path_container("a.jpg"), 0);
    assert_int_equal(serve_path_container("x/.taper"), 0);
    assert_int_equal(serve_path_container(".taper"), 0);
}

/* --- queries --- */

static void queries_have_known_names_in_their_range(void **state) {
    (void)state;
    serve_query q;
    assert_null(serve_query_read(NULL, &q));
    assert_null(serve_query_read("", &q));
    assert_null(serve_query_read("width=640&bytes=16K&v=3&scale=1/4&&quality=80&width=320", &q));
    assert_int_equal(q.width, 320);
    assert_int_equal(q.bytes, 16384);
    assert_int_equal(q.scale, 4);
    assert_int_equal(q.quality, 80);
    assert_null(serve_query_read("from=201&count=10&height=5", &q));
    assert_true(q.from == 201 && q.count == 10 && q.height == 5);
    static const char *const wrong[] = {"width=0",
                                        "width=",
                                        "width",
                                        "width=65501",
                                        "width=-1",
                                        "width=1e3",
                                        "bytes=0",
                                        "bytes=x",
                                        "bytes=1KK",
                                        "scale=1/3",
                                        "scale=1/32",
                                        "scale=2",
                                        "scale=1/0",
                                        "quality=101",
                                        "quality=0",
                                        "from=0",
                                        "count=x",
                                        "height=0x10",
                                        "bytes=1000000000000000000G",
                                        "bytes=9999999999999999999",
                                        "bytes=900000000000G",
                                        "bytes=K"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (!serve_query_read(wrong[i], &q)) fail_msg("%s is accepted", wrong[i]);
}

/* --- ranges --- */

static void expect_ranges(const char *text, uint64_t size, serve_ranges kind, const char *list) {
    serve_range range[SERVE_MOST_RANGES];
    size_t n;
    char got[400] = "";
    const serve_ranges found = serve_ranges_read(text, size, SERVE_MOST_RANGES, range, &n);
    if (found != kind) fail_msg("%s of %d: kind %d instead of %d", text, (int)size, found, kind);
    for (size_t i = 0; kind == SERVE_RANGES_HERE && i < n; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%d-%d", i ? "," : "",
                 (int)range[i].first, (int)range[i].last);
    assert_string_equal(got, list);
}

static void ranges_follow_rfc_9110(void **state) {
    (void)state;
    expect_ranges("bytes=0-499", 10000, SERVE_RANGES_HERE, "0-499");
    expect_ranges("bytes=9500-", 10000, SERVE_RANGES_HERE, "9500-9999");
    expect_ranges("bytes=-500", 10000, SERVE_RANGES_HERE, "9500-9999");
    expect_ranges("bytes=-20000", 10000, SERVE_RANGES_HERE, "0-9999");
    expect_ranges("bytes=0-0,-1", 10000, SERVE_RANGES_HERE, "0-0,9999-9999");
    expect_ranges("BYTES = 0-1", 10, SERVE_RANGES_IGNORED, "");
    expect_ranges("Bytes=0-1 , , 4-5\t,", 10, SERVE_RANGES_HERE, "0-1,4-5");
    expect_ranges("bytes=5-99999999999999999999999", 10, SERVE_RANGES_HERE, "5-9");
    expect_ranges("bytes=10-", 10, SERVE_RANGES_OUTSIDE, "");
    expect_ranges("bytes=-0", 10, SERVE_RANGES_OUTSIDE, "");
    expect_ranges("bytes=0-", 0, SERVE_RANGES_OUTSIDE, "");
    expect_ranges("bytes=-5", 0, SERVE_RANGES_OUTSIDE, "");
    expect_ranges("bytes=50-60,2-3", 10, SERVE_RANGES_HERE, "2-3");
    static const char *const ignored[] = {"",
                                          "bytes",
                                          "bytes=",
                                          "bytes=,",
                                          "bytes=-",
                                          "bytes=5-3",
                                          "bytes=1",
                                          "items=0-1",
                                          "bytes=a-b",
                                          "bytes=0-1;",
                                          "bytes=0-1 2-3",
                                          "bytes=--1",
                                          "bytes=0-1,x",
                                          "bytes=1-2-3",
                                          "bytes=0x1-2"};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        expect_ranges(ignored[i], 10, SERVE_RANGES_IGNORED, "");
}

static void ranges_that_meet_are_joined(void **state) {
    (void)state;
    expect_ranges("bytes=0-4,5-9", 100, SERVE_RANGES_HERE, "0-9");
    expect_ranges("bytes=0-4,2-9,20-30", 100, SERVE_RANGES_HERE, "0-9,20-30");
    expect_ranges("bytes=20-30,0-4", 100, SERVE_RANGES_HERE, "20-30,0-4");
    expect_ranges("bytes=0-1,4-5,8-9,2-7", 100, SERVE_RANGES_HERE, "0-9");
    expect_ranges("bytes=0-99,5-6,7-8", 100, SERVE_RANGES_HERE, "0-99");
}

static void too_many_ranges_are_counted_before_they_are_joined(void **state) {
    (void)state;
    char text[400] = "bytes=";
    for (int i = 0; i < 16; i++) snprintf(text + strlen(text), 20, "%d-%d,", 10 * i, 10 * i);
    serve_range range[SERVE_MOST_RANGES];
    size_t n;
    assert_int_equal(serve_ranges_read(text, 1000, 16, range, &n), SERVE_RANGES_HERE);
    assert_int_equal(n, 16);
    snprintf(text + strlen(text), 20, "0-0");
    assert_int_equal(serve_ranges_read(text, 1000, 16, range, &n), SERVE_RANGES_TOO_MANY);
    assert_int_equal(serve_ranges_read("bytes=0-0,0-0", 10, 1, range, &n), SERVE_RANGES_TOO_MANY);
}

/* --- conditions --- */

static void dates_are_read_and_written(void **state) {
    (void)state;
    char text[SERVE_DATE_BYTES];
    int64_t seconds;
    serve_date_write(784111777, text);
    assert_string_equal(text, "Sun, 06 Nov 1994 08:49:37 GMT");
    for (int64_t when = 0; when < 4102444800; when += 40000007) {
        serve_date_write(when, text);
        assert_true(serve_date_read(text, &seconds));
        assert_true(seconds == when);
    }
    assert_false(serve_date_read("Sunday, 06-Nov-94 08:49:37 GMT", &seconds));
    assert_false(serve_date_read("Sun Nov  6 08:49:37 1994", &seconds));
    assert_false(serve_date_read("", &seconds));
    assert_false(serve_date_read("Sun, 06 Nov 1994 08:49:37 UTC", &seconds));
    assert_false(serve_date_read("Sun, 06 Foo 1994 08:49:37 GMT", &seconds));
    assert_false(serve_date_read("Sun, 06 Nov 1994 28:49:37 GMT", &seconds));
}

static void conditions_follow_rfc_9110(void **state) {
    (void)state;
    const serve_version v = {.tag = "\"a,b\"", .modified = 784111777};
    const char *same = "Sun, 06 Nov 1994 08:49:37 GMT", *before = "Sun, 06 Nov 1994 08:49:36 GMT";
    static const struct {
        serve_conditions c;
        int status;
    } cases[] = {{{0}, 0},
                 {{.if_none_match = "\"a,b\""}, 304},
                 {{.if_none_match = "\"x\", W/\"a,b\""}, 304},
                 {{.if_none_match = "*"}, 304},
                 {{.if_none_match = "\"a\""}, 0},
                 {{.if_none_match = "a,b"}, 0},
                 {{.if_none_match = "\"a,b"}, 0},
                 {{.if_match = "\"a,b\""}, 0},
                 {{.if_match = "W/\"a,b\""}, 412},
                 {{.if_match = "\"c\""}, 412},
                 {{.if_match = "*"}, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(serve_conditions_check(&cases[i].c, &v), cases[i].status);
    serve_conditions c = {.if_modified_since = same};
    assert_int_equal(serve_conditions_check(&c, &v), 304);
    c.if_modified_since = before;
    assert_int_equal(serve_conditions_check(&c, &v), 0);
    c = (serve_conditions){.if_unmodified_since = before};
    assert_int_equal(serve_conditions_check(&c, &v), 412);
    c = (serve_conditions){.if_none_match = "\"z\"", .if_modified_since = same};
    assert_int_equal(serve_conditions_check(&c, &v), 0);
    c = (serve_conditions){.if_range = "\"a,b\""};
    assert_true(serve_range_applies(&c, &v, 0));
    c.if_range = "W/\"a,b\"";
    assert_false(serve_range_applies(&c, &v, 0));
    c.if_range = same;
    assert_true(serve_range_applies(&c, &v, v.modified + 60));
    assert_false(serve_range_applies(&c, &v, v.modified + 1));
    c.if_range = before;
    assert_false(serve_range_applies(&c, &v, v.modified + 60));
}

/* --- IIIF --- */

static int iiif(const char *path, serve_iiif *out) {
    const char *why;
    return serve_iiif_read(path, strlen(path), out, &why);
}

static void iiif_paths_have_their_parts(void **state) {
    (void)state;
    serve_iiif r;
    assert_int_equal(iiif("set.taper%2Fcat%2F1.png", &r), 0);
    assert_int_equal(r.kind, SERVE_IIIF_BASE);
    assert_string_equal(r.identifier, "set.taper/cat/1.png");
    assert_int_equal(iiif("set.taper%2F1/info.json", &r), 0);
    assert_int_equal(r.kind, SERVE_IIIF_INFO);
    assert_int_equal(iiif("a%2F1/pct:10.5,0,50,100/!200,100/0/color.png", &r), 0);
    assert_int_equal(r.kind, SERVE_IIIF_PICTURE);
    assert_true(r.region == SERVE_REGION_PERCENT && r.x == 10500000 && r.height == 100000000);
    assert_true(r.size == SERVE_SIZE_WITHIN && r.to_width == 200 && r.to_height == 100 && r.is_png);
    static const struct {
        const char *path;
        int status;
    } wrong[] = {{"a%2F1/full/max/0/default", 400},
                 {"a%2F1/full/max/0", 400},
                 {"a%2F1/full/max/0/default.jpg/x", 400},
                 {"a%2F1/0,0,1/max/0/default.jpg", 400},
                 {"a%2F1/full/,/0/default.jpg", 400},
                 {"a%2F1/full/0,/0/default.jpg", 400},
                 {"a%2F1/full/!5,/0/default.jpg", 400},
                 {"a%2F1/full/max/x/default.jpg", 400},
                 {"a%2F1/full/max/361/default.jpg", 400},
                 {"a%2F1/full/max/90/default.jpg", 501},
                 {"a%2F1/full/max/!0/default.jpg", 501},
                 {"a%2F1/full/^max/0/default.jpg", 501},
                 {"a%2F1/full/max/0/gray.jpg", 501},
                 {"a%2F1/full/max/0/default.tif", 501},
                 {"a%2F1/full/max/0/default.xyz", 400},
                 {"a%2F1/full/max/0/nice.jpg", 400},
                 {"a%2F1/full/^x/0/default.jpg", 400},
                 {"..%2F1/info.json", 404},
                 {"a%2F%2E%2E%2Fb/info.json", 404},
                 {"%00/info.json", 400},
                 {"%2Fetc%2Fpasswd/info.json", 404},
                 {"a%2F/info.json", 404},
                 {"/info.json", 404}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (iiif(wrong[i].path, &r) != wrong[i].status)
            fail_msg("%s: %d instead of %d", wrong[i].path, iiif(wrong[i].path, &r),
                     wrong[i].status);
}

static void expect_fit(const char *region, const char *size, const char *canonical) {
    char path[200], text[SERVE_CANONICAL_BYTES];
    serve_iiif r;
    serve_iiif_picture p;
    const char *why = "";
    snprintf(path, sizeof path, "a%%2F1/%s/%s/0/default.jpg", region, size);
    assert_int_equal(iiif(path, &r), 0);
    const int status = serve_iiif_fit(&r, 600, 400, 200000, &p, &why);
    assert_int_equal(status, canonical ? 0 : 400);
    if (!canonical) return;
    serve_iiif_canonical(&p, 600, 400, 0, text);
    assert_string_equal(text, canonical);
}

static void iiif_pictures_fit_into_the_image(void **state) {
    (void)state;
    expect_fit("full", "300,", "full/300,200/0/default.jpg");
    expect_fit("full", ",100", "full/150,100/0/default.jpg");
    expect_fit("full", "10,90", "full/10,90/0/default.jpg");
    expect_fit("full", "!300,300", "full/300,200/0/default.jpg");
    expect_fit("full", "pct:50", "full/300,200/0/default.jpg");
    expect_fit("full", "max", "full/547,364/0/default.jpg"); /* maxArea */
    expect_fit("square", "max", "100,0,400,400/max/0/default.jpg");
    expect_fit("500,300,512,512", "max", "500,300,100,100/max/0/default.jpg");
    expect_fit("500,300,512,512", "!900,900", "500,300,100,100/max/0/default.jpg");
    expect_fit("pct:25,25,50,50", "max", "150,100,300,200/max/0/default.jpg");
    expect_fit("0,0,600,400", "300,", "full/300,200/0/default.jpg");
    expect_fit("600,0,10,10", "max", NULL);
    expect_fit("0,0,0,10", "max", NULL);
    expect_fit("full", "601,", NULL);
    expect_fit("full", "pct:101", NULL);
    expect_fit("full", "600,400", NULL); /* maxArea */
    expect_fit("0,0,99999999999999999999,1", "max", "0,0,600,1/max/0/default.jpg");
}

/* --- types --- */

static void unknown_files_have_no_type(void **state) {
    (void)state;
    assert_string_equal(serve_media_type("x/taper.wasm"), "application/wasm");
    assert_string_equal(serve_media_type("A.TAPER"), "application/x-taper");
    assert_null(serve_media_type("passwd"));
    assert_null(serve_media_type("id_rsa.key"));
    assert_null(serve_media_type(".html"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_names_joined_by_slashes),
        cmocka_unit_test(paths_that_lead_elsewhere_are_refused),
        cmocka_unit_test(long_paths_are_bad),
        cmocka_unit_test(a_container_is_the_first_name_with_its_ending),
        cmocka_unit_test(queries_have_known_names_in_their_range),
        cmocka_unit_test(ranges_follow_rfc_9110),
        cmocka_unit_test(ranges_that_meet_are_joined),
        cmocka_unit_test(too_many_ranges_are_counted_before_they_are_joined),
        cmocka_unit_test(dates_are_read_and_written),
        cmocka_unit_test(conditions_follow_rfc_9110),
        cmocka_unit_test(iiif_paths_have_their_parts),
        cmocka_unit_test(iiif_pictures_fit_into_the_image),
        cmocka_unit_test(unknown_files_have_no_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
