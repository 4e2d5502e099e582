/* test_copies.c -- search --duplicates: grey versions, descriptors in all turns, alignment, the
 * check of two versions, and groups. */
#include "cli/copies/check.h"
#include "cli/copies/groups.h"
#include "cmocka_all.h"
#include "pictures.h"
#include <math.h>
#include <string.h>

enum { SIDE = CLI_GREY_SIDE, WAVES = 24 };

/* A picture of many waves, at any point of the plane; of each seed another one. */
static double look_at(double x, double y, uint64_t seed) {
    double value = 128;
    for (int k = 0; k < WAVES; k++) {
        double part[4];
        for (int i = 0; i < 4; i++) part[i] = (double)(picture_random(&seed) >> 40) / (1 << 24);
        const double across = 14 * part[0] - 7, down = 14 * part[1] - 7;
        const double size = 40 / (1 + hypot(across, down));
        value += size * cos(3.14159265 * (across * x + down * y) + 6.28 * part[2]);
    }
    return value < 0 ? 0 : value > 255 ? 255 : value;
}

/* How a copy is made: where its points lie in the original, brightness, noise. */
typedef struct copy {
    double scale, turn, shift, gain, offset;
    unsigned noise;
} copy;
static const copy as_it_is = {.scale = 1, .gain = 1};

static void draw(uint8_t grey[CLI_GREY_PIXELS], uint64_t seed, copy how) {
    uint64_t random = seed + 77;
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++) {
            const double x = (column + 0.5) * 2 / SIDE - 1, y = (row + 0.5) * 2 / SIDE - 1;
            const double u = how.scale * (x * cos(how.turn) - y * sin(how.turn)) + how.shift;
            const double v = how.scale * (x * sin(how.turn) + y * cos(how.turn));
            double value = look_at(u, v, seed) * how.gain + how.offset;
            if (how.noise) value += (double)((picture_random(&random) >> 40) % how.noise);
            grey[row * SIDE + column] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
        }
}

static float check(const uint8_t *a, const uint8_t *b) {
    static const cli_map same = {{1, 0, 0, 0, 1, 0}};
    cli_template of_a, of_b;
    cli_template_make(&of_a, a), cli_template_make(&of_b, b);
    cli_template_take_slopes(&of_a);
    return cli_check(&of_a, &of_b, &same);
}

/* --- the check --- */

static void copies_agree(void **state) {
    static const copy copies[] = {
        {.scale = 1, .gain = 1},
        {.scale = 0.9, .gain = 1}, /* a crop */
        {.scale = 1.1, .gain = 1}, /* a frame's inside */
        {.scale = 0.95, .turn = 0.035, .gain = 1},
        {.scale = 1, .shift = 0.05, .gain = 1},
        {.scale = 1, .gain = 0.6, .offset = 60}, /* lighter, less contrast */
        {.scale = 1, .gain = 1, .noise = 12}};
    (void)state;
    for (size_t k = 0; k < sizeof copies / sizeof *copies; k++) {
        uint8_t a[CLI_GREY_PIXELS], b[CLI_GREY_PIXELS];
        draw(a, 5, as_it_is), draw(b, 5, copies[k]);
        if (!(check(a, b) >= CLI_COPY_SCORE)) fail_msg("copy %zu: %g", k, (double)check(a, b));
        if (!(check(b, a) >= CLI_COPY_SCORE)) fail_msg("back %zu: %g", k, (double)check(b, a));
    }
}

static void a_caption_agrees(void **state) {
    uint8_t a[CLI_GREY_PIXELS], b[CLI_GREY_PIXELS];
    (void)state;
    draw(a, 3, as_it_is);
    memcpy(b, a, sizeof b);
    for (int i = SIDE * (SIDE - 6); i < SIDE * SIDE; i++) b[i] = 0;
    assert_true(check(a, b) >= CLI_COPY_SCORE && check(a, b) < 1);
}

