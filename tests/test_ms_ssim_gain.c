/* test_ms_ssim_gain.c -- what errors of units do to MS-SSIM. */
#include "cmocka_all.h"
#include "codec/backend/pool.h"
#include "codec/taper_quality.h"
#include "dct_model.h"
#include "train/calibrate/ms_ssim_gain.h"

enum { IMAGES = 4, SIDE = 192, WINDOW = 8, VALUES = WINDOW * WINDOW };

/* Scenes with some texture. */
static train_dataset make_scenes(unsigned channels) {
    train_dataset d = {.image = calloc(IMAGES, sizeof *d.image), .n = IMAGES, .channels = channels};
    uint64_t state = 5;
    assert_non_null(d.image);
    for (unsigned i = 0; i < IMAGES; i++) {
        d.image[i] = picture_scene(SIDE, SIDE, channels, 40 * i);
        uint8_t *to = d.image[i].pixels;
        for (size_t k = 0; k < formats_image_bytes(&d.image[i]); k++)
            to[k] = (uint8_t)(to[k] / 2 + 50 + picture_random(&state) % (k % 7 ? 6 : 30));
        d.pixels += (uint64_t)d.image[i].width * SIDE;
    }
    return d;
}

static void drop_scenes(train_dataset *d) {
    for (size_t i = 0; i < d->n; i++) formats_image_free(&d->image[i]);
    free(d->image);
}

static taper_model *make_model(unsigned channels) {
    formats_buffer file = formats_buffer_make(1 << 24);
    taper_model *m =
        dct_model_make((codec_window){WINDOW, WINDOW, (uint8_t)channels, NULL}, 0, 2, &file);
    formats_buffer_free(&file);
    return m;
}

/* 1 - MS-SSIM, mean over the scenes, with a times the unit's pattern at every window that lies
 * within the image, signs by chance. */
static double loss_of(const taper_model *m, const train_dataset *d, uint32_t u, double a,
                      uint64_t state) {
    const float *pattern = m->network.synthesis + (size_t)u * VALUES;
    double sum = 0;
    for (size_t i = 0; i < d->n; i++) {
        const taper_image *image = &d->image[i];
        taper_image noisy = *image;
        noisy.pixels = malloc(formats_image_bytes(image));
        assert_non_null(noisy.pixels);
        const uint8_t *from = image->pixels;
        uint8_t *to = noisy.pixels;
        memcpy(to, from, formats_image_bytes(image));
        for (uint32_t wy = 0; wy + WINDOW <= image->height; wy += WINDOW)
            for (uint32_t wx = 0; wx + WINDOW <= image->width; wx += WINDOW) {
                double x = picture_random(&state) >> 63 ? a : -a;
                for (uint32_t k = 0; k < VALUES; k++) {
                    size_t at = (size_t)(wy + k / WINDOW) * image->width + wx + k % WINDOW;
                    to[at] = (uint8_t)lrint(fmin(fmax(from[at] + x * (double)pattern[k], 0), 255));
                }
            }
        taper_quality q = {.size = sizeof q};
        assert_int_equal(taper_quality_measure(image, &noisy, &q, NULL), TAPER_OK);
        sum += 1 - q.ms_ssim;
        free(noisy.pixels);
    }
    return sum / (double)d->n;
}

/* Ratios of gains are those of losses at equal amplitude, with other signs and drawn by hand. */
static void gains_foretell_losses(void **unused) {
    (void)unused;
    train_dataset d = make_scenes(1);
    taper_model *m = make_model(1);
    double gain[VALUES];
    for (int u = 0; u < VALUES; u++) gain[u] = 1;
    assert_int_equal(train_ms_ssim_gains(m, &d, NULL, gain), TAPER_OK);
    static const uint32_t units[] = {0, 1, 5, 20, 63};
    double first = 0;
    for (int i = 0; i < 5; i++) {
        double loss = 0;
        for (uint64_t seed = 1; seed <= 4; seed++)
            loss += loss_of(m, &d, units[i], sqrt(8 * VALUES), seed);
        double ratio = loss / gain[units[i]] / (i ? first : 1);
        if (!i) first = ratio, ratio = 1;
        print_message("unit %u: gain %.3f, loss %.2f of what it foretells\n", units[i],
                      gain[units[i]], ratio);
        assert_true(ratio > 0.9 && ratio < 1.1);
    }
    assert_true(gain[0] > 3 * gain[63]); /* what is fine shows at one scale only */
    taper_model_free(m);
    drop_scenes(&d);
}

/* Their product is that of the gains before; threads change nothing. */
static void gains_keep_their_scale(void **unused) {
    (void)unused;
    train_dataset d = make_scenes(1);
    taper_model *m = make_model(1);
    codec_pool *pool;
    double gain[2][VALUES], logs = 0;
    assert_int_equal(codec_pool_create(&pool, 3), TAPER_OK);
    for (int u = 0; u < VALUES; u++) gain[0][u] = gain[1][u] = 1 + u % 3;
    assert_int_equal(train_ms_ssim_gains(m, &d, NULL, gain[0]), TAPER_OK);
    assert_int_equal(train_ms_ssim_gains(m, &d, pool, gain[1]), TAPER_OK);
    assert_memory_equal(gain[0], gain[1], sizeof gain[0]);
    for (int u = 0; u < VALUES; u++) logs += log(gain[0][u] / (1 + u % 3));
    assert_true(fabs(logs) < 1e-6);
    codec_pool_destroy(pool);
    taper_model_free(m);
    drop_scenes(&d);
}

/* Colour shows nowhere in grey images: next to nothing, but a number. */
static void colour_of_grey_images_counts_little(void **unused) {
    (void)unused;
    train_dataset d = make_scenes(1);
    taper_model *m = make_model(3);
    double *gain = malloc(3 * VALUES * sizeof *gain), least = 1e9, most = 0;
    assert_non_null(gain);
    for (int u = 0; u < 3 * VALUES; u++) gain[u] = 1;
    assert_int_equal(train_ms_ssim_gains(m, &d, NULL, gain), TAPER_OK);
    for (int u = 0; u < 3 * VALUES; u++) {
        assert_true(isfinite(gain[u]) && gain[u] > 0);
        least = fmin(least, gain[u]), most = fmax(most, gain[u]);
    }
    assert_true(least < most / 1000);
    free(gain);
    taper_model_free(m);
    drop_scenes(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gains_foretell_losses),
        cmocka_unit_test(gains_keep_their_scale),
        cmocka_unit_test(colour_of_grey_images_counts_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
