/* bench_scaled.c -- the time of small versions of images, with all passes and with those that show:
 *
 *     bench_scaled FILE.taper...       containers of one image each; JSON lines, means of them
 *
 * Times are seconds of the process on one thread, from a new decoder on, the least of three runs.
 * Each file is decoded whole, and its first 10,000 bytes. PSNR is that against all passes.
 *
 * Then what further bytes change: the windows of 16 x 16 pixels of which any pixel is another. */
#include "bench/bench.h"
#include "codec/taper.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 3, MOST = 1 << 24 };

static uint8_t pixels[2][MOST];

static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static void must(taper_status status, const taper_error *error) {
    if (status == TAPER_OK) return;
    fprintf(stderr, "%s: %s\n", bench_program(), error->text);
    exit(1);
}

/* How images are decoded, and what was measured, in the mean. */
typedef struct way {
    uint64_t cut;
    uint32_t scale, for_scale; /* of the rendering; of taper_decoder_set_scale */
    uint8_t *to;
    double ms;
    uint32_t passes;
} way;

static taper_image render(const taper_container *c, way *w, double share) {
    taper_image out = {.pixels = w->to};
    double least = 1e9;
    for (int run = 0; run < RUNS; run++) {
        const taper_decode_options options = {.size = sizeof options, .cut = w->cut};
        taper_error error = {0};
        taper_completeness done = {0};
        taper_decoder *d;
        const double begin = seconds();
        must(taper_decoder_new(&d, c, &options, &error), &error);
        must(taper_decoder_set_scale(d, w->for_scale, &error), &error);
        must(taper_decoder_render_scaled(d, 0, w->scale, &out, &done, &error), &error);
        taper_decoder_free(d);
        if (seconds() - begin < least) least = seconds() - begin;
        if (done.passes > w->passes) w->passes = done.passes;
    }
    w->ms += 1000 * least * share;
    return out;
}

static double psnr(const taper_image *image) {
    const size_t n = (size_t)image->width * image->height * image->channels;
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += pow((double)pixels[0][i] - pixels[1][i], 2);
    return sum > 0 ? fmin(10 * log10(255 * 255 / (sum / (double)n)), 60) : 60;
}

static void measure(char **file, int n, uint64_t cut, uint32_t scale) {
    way whole = {cut, 1, 1, pixels[0], 0, 0}, all = {cut, scale, 1, pixels[0], 0, 0},
        shown = {cut, scale, scale, pixels[1], 0, 0};
    double mean = 0, least = 1e9;
    for (int k = 0; k < n; k++) {
        taper_container *c;
        taper_error error = {0};
        must(taper_container_open_file(&c, file[k], NULL, &error), &error);
        (void)render(c, &whole, 1.0 / n), (void)render(c, &all, 1.0 / n);
        const taper_image image = render(c, &shown, 1.0 / n);
        const double is = psnr(&image);
        mean += is / n, least = fmin(least, is);
        taper_container_close(c);
    }
    char config[96];
    snprintf(config, sizeof config, "{\"scale\":%u,\"bytes\":%llu,\"images\":%d}", scale,
             (unsigned long long)cut, n);
    bench_print("scaled", "whole size", whole.ms, "ms", config);
    bench_print("scaled", "all passes", all.ms, "ms", config);
    bench_print("scaled", "passes that show", shown.ms, "ms", config);
    bench_print("scaled", "sooner than the whole, all passes", whole.ms / all.ms, "times", config);
    bench_print("scaled", "sooner than the whole", whole.ms / shown.ms, "times", config);
    bench_print("scaled", "passes", shown.passes, "passes", config);
    bench_print("scaled", "psnr", mean, "dB", config);
    bench_print("scaled", "least psnr", least, "dB", config);
}

/* --- what changes ------------------------------------------------------------------------ */

enum { WINDOW = 16 };

static int differs(const taper_image *image, uint32_t x, uint32_t y) {
    const size_t pixel = image->channels, stride = image->width * pixel;
    const uint32_t width = image->width - x < WINDOW ? image->width - x : WINDOW;
    for (uint32_t k = y; k < y + WINDOW && k < image->height; k++)
        if (memcmp(pixels[0] + k * stride + x * pixel, pixels[1] + k * stride + x * pixel,
                   width * pixel))
            return 1;
    return 0;
}

static void measure_changes(char **file, int n, uint64_t bytes, double more) {
    double share = 0;
    uint32_t most = 0;
    for (int k = 0; k < n; k++) {
        way before = {bytes, 1, 1, pixels[0], 0, 0},
            after = {(uint64_t)((double)bytes * (1 + more)), 1, 1, pixels[1], 0, 0};
        taper_container *c;
        taper_error error = {0};
        uint32_t windows = 0, changed = 0;
        must(taper_container_open_file(&c, file[k], NULL, &error), &error);
        (void)render(c, &before, 1);
        const taper_image image = render(c, &after, 1);
        for (uint32_t y = 0; y < image.height; y += WINDOW)
            for (uint32_t x = 0; x < image.width; x += WINDOW, windows++)
                changed += (uint32_t)differs(&image, x, y);
        share += 100.0 * changed / windows / n;
        if (after.passes - before.passes > most) most = after.passes - before.passes;
        taper_container_close(c);
    }
    char config[96];
    snprintf(config, sizeof config, "{\"bytes\":%llu,\"more\":%g,\"images\":%d}",
             (unsigned long long)bytes, more, n);
    bench_print("scaled", "windows that change", share, "%", config);
    bench_print("scaled", "further passes, at most", most, "passes", config);
}

int main(int argc, char **argv) {
    if (argc < 2) return fprintf(stderr, "usage: bench_scaled FILE.taper...\n"), 2;
    bench_begin(argc, argv);
    for (int is_cut = 0; is_cut < 2; is_cut++)
        for (uint32_t scale = 2; scale <= 16; scale *= 2)
            measure(argv + 1, argc - 1, is_cut ? 10000 : 0, scale);
    for (uint64_t bytes = 10000; bytes <= 40000; bytes *= 4)
        for (int k = 0; k < 3; k++)
            measure_changes(argv + 1, argc - 1, bytes, k == 0 ? 0.001 : k == 1 ? 0.01 : 0.1);
    return 0;
}