static void others_do_not(void **state) {
    uint8_t a[CLI_GREY_PIXELS], b[CLI_GREY_PIXELS];
    (void)state;
    for (uint64_t seed = 1; seed < 40; seed++) {
        draw(a, seed, as_it_is), draw(b, seed + 100, as_it_is);
        if (!(check(a, b) < 0.8F)) fail_msg("seed %d: %g", (int)seed, (double)check(a, b));
    }
}

/* The same lines with other words on them, as in pages of text, correlate in every block. */
static void lines_do_not_count(void **state) {
    uint8_t page[2][CLI_GREY_PIXELS];
    uint64_t random = 9;
    (void)state;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < SIDE * SIDE; i++)
            page[k][i] = (uint8_t)(i / SIDE % 4 < 2 ? 250 : 90 + picture_random(&random) % 70);
    assert_true(check(page[0], page[0]) >= 1);
    assert_true(check(page[0], page[1]) < 0.6F);
}

static void flat_images_are_not_checked(void **state) {
    uint8_t grey[CLI_GREY_PIXELS];
    cli_template template;
    (void)state;
    for (int i = 0; i < SIDE * SIDE; i++)
        grey[i] = (uint8_t)(2 * (i % SIDE) + i / SIDE); /* a ramp */
    cli_template_make(&template, grey);
    assert_false(cli_check_is_possible(&template));
    assert_true(check(grey, grey) < CLI_COPY_SCORE);
    draw(grey, 4, as_it_is);
    cli_template_make(&template, grey);
    assert_true(cli_check_is_possible(&template));
}

static void a_map_is_found(void **state) {
    static const copy how = {.scale = 0.93, .turn = 0.03, .shift = -0.04, .gain = 0.8};
    const float wanted[6] = {(float)(0.93 * cos(0.03)), (float)(-0.93 * sin(0.03)), -0.04F,
                             (float)(0.93 * sin(0.03)), (float)(0.93 * cos(0.03)),  0};
    uint8_t a[CLI_GREY_PIXELS], b[CLI_GREY_PIXELS];
    cli_template of_a, of_b;
    cli_map map = {{1, 0, 0, 0, 1, 0}}, back;
    (void)state;
    draw(a, 8, how), draw(b, 8, as_it_is);
    cli_template_make(&of_a, a), cli_template_make(&of_b, b);
    cli_template_take_slopes(&of_a);
    assert_true(cli_align(&of_a, &of_b, 0, &map) && cli_align_whole(&of_a, &of_b, &map));
    for (int i = 0; i < 6; i++)
        if (!(fabsf(map.m[i] - wanted[i]) < 0.005F)) fail_msg("%d: %g", i, (double)map.m[i]);
    back = map;
    assert_true(cli_map_invert(&back));
    back = cli_map_after(&back, &map);
    for (int i = 0; i < 6; i++) assert_true(fabsf(back.m[i] - (i == 0 || i == 4)) < 1e-5F);
}

/* --- grey versions --- */

static void sizes_and_kinds_give_one_version(void **state) {
    static const uint32_t sides[][2] = {{512, 512}, {640, 333}, {100, 1000}, {64, 64}, {300, 2}};
    (void)state;
    for (size_t k = 0; k < sizeof sides / sizeof *sides; k++)
        for (unsigned channels = 1; channels <= 4; channels++) {
            const unsigned depth = channels % 2 ? 8 : 16;
            uint8_t grey[CLI_GREY_PIXELS];
            taper_image image = picture_noise(sides[k][0], sides[k][1], channels, depth, 1);
            const size_t n = formats_image_samples(&image);
            for (size_t i = 0; i < n; i++) { /* a step from 40 to 200, opaque */
                const size_t x = i / channels % image.width;
                const bool is_alpha = channels % 2 == 0 && i % channels == channels - 1;
                const unsigned value = is_alpha ? 255 : x < image.width / 2 ? 40 : 200;
                if (depth == 8)
                    ((uint8_t *)image.pixels)[i] = (uint8_t)value;
                else
                    ((uint16_t *)image.pixels)[i] = (uint16_t)(257 * value);
            }
            assert_int_equal(cli_grey_make(&image, grey), TAPER_OK);
            for (int i = 0; i < SIDE * SIDE; i++) {
                if (i % SIDE < 31) assert_int_equal(grey[i], 40);
                if (i % SIDE > 32) assert_int_equal(grey[i], 200);
            }
            formats_image_free(&image);
        }
}

