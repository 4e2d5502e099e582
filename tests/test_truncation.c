/* test_truncation.c -- distributions over code lengths: what specifications make, what is drawn,
 * expectations, and what is said about wrong ones. */
#include "cmocka_all.h"
#include "scratch.h"
#include "train/sampling/numbers.h"
#include "train/sampling/philox.h"
#include "train/sampling/truncation.h"
#include <math.h>

static train_truncation make(const char *spec, uint32_t units) {
    train_truncation t;
    taper_error error = {0};
    if (train_truncation_make(&t, spec, units, &error)) fail_msg("%s: %s", spec, error.text);
    units = t.units; /* 0 was given: its own */
    double sum = 0.0;
    for (uint32_t i = 0; i < units; i++) {
        assert_true(fabs(t.tail[i] - t.mass[i] - t.tail[i + 1]) < 1e-15);
        sum += t.mass[i];
    }
    assert_true(fabs(sum - 1.0) < 1e-12 && fabs(t.tail[0] - 1.0) < 1e-12 && t.tail[units] == 0.0);
    return t;
}

/* The specification is refused with a text that holds `words`. */
static void refused(const char *spec, uint32_t units, taper_status status, const char *words) {
    train_truncation t;
    taper_error error = {0};
    assert_int_equal(train_truncation_make(&t, spec, units, &error), status);
    if (!strstr(error.text, words)) fail_msg("%s: \"%s\" lacks \"%s\"", spec, error.text, words);
    assert_null(t.mass);
    assert_int_equal(train_truncation_make(&t, spec, units, NULL), status);
}

static void geometric_and_uniform(void **state) {
    (void)state;
    train_truncation t = make("geometric:0.9", 100);
    for (int b = 1; b < 100; b++)
        assert_true(fabs(t.mass[b - 1] / (pow(0.9, b - 1) * 0.1) - 1.0) < 1e-12);
    assert_true(fabs(t.mass[99] / pow(0.9, 99) - 1.0) < 1e-12); /* with all beyond */
    train_truncation_free(&t);
    t = make("geometric:0.5", 3000); /* the far end underflows */
    assert_int_equal(train_truncation_draw(&t, 2500, 0.3f), 3000);
    train_truncation_free(&t);
    t = make("geometric:0.97", 1);
    assert_int_equal(train_truncation_draw(&t, 0, 0.99f), 1);
    train_truncation_free(&t);
    t = make("uniform", 7);
    for (int b = 1; b <= 7; b++) {
        assert_true(fabs(t.mass[b - 1] - 1.0 / 7) < 1e-15);
        assert_int_equal(train_truncation_draw(&t, 0, ((float)b - 0.5f) / 7), b);
    }
    train_truncation_free(&t);
    assert_null(t.tail);
}

static void log_uniform(void **state) {
    (void)state;
    double harmonic = 0.0;
    for (int b = 1; b <= 64; b++) harmonic += 1.0 / b;
    train_truncation t = make("log-uniform:0", 64);
    for (int b = 1; b <= 64; b++) assert_true(fabs(t.mass[b - 1] * b * harmonic - 1.0) < 1e-12);
    train_truncation_free(&t);
    t = make("log-uniform:0.8", 64);
    for (int b = 1; b < 64; b++) assert_true(fabs(t.mass[b - 1] * b * harmonic - 0.2) < 1e-12);
    assert_true(fabs(t.mass[63] - 0.8 - 0.2 / (64 * harmonic)) < 1e-12);
    train_truncation_free(&t);
    t = make("log-uniform:0.3", 1);
    assert_true(fabs(t.mass[0] - 1.0) < 1e-15);
    train_truncation_free(&t);
}

