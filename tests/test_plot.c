/* test_plot.c -- plots: the files that appear, the script that draws them anew, hostile names, no
 * gnuplot. */
#include "cli/common/plot.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cmocka_all.h"
#include "scratch.h"

static char folder[SCRATCH_PATH]; /* of this run; removed at the end */

static int make_folder(void **state) {
    (void)state;
    scratch_make(folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder); /* fails when a test, or a plot, left something behind */
}

/* The file's text, terminated; the caller's. NULL when there is no such file. */
static char *slurp(const char *stem, const char *suffix, size_t *n) {
    char path[640];
    snprintf(path, sizeof path, "%s%s", stem, suffix);
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    *n = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    return text;
}

static void expect_in(const char *text, const char *wanted) {
    if (!strstr(text, wanted)) fail_msg("\"%s\" is not in:\n%.3000s", wanted, text);
}

static void remove_all(const char *stem) {
    static const char *const suffix[] = {".svg", ".png", ".gp", ".csv"};
    for (size_t i = 0; i < 4; i++) {
        char path[640];
        snprintf(path, sizeof path, "%s%s", stem, suffix[i]);
        remove(path);
    }
}

static const double k_x[] = {0.1, 0.2, 0.5, 1, 0, NAN, 2},
                    k_y[] = {20, 24.5, 28, 31, 33, 34, INFINITY};

static cli_plot two_curves(cli_series *series) {
    series[0] = (cli_series){
        .name = "it's_\"ours\"\n`date`", .x = k_x, .y = k_y, .n = 7, .bold = true, .markers = true};
    series[1] =
        (cli_series){.name = "a + b", .x = k_x, .y = k_x, .n = 4, .colour = 8, .dashed = true};
    return (cli_plot){.title = "100 % _plain_ 'text'",
                      .x_label = "bits per pixel",
                      .y_label = "PSNR, dB",
                      .log_x = true,
                      .series = series,
                      .n_series = 2};
}

static void test_all_files_appear(void **state) {
    (void)state;
    char stem[600];
    size_t n = 0;
    taper_error error;
    cli_series series[2];
    cli_plot plot = two_curves(series);
    snprintf(stem, sizeof stem, "%s/it's", folder);
    taper_status status = cli_plot_write(&plot, stem, true, NULL, &error);
    if (status == TAPER_ERR_UNSUPPORTED) {
        remove_all(stem);
        print_message("%s\n", error.text);
        skip();
    }
    assert_int_equal(status, TAPER_OK);

    char *svg = slurp(stem, ".svg", &n);
    assert_non_null(svg);
    expect_in(svg, "<svg");
    expect_in(svg, "bits per pixel");
    expect_in(svg, "_plain_");
    expect_in(svg, "a + b");
    expect_in(svg, "`date`"); /* a name is text, never a command */
    expect_in(svg, "@media(prefers-color-scheme:dark)");
    if (strstr(svg, "fill=\"#ffffff\"")) fail_msg("a white background");
    expect_in(svg, "viewBox=\"0 0 560 "); /* so narrow that a telephone need not shrink it much */
    expect_in(svg, "font-size=\"16.00\"");
    free(svg);
    char *png = slurp(stem, ".png", &n);
    assert_non_null(png);
    assert_true(n > 1000 && memcmp(png, "\x89PNG\r\n\x1a\n", 8) == 0);
    free(png);
    char *csv = slurp(stem, ".csv", &n);
    assert_non_null(csv);
    expect_in(csv, "series,x,y\n\"it's_\"\"ours\"\"\n`date`\",0.1,20\n");
    expect_in(csv, "\"a + b\",0.5,0.5\n");
    free(csv);
    remove_all(stem);
}

/* Take the style out that gnuplot does not write. */
static void cut_style(char *svg) {
    char *from = strstr(svg, "<style>"), *to = strstr(svg, "</style>\n");
    assert_true(from && to);
    to += strlen("</style>\n");
    memmove(from, to, strlen(to) + 1);
}

static void test_the_script_stands_alone(void **state) {
    (void)state;
    char stem[600], command[700];
    size_t n;
    taper_error error;
    cli_series series[2];
    cli_plot plot = two_curves(series);
    snprintf(stem, sizeof stem, "%s/again", folder);
    if (cli_plot_write(&plot, stem, false, NULL, &error) == TAPER_ERR_UNSUPPORTED) {
        remove_all(stem);
        skip();
    }
    assert_null(slurp(stem, ".csv", &n)); /* not asked for */
    char *first = slurp(stem, ".svg", &n);
    assert_non_null(first);
    snprintf(command, sizeof command, "cd '%s' && rm again.svg again.png && gnuplot again.gp",
             folder);
    assert_int_equal(system(command), 0);
    char *second = slurp(stem, ".svg", &n);
    assert_non_null(second);
    cut_style(first);
    assert_string_equal(second, first);
    free(first);
    free(second);
    remove_all(stem);
}

static void test_nothing_to_plot_is_said(void **state) {
    (void)state;
    taper_error error;
    static const double negative[] = {-1, -2};
    cli_series none = {.name = "none", .x = negative, .y = k_y, .n = 2};
    cli_plot plot = {.x_label = "x", .y_label = "y", .log_x = true, .series = &none, .n_series = 1};
    char stem[600];
    snprintf(stem, sizeof stem, "%s/none", folder);
    assert_int_equal(cli_plot_write(&plot, stem, true, NULL, &error), TAPER_ERR_ARG);
    expect_in(error.text, "nothing to plot");
    plot.n_series = 0;
    assert_int_equal(cli_plot_write(&plot, stem, true, NULL, &error), TAPER_ERR_ARG);
}

static void test_without_gnuplot_the_package_is_named(void **state) {
    (void)state;
    taper_error error;
    size_t n;
    cli_series series[2];
    cli_plot plot = two_curves(series);
    char stem[600], *path = getenv("PATH") ? strdup(getenv("PATH")) : NULL;
    snprintf(stem, sizeof stem, "%s/without", folder);
    setenv("PATH", folder, 1);
    taper_status status = cli_plot_write(&plot, stem, true, NULL, &error);
    if (path) setenv("PATH", path, 1);
    free(path);
    assert_int_equal(status, TAPER_ERR_UNSUPPORTED);
    expect_in(error.text, "gnuplot-nox");
    char *script = slurp(stem, ".gp", &n), *csv = slurp(stem, ".csv", &n);
    assert_true(script && csv);
    free(script);
    free(csv);
    remove_all(stem);
}

static void test_a_missing_folder_is_an_error(void **state) {
    (void)state;
    taper_error error;
    cli_series series[2];
    cli_plot plot = two_curves(series);
    char stem[600];
    snprintf(stem, sizeof stem, "%s/no/such", folder);
    assert_int_equal(cli_plot_write(&plot, stem, false, NULL, &error), TAPER_ERR_IO);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_files_appear),
        cmocka_unit_test(test_the_script_stands_alone),
        cmocka_unit_test(test_nothing_to_plot_is_said),
        cmocka_unit_test(test_without_gnuplot_the_package_is_named),
        cmocka_unit_test(test_a_missing_folder_is_an_error),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