/* The mean luma of the pixels of 8 bits that pixel (x, y) of the grey version covers, plainly. */
static unsigned mean_luma(const taper_image *image, uint32_t x, uint32_t y) {
    const uint32_t across = image->width / SIDE, down = image->height / SIDE;
    const uint8_t *pixels = image->pixels;
    double sum = 0;
    for (uint32_t row = y * down; row < (y + 1) * down; row++)
        for (uint32_t column = x * across; column < (x + 1) * across; column++) {
            const uint8_t *p = pixels + ((size_t)row * image->width + column) * image->channels;
            sum += image->channels == 1 ? 256 * p[0] : 77 * p[0] + 150 * p[1] + 29 * p[2];
        }
    return (unsigned)(sum / (256.0 * across * down) + 0.5);
}

static void noise_gives_its_means(void **state) {
    static const uint32_t sides[][2] = {{512, 512}, {1024, 1024}, {128, 256}, {2048, 64}, {64, 64}};
    (void)state;
    for (size_t k = 0; k < sizeof sides / sizeof *sides; k++)
        for (unsigned channels = 1; channels <= 3; channels += 2) {
            uint8_t grey[CLI_GREY_PIXELS];
            taper_image image = picture_noise(sides[k][0], sides[k][1], channels, 8, k + 1);
            if (k == 1) memset(image.pixels, 255, formats_image_bytes(&image)); /* largest sums */
            assert_int_equal(cli_grey_make(&image, grey), TAPER_OK);
            for (uint32_t i = 0; i < CLI_GREY_PIXELS; i++)
                assert_int_equal(grey[i], mean_luma(&image, i % SIDE, i / SIDE));
            formats_image_free(&image);
        }
}

static void white_on_nothing_shows(void **state) {
    uint8_t grey[CLI_GREY_PIXELS];
    taper_image image = picture_noise(64, 64, 4, 8, 1);
    (void)state;
    memset(image.pixels, 255, formats_image_bytes(&image));
    for (size_t i = 0; i < 64 * 32; i++) ((uint8_t *)image.pixels)[4 * i + 3] = 0;
    assert_int_equal(cli_grey_make(&image, grey), TAPER_OK);
    assert_int_equal(grey[0], 0);
    assert_int_equal(grey[SIDE * SIDE - 1], 255);
    formats_image_free(&image);
}

/* --- descriptors --- */

static void descriptors_turn(void **state) {
    uint8_t grey[CLI_GREY_PIXELS], turned[CLI_GREY_PIXELS];
    static cli_cosines cosines;
    cli_descriptor of, direct, made;
    (void)state;
    cli_cosines_make(&cosines);
    draw(grey, 6, as_it_is);
    cli_descriptor_make(&of, &cosines, grey);
    for (unsigned turn = 0; turn < CLI_TURNS; turn++) {
        cli_grey_turn(grey, turn, turned);
        cli_descriptor_make(&direct, &cosines, turned);
        cli_descriptor_turn(&of, turn, &made);
        for (int p = 0; p < CLI_PARTS; p++)
            for (int i = 0; i < CLI_COEFFICIENTS; i++) /* but for the order of sums */
                if (abs(direct.part[p][i] - made.part[p][i]) > 2) fail_msg("%u, %d", turn, p);
    }
    assert_int_equal(turned[0],
                     grey[SIDE * SIDE - SIDE + SIDE - 1]); /* 7: along the other diagonal */
    cli_grey_turn(grey, 1, turned); /* clockwise: the top left corner comes from the lower left */
    assert_int_equal(turned[0], grey[SIDE * (SIDE - 1)]);
}