static void powers(void **state) {
    (void)state;
    train_truncation t = make("power:0.5,0.25", 64), same, whole;
    for (int b = 2; b < 64; b++) assert_true(fabs(t.mass[b - 1] * sqrt(b) - t.mass[0]) < 1e-12);
    assert_true(fabs(t.mass[63] - 0.25 - t.mass[0] / 8) < 1e-12);
    train_truncation_free(&t);
    same = make("power:1,0.8", 64), t = make("log-uniform:0.8", 64);
    whole = make("power:0", 64);
    for (int b = 0; b < 64; b++) {
        assert_true(fabs(same.mass[b] - t.mass[b]) < 1e-15);
        assert_true(fabs(whole.mass[b] - 1.0 / 64) < 1e-15);
    }
    train_truncation_free(&t), train_truncation_free(&same), train_truncation_free(&whole);
}

static void ladders(void **state) {
    (void)state;
    train_truncation t = make("ladder:2,3,8", 10);
    for (int b = 1; b <= 10; b++)
        assert_true(fabs(t.mass[b - 1] - (b == 2 || b == 3 || b == 8 ? 1.0 / 3 : 0.0)) < 1e-15);
    for (int i = 0; i < 100; i++) {
        uint32_t b = train_truncation_draw(&t, 3, (float)i / 100);
        assert_int_equal(b, 8);
        b = train_truncation_draw(&t, 0, (float)i / 100);
        assert_int_equal(b, i < 34 ? 2 : i < 67 ? 3 : 8);
        assert_int_equal(train_truncation_draw(&t, 8, (float)i / 100), 10); /* no mass there */
        assert_int_equal(train_truncation_draw(&t, 10, (float)i / 100), 10);
    }
    train_truncation_free(&t);
    t = make("ladder:16=3e0,32=1", 32);
    assert_true(fabs(t.mass[15] - 0.75) < 1e-15 && fabs(t.mass[31] - 0.25) < 1e-15);
    train_truncation_free(&t);
}

/* Draws given b > first against the conditional distribution. */
static void draws_follow_the_distribution(void **state) {
    (void)state;
    enum { N = 60000, UNITS = 24 };
    double count[UNITS + 1];
    train_truncation t = make("ladder:1=1,2=4,3=7,5=1,6=4,7=7,8=10,10=4,11=7,12=10,13=1,15=7,16=10,"
                              "17=1,18=4,20=10,21=1,22=4,23=7",
                              UNITS);
    for (uint32_t first = 0; first < UNITS; first += 7) {
        memset(count, 0, sizeof count);
        uint32_t before = 0;
        for (uint64_t i = 0; i < N; i++) {
            uint32_t word[4];
            train_philox(9, i, 600 + first, word);
            count[train_truncation_draw(&t, first, train_philox_uniform(word[0]))] += 1.0;
            uint32_t b = train_truncation_draw(&t, first, (float)i / N);
            assert_true(b >= before && b > first && b <= UNITS); /* larger u, larger b */
            before = b;
        }
        for (uint32_t b = 1; b <= UNITS; b++) {
            double p = b > first ? t.mass[b - 1] / t.tail[first] : 0.0;
            assert_true(fabs(count[b] - N * p) <= 4.0 * sqrt(N * p * (1.0 - p)));
        }
    }
    train_truncation_free(&t);
}

/* Of a value for each length; where there is no mass it is not looked at. */
static double expected(const train_truncation *t, const double *value) {
    double sum = 0.0;
    for (uint32_t i = 0; i < t->units; i++)
        if (t->mass[i] > 0.0) sum += t->mass[i] * value[i];
    return sum;
}

static void masses_are_those_asked_for(void **state) {
    (void)state;
    double value[40];
    train_truncation t = make("geometric:0.8", 40);
    double wanted = 0.0;
    for (int i = 0; i < 40; i++) {
        value[i] = 100.0 / (1 + i);
        wanted += (i < 39 ? pow(0.8, i) * 0.2 : pow(0.8, 39)) * value[i];
    }
    assert_true(fabs(expected(&t, value) - wanted) < 1e-11);
    train_truncation_free(&t);
    t = make("ladder:2,4", 40);
    for (int i = 0; i < 40; i++) value[i] = i == 1 ? 3.0 : i == 3 ? 5.0 : NAN;
    assert_true(expected(&t, value) == 4.0);
    train_truncation_free(&t);
}

