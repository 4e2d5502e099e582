/* bench_small.c -- the time of small versions, with a limit of passes, and what the limit costs.
 *
 *     bench_small CONTAINER [SCALE]       SCALE: 2, 4, 8 or 16; 8 unless given
 *
 * Renders the first images of a container, at most eight, at 1 / SCALE with several limits of
 * passes (taper_decode_options). The PSNR is that against all passes. One line a figure, as bench.h
 * says. */
#include "bench/bench.h"
#include "codec/taper.h"
#include <stdlib.h>

enum { IMAGES = 8, MOST = 1 << 22 };
static const uint32_t limits[] = {0, 300, 1000, 2000, 4000}; /* 0: all passes, first */

static uint8_t pixels[2][IMAGES][MOST];

static void check(taper_status status, const taper_error *error) {
    if (!status) return;
    fprintf(stderr, "bench_small: %s\n", error->text);
    exit(1);
}

/* Render n images; the mean seconds of an image. */
static double render(const taper_container *container, uint32_t passes, uint32_t scale, uint64_t n,
                     taper_image *out) {
    const taper_decode_options options = {.size = sizeof options, .passes = passes};
    taper_error error = {0};
    taper_decoder *decoder;
    check(taper_decoder_new(&decoder, container, &options, &error), &error);
    const double start = bench_now();
    for (uint64_t i = 0; i < n; i++)
        check(taper_decoder_render_scaled(decoder, i, scale, &out[i], NULL, &error), &error);
    const double seconds = (bench_now() - start) / (double)n;
    taper_decoder_free(decoder);
    return seconds;
}

static double mean_psnr(const taper_image *a, const taper_image *b, uint64_t n) {
    double sum = 0;
    for (uint64_t i = 0; i < n; i++) {
        taper_quality quality = {.size = sizeof quality};
        taper_error error = {0};
        check(taper_quality_measure(&a[i], &b[i], &quality, &error), &error);
        sum += quality.psnr_db;
    }
    return sum / (double)n;
}

int main(int argc, char **argv) {
    if (argc < 2) return fprintf(stderr, "usage: bench_small CONTAINER [SCALE]\n"), 2;
    const uint32_t scale = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 8;
    taper_container_info info = {.size = sizeof info};
    taper_container *container;
    taper_error error = {0};
    taper_image image[2][IMAGES] = {{{0}}};
    bench_begin(argc, argv);
    check(taper_container_open_file(&container, argv[1], NULL, &error), &error);
    check(taper_container_get_info(container, &info, &error), &error);
    const uint64_t n = info.images < IMAGES ? info.images : IMAGES;
    for (int k = 0; k < 2; k++)
        for (uint64_t i = 0; i < n; i++) image[k][i].pixels = pixels[k][i];
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
        char config[80];
        snprintf(config, sizeof config, "{\"scale\":%u,\"passes\":%u,\"images\":%llu}", scale,
                 limits[k] ? limits[k] : info.passes, (unsigned long long)n);
        bench_print("small", "render", 1000 * render(container, limits[k], scale, n, image[k > 0]),
                    "ms/image", config);
        if (k) bench_print("small", "psnr", mean_psnr(image[0], image[1], n), "dB", config);
    }
    taper_container_close(container);
    return 0;
}
