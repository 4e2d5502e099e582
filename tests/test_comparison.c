/* test_comparison.c -- deltas between curves and the three ways to tell a comparison. */
#include "cli/compare/comparison.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* A curve through 20, 22, ... 38 dB; rates double every 6 dB from `first` bytes on, of images of
 * 100 pixels. */
static cli_rd_curve made_curve(const char *codec, const char *accounting, double first) {
    static const char *const settings[] = {"only"};
    cli_rd_curve curve = {.codec = codec, .title = codec, .accounting = accounting, .n = 10};
    curve.settings = strcmp(codec, "taper") ? settings : NULL;
    double bytes = first;
    for (size_t i = 0; i < curve.n; i++, bytes *= 1.2599210498948732)
        curve.point[i] = (cli_rd_point){.bytes_per_image = bytes,
                                        .bpp = bytes * 8 / 100,
                                        .psnr_db = 20 + 2.0 * (double)i,
                                        .psnr_of_mean_mse_db = 19.5 + 2.0 * (double)i,
                                        .ssim = 0.5,
                                        .ms_ssim = 0.75};
    return curve;
}

static cli_comparison *made_comparison(void) {
    cli_comparison *c = calloc(1, sizeof *c);
    assert_non_null(c);
    c->images = 7;
    c->pixels = 700;
    c->curve[0] = made_curve("taper", "file", 50);
    c->curve[1] = made_curve("taper", "file+model", 100);
    c->curve[2] = made_curve("jpeg", "file", 400);
    c->curve[3] = made_curve("jpeg", "payload", 100);
    c->curve[4] = made_curve("webp", "file", 200);
    c->n_curves = 5;
    c->contender[0] = (cli_contender){.rival = &cli_rival_jpeg, .version = "libjpeg 1"};
    c->contender[1] = (cli_contender){.rival = &cli_rival_avif, .failure = "absent: no \"avif\""};
    c->n_contenders = 2;
    cli_comparison_find_deltas(c);
    return c;
}

static double percent(const cli_comparison *c, size_t test, size_t anchor) {
    const cli_delta *delta = cli_comparison_delta(c, &c->curve[test], &c->curve[anchor]);
    assert_non_null(delta);
    return delta->bd.percent;
}

static char *printed(const cli_comparison *c, void (*print)(const cli_comparison *, FILE *)) {
    char *text = NULL;
    size_t n;
    FILE *to = open_memstream(&text, &n);
    assert_non_null(to);
    print(c, to);
    fclose(to);
    return text;
}

static void expect_in(const char *text, const char *wanted) {
    if (!strstr(text, wanted)) fail_msg("\"%s\" is not in:\n%s", wanted, text);
}

static void test_deltas(void **state) {
    (void)state;
    cli_comparison *c = made_comparison();
    assert_int_equal(c->n_deltas,
                     7); /* 2 accountings against 3 curves, webp against jpeg in `file` */
    assert_float_equal(percent(c, 0, 2), -87.5, 1e-9);
    assert_float_equal(percent(c, 0, 3), -50, 1e-9);
    assert_float_equal(percent(c, 1, 3), 0, 1e-9);
    assert_float_equal(percent(c, 4, 2), -50, 1e-9);
    assert_null(cli_comparison_delta(c, &c->curve[4], &c->curve[3]));
    assert_null(cli_comparison_delta(c, &c->curve[2], &c->curve[0]));
    for (size_t i = 0; i < c->curve[4].n; i++) c->curve[4].point[i].psnr_db += 50;
    cli_comparison_find_deltas(c);
    assert_int_equal(c->n_deltas, 4); /* no common range: left out */
    free(c);
}

static void test_the_table(void **state) {
    (void)state;
    cli_comparison *c = made_comparison();
    char *text = printed(c, cli_comparison_print), to[16];
    expect_in(text, "  20 dB 22.5 dB   25 dB");
    expect_in(text, "-87.5 %");
    expect_in(text, "anchor");
    expect_in(text, "absent: no \"avif\"");
    assert_string_equal(cli_comparison_bytes_at(&c->curve[0], 26, to), "100");
    assert_string_equal(cli_comparison_bytes_at(&c->curve[0], 20, to), "50.0");
    assert_string_equal(cli_comparison_bytes_at(&c->curve[0], 39, to), "-");
    free(text);
    free(c);
}

/* People are not told what a model costs that they have; programs are. */
static void test_a_model_that_ships_is_not_counted(void **state) {
    (void)state;
    cli_comparison *c = made_comparison();
    char *with = printed(c, cli_comparison_print);
    expect_in(with, "taper      file+model ");
    c->is_builtin = true;
    char *without = printed(c, cli_comparison_print), *json = printed(c, cli_comparison_print_json);
    if (strstr(without, "file+model")) fail_msg("file+model is in:\n%s", without);
    expect_in(without, "the model is part of taper and not counted");
    expect_in(json, "\"file+model\"");
    free(with), free(without), free(json), free(c);
}

static void test_sizes(void **state) {
    (void)state;
    static const struct {
        double bytes;
        const char *text;
    } size[] = {{0, "0 B"},         {13.27, "13.3 B"}, {61, "61 B"},      {831.6, "832 B"},
                {999.4, "999 B"},   {999.6, "1.0 kB"}, {3449, "3.4 kB"},  {9960, "10 kB"},
                {206100, "206 kB"}, {3.1e6, "3.1 MB"}, {2.5e10, "25 GB"}, {4e15, "4000 TB"}};
    char to[16];
    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        assert_string_equal(cli_comparison_size(size[i].bytes, to), size[i].text);
}

static void test_json_is_one_object(void **state) {
    (void)state;
    cli_comparison *c = made_comparison();
    char *text = printed(c, cli_comparison_print_json);
    expect_in(text, "{\"schema\":1,\"images\":7,\"pixels\":700,\"curves\":[{\"codec\":\"taper\","
                    "\"accounting\":\"file\",\"points\":"
                    "[{\"bytes_per_image\":50,\"bpp\":4,\"psnr_db\":20,\"psnr_of_mean_mse_db\":19."
                    "5,\"ms_ssim\":0.75,");
    expect_in(text, "\"bd_rate\":[{\"codec\":\"taper\",\"accounting\":\"file\",\"anchor\":\"jpeg\","
                    "\"anchor_accounting\":\"file\","
                    "\"percent\":-87.");
    expect_in(text, "\"failure\":\"absent: no \\\"avif\\\"\"");
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    free(text);
    free(c);
}

static void test_csv_has_every_point(void **state) {
    (void)state;
    cli_comparison *c = made_comparison();
    char *text = printed(c, cli_comparison_print_csv);
    size_t lines = 0;
    for (const char *at = text; *at; at++) lines += *at == '\n';
    assert_int_equal(lines, 1 + 5 * 10);
    expect_in(text, "\ntaper,file+model,cut,0,100,8,20,19.5,0.5,0.75\n");
    expect_in(text, "\njpeg,payload,only,0,");
    free(text);
    free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deltas),
        cmocka_unit_test(test_the_table),
        cmocka_unit_test(test_a_model_that_ships_is_not_counted),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_json_is_one_object),
        cmocka_unit_test(test_csv_has_every_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