static void huge_masses_are_taken(void **state) {
    (void)state;
    train_truncation t = make("ladder:1=1e308,2=1e308,3=1e308", 3);
    assert_true(fabs(t.mass[1] - 1.0 / 3) < 1e-15);
    train_truncation_free(&t);
}

static void wrong_specifications_are_refused(void **state) {
    (void)state;
    static const char *const rates[] = {"0",    "1",     "-0.5", "1.2",  "nan",   "",
                                        "0.5 ", "0x0.8", "inf",  "half", "1e-400"};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        char spec[64];
        snprintf(spec, sizeof spec, "geometric:%s", rates[i]);
        refused(spec, 10, TAPER_ERR_ARG, "between 0 and 1");
    }
    static const char *const ends[] = {"1", "-0.1", "1.5", "nan", "", "0.8x", "most"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char spec[64];
        snprintf(spec, sizeof spec, "log-uniform:%s", ends[i]);
        refused(spec, 10, TAPER_ERR_ARG, "from 0 to below 1, as in log-uniform:0.8");
    }
    static const char *const powers_of[] = {"",     "-1",     "4.5", "0.5,1",
                                            "0.5,", "0.5,-1", "1;0", "nan"};
    for (size_t i = 0; i < sizeof powers_of / sizeof *powers_of; i++) {
        char spec[64];
        snprintf(spec, sizeof spec, "power:%s", powers_of[i]);
        refused(spec, 10, TAPER_ERR_ARG, "as in power:0.5,0.3");
    }
    refused("log-uniform", 10, TAPER_ERR_ARG, "log-uniform:E");
    refused("log-uniform:0.5", 0, TAPER_ERR_ARG, "does not say how many lengths");
    refused("normal:3", 10, TAPER_ERR_ARG, "there are geometric:RHO");
    refused("uniform:2", 10, TAPER_ERR_ARG, "uniform:2");
    refused("", 10, TAPER_ERR_ARG, "uniform");
    refused("uniform", 0, TAPER_ERR_ARG, "does not say how many lengths");
    refused("ladder:x", 0, TAPER_ERR_ARG, "at least one unit");
    refused("ladder:", 10, TAPER_ERR_ARG, "from 1 to 10");
    refused("ladder:0,3", 10, TAPER_ERR_ARG, "from 1 to 10");
    refused("ladder:3,11", 10, TAPER_ERR_ARG, "\"11\"");
    refused("ladder:3,4294967299", 10, TAPER_ERR_ARG, "from 1 to 10");
    refused("ladder:3,", 10, TAPER_ERR_ARG, "\"\"");
    refused("ladder:3,3", 10, TAPER_ERR_ARG, "rising order");
    refused("ladder:5,3", 10, TAPER_ERR_ARG, "3 stands behind 5");
    refused("ladder:3;5", 10, TAPER_ERR_ARG, "commas");
    refused("ladder:3=0,5=1", 10, TAPER_ERR_ARG, "weight of code length 3");
    refused("ladder:3=,5=1", 10, TAPER_ERR_ARG, "weight of code length 3");
    refused("ladder:3=1,5", 10, TAPER_ERR_ARG, "1 of 2");
}

/* --- files ---------------------------------------------------------------------------- */

static char folder[SCRATCH_PATH];

static void file_refused(const char *text, taper_status status, const char *words) {
    char path[SCRATCH_PATH], spec[SCRATCH_PATH + 8];
    scratch_write(folder, "masses.txt", text, strlen(text));
    snprintf(spec, sizeof spec, "file:%s", scratch_join(path, folder, "masses.txt"));
    refused(spec, 4, status, words);
}