/* --- groups --- */

enum { ORIGINALS = 30, IMAGES = 3 * ORIGINALS + 4 };

static cli_small_set make_set(void) {
    static uint8_t grey[IMAGES][CLI_GREY_PIXELS];
    static uint32_t width[IMAGES], height[IMAGES];
    static uint64_t digest[IMAGES];
    for (uint32_t i = 0; i < IMAGES; i++) {
        static const copy hows[] = {{.scale = 1, .gain = 1},
                                    {.scale = 0.92, .gain = 0.9},
                                    {.scale = 1, .gain = 1, .noise = 9}};
        draw(grey[i], i / 3 + 1, hows[i % 3]);
        digest[i] = i, width[i] = 100 + i % 3, height[i] = 100;
    }
    uint8_t turned[CLI_GREY_PIXELS];
    cli_grey_turn(grey[0], 6, turned);
    memcpy(grey[IMAGES - 1], turned, sizeof turned);                                /* turned */
    for (int i = IMAGES - 4; i < IMAGES - 1; i++) memset(grey[i], 9, sizeof *grey); /* flat */
    digest[IMAGES - 3] = digest[IMAGES - 2]; /* and two of these equal */
    return (cli_small_set){IMAGES, IMAGES, grey, width, height, digest, 0};
}

static double share(const cli_descriptor *a, unsigned p, const cli_descriptor *b, unsigned q) {
    double sum = 0;
    for (int i = 0; i < CLI_COEFFICIENTS; i++) sum += (double)a->part[p][i] * b->part[q][i];
    return sum / CLI_DESCRIPTOR_UNIT / CLI_DESCRIPTOR_UNIT;
}

/* What agrees best of central parts. */
static double central_share(const cli_descriptor *a, const cli_descriptor *b) {
    return fmax(share(a, CLI_CENTRE, b, CLI_CENTRE),
                fmax(share(a, CLI_WHOLE, b, CLI_INNER), share(a, CLI_INNER, b, CLI_WHOLE)));
}

/* Whether a pair is a candidate, plainly. */
static bool may_be_copies(const cli_descriptor *a, const cli_descriptor *b) {
    double best = central_share(a, b);
    if (best < 0.40) return false;
    for (unsigned p = CLI_CENTRAL; p < CLI_PARTS; p++)
        best = fmax(best, fmax(share(a, CLI_WHOLE, b, p), share(a, p, b, CLI_WHOLE)));
    return best >= 0.85;
}

static void candidates_are_those_of_plain_sums(void **state) {
    const cli_common common = {.threads = 2, .quiet = 1};
    static cli_cosines cosines;
    static cli_descriptor of[IMAGES];
    static uint8_t turns[IMAGES][IMAGES]; /* a bit for each turn */
    cli_candidates found;
    size_t wanted = 0, only_by_strips = 0;
    (void)state;
    cli_cosines_make(&cosines);
    for (int i = 0; i < IMAGES; i++) { /* a strip at the left is missing in two of three */
        const double cut = 0.094 * (i % 3);
        uint8_t grey[CLI_GREY_PIXELS];
        draw(grey, (uint64_t)i / 3 + 1, (copy){.scale = 1, .shift = cut, .gain = 1});
        cli_descriptor_make(&of[i], &cosines, grey);
    }
    assert_int_equal(cli_candidates_find(&found, of, IMAGES, true, &common, NULL), TAPER_OK);
    for (size_t i = 0; i < found.n; i++)
        turns[found.pair[i].a][found.pair[i].b] |= (uint8_t)(1U << found.pair[i].turn);
    for (int a = 0; a < IMAGES; a++)
        for (unsigned turn = 0; turn < CLI_TURNS; turn++) {
            cli_descriptor turned;
            cli_descriptor_turn(&of[a], turn, &turned);
            for (int b = 0; b < IMAGES; b++) {
                const bool is_one = b > a && may_be_copies(&turned, &of[b]);
                wanted += is_one;
                only_by_strips += is_one && central_share(&turned, &of[b]) < 0.85;
                assert_int_equal(turns[a][b] >> turn & 1, is_one);
            }
        }
    assert_true(only_by_strips > 0 && wanted > only_by_strips);
    assert_int_equal(found.n, wanted); /* each once */
    cli_candidates_free(&found);
}