/* Lengths of a population and the thresholds that belong to them. */
static void thresholds_follow_lengths(void **state) {
    (void)state;
    static const float threshold_at[] = {40, 20, 10, 5};
    train_truncation t = make("ladder:1=1,4=3", 0);
    train_cut_range range = {1, 100, 0.9f, 0, &t, threshold_at};
    int coarse = 0;
    for (uint64_t i = 0; i < 4000; i++) {
        train_cut cut = train_cut_draw(&range, 7, 5, 2, i);
        assert_true(cut.threshold == 40.0f || cut.threshold == 5.0f);
        assert_int_equal(cut.kept, 7);
        coarse += cut.threshold == 40.0f;
    }
    assert_in_range(coarse, 1000 - 82, 1000 + 82); /* 3 sigma */
    train_truncation_free(&t);
}

static void masses_from_files(void **state) {
    (void)state;
    char path[SCRATCH_PATH], spec[SCRATCH_PATH + 8];
    scratch_make(folder);
    snprintf(spec, sizeof spec, "file:%s", scratch_join(path, folder, "masses.txt"));
    static const char good[] = "# who has which bandwidth\r\n.1 2e-1\t0.3# third\n\n  0.4004";
    scratch_write(folder, "masses.txt", good, strlen(good));
    train_truncation t = make(spec, 4);
    for (int i = 0; i < 4; i++)
        assert_true(fabs(t.mass[i] - (i < 3 ? 0.1 * (i + 1) : 0.4004) / 1.0004) < 1e-12);
    train_truncation_free(&t);
    t = make(spec, 0); /* as many as the file has */
    assert_int_equal(t.units, 4);
    train_truncation_free(&t);
    t = make("ladder:2,30", 0);
    assert_int_equal(t.units, 30);
    train_truncation_free(&t);

    file_refused("0.1 0.2\n0.3 o.4\n", TAPER_ERR_ARG, "line 2: \"o.4\" is not a number");
    file_refused("0.1 0.2\n0.3,0.4\n", TAPER_ERR_ARG, "line 2: \"0.3,0.4\"");
    file_refused("0.1\n\n# zero\n0 0.2 0.7", TAPER_ERR_ARG, "line 4: 0 is not above 0");
    file_refused("0.1 -0.2 0.4 0.7", TAPER_ERR_ARG, "ladder:");
    file_refused("0.1 nan 0.4 0.7", TAPER_ERR_ARG, "\"nan\"");
    file_refused("0.2 0.2 0.6", TAPER_ERR_ARG, "3 numbers where 4 are wanted");
    file_refused("0.2 0.2 0.2 0.2 0.2", TAPER_ERR_ARG, "5 numbers where 4 are wanted");
    file_refused("", TAPER_ERR_ARG, "0 numbers where 4 are wanted");
    file_refused("0.2 0.2 0.2 0.2", TAPER_ERR_ARG, "sum to 0.8");
    file_refused("0.25 0.25 0.25 0.2511", TAPER_ERR_ARG, "sum to 1.0011");
    scratch_write(folder, "masses.txt", "0.5 0.5\0 0.1", 12);
    refused(spec, 2, TAPER_ERR_ARG, "byte 8 is 0");
    snprintf(spec, sizeof spec, "file:%s", scratch_join(path, folder, "absent.txt"));
    refused(spec, 2, TAPER_ERR_IO, "cannot");
    refused("file:", 2, TAPER_ERR_IO, "cannot");
    scratch_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(geometric_and_uniform),
        cmocka_unit_test(log_uniform),
        cmocka_unit_test(powers),
        cmocka_unit_test(ladders),
        cmocka_unit_test(draws_follow_the_distribution),
        cmocka_unit_test(masses_are_those_asked_for),
        cmocka_unit_test(huge_masses_are_taken),
        cmocka_unit_test(wrong_specifications_are_refused),
        cmocka_unit_test(thresholds_follow_lengths),
        cmocka_unit_test(masses_from_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