static void groups_are_those_of_the_originals(void **state) {
    const cli_small_set set = make_set();
    (void)state;
    for (int threads = 1; threads <= 5; threads += 2) {
        const cli_common common = {.threads = threads, .quiet = 1};
        for (int turned = 0; turned < 2; turned++) {
            cli_groups groups;
            assert_int_equal(cli_groups_find(&groups, &set, turned, &common, NULL), TAPER_OK);
            assert_int_equal(groups.count, ORIGINALS + 1);
            for (uint32_t i = 0; i < 3 * ORIGINALS; i++) {
                assert_int_equal(groups.group[i], i / 3);
                assert_int_equal(groups.keep[i / 3], i / 3 * 3 + 2); /* the widest */
            }
            assert_int_equal(groups.group[IMAGES - 4], CLI_NO_GROUP);
            assert_int_equal(groups.group[IMAGES - 3], ORIGINALS);
            assert_int_equal(groups.group[IMAGES - 2], ORIGINALS);
            assert_int_equal(groups.keep[ORIGINALS],
                             IMAGES - 2 - (IMAGES - 3) % 3 / 2); /* the wider */
            assert_int_equal(groups.group[IMAGES - 1], turned ? 0 : CLI_NO_GROUP);
            cli_groups_free(&groups);
        }
    }
}

static void agreement_tells_the_turn(void **state) {
    const cli_small_set set = make_set();
    static cli_cosines cosines;
    (void)state;
    cli_cosines_make(&cosines);
    const cli_agreement turned = cli_agreement_of(&set, &cosines, 0, IMAGES - 1, true);
    assert_true(turned.score >= CLI_COPY_SCORE);
    assert_int_equal(turned.turn, 6);
    assert_true(cli_agreement_of(&set, &cosines, 0, IMAGES - 1, false).score < CLI_COPY_SCORE);
    assert_true(cli_agreement_of(&set, &cosines, IMAGES - 3, IMAGES - 2, false).score >= 1);
}

static void short_memory_is_told(void **state) {
    const cli_small_set set = make_set();
    const cli_common common = {.threads = 1, .quiet = 1, .max_memory = 500};
    taper_error error = {0};
    cli_groups groups;
    (void)state;
    assert_int_equal(cli_groups_find(&groups, &set, true, &common, &error), TAPER_ERR_LIMIT);
    assert_int_equal(error.fact, TAPER_FACT_MAX_MEMORY);
    assert_int_equal(groups.count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_agree),
        cmocka_unit_test(a_caption_agrees),
        cmocka_unit_test(others_do_not),
        cmocka_unit_test(lines_do_not_count),
        cmocka_unit_test(flat_images_are_not_checked),
        cmocka_unit_test(a_map_is_found),
        cmocka_unit_test(sizes_and_kinds_give_one_version),
        cmocka_unit_test(noise_gives_its_means),
        cmocka_unit_test(white_on_nothing_shows),
        cmocka_unit_test(descriptors_turn),
        cmocka_unit_test(candidates_are_those_of_plain_sums),
        cmocka_unit_test(groups_are_those_of_the_originals),
        cmocka_unit_test(agreement_tells_the_turn),
        cmocka_unit_test(short_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
