/* bench_refine.c -- the time and the memory of images that are refined as their bytes come:
 *
 *     bench_refine FILE.taper       JSON lines, of all images of the container
 *
 * Times are seconds of the process on one thread, the least of three runs. */
#include "bench/bench.h"
#include "codec/decoder/decoder.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 3, PIECES = 16 };

typedef struct setting {
    uint8_t *bytes;
    uint64_t size, front, images;
    taper_container *container;
    void *pixels; /* of the largest image */
} setting;

static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static void must(taper_status status, const taper_error *error) {
    if (status == TAPER_OK) return;
    fprintf(stderr, "%s: %s\n", bench_program(), error->text);
    exit(1);
}

static void render(taper_decoder *d, uint64_t i, uint32_t scale, void *pixels) {
    taper_error error = {0};
    taper_image out = {.pixels = pixels};
    must(taper_decoder_render_scaled(d, i, scale, &out, NULL, &error), &error);
}

static void decode(taper_decoder *d, uint64_t i) {
    codec_decoder_image image;
    taper_error error = {0};
    must(codec_decoder_load_image(d, i, UINT32_MAX, &image, &error), &error);
}

static taper_decoder *streaming(void) {
    taper_error error = {0};
    taper_decoder *d;
    must(taper_decoder_new_streaming(&d, NULL, &error), &error);
    return d;
}

static void print(const char *metric, double value, const char *unit, const char *config) {
    bench_print("refine", metric, value, unit, config);
}

/* --- bytes as they come ---------------------------------------------------------------- */

typedef enum way { PUSHED, SUPPLIED } way;

static void feed(const setting *s, taper_decoder *d, way by, uint64_t from, uint64_t to) {
    taper_error error = {0};
    must(by == PUSHED ? taper_decoder_push(d, s->bytes + from, (size_t)(to - from), &error)
                      : taper_decoder_supply(d, from, s->bytes + from, (size_t)(to - from), &error),
         &error);
}

/* The file in pieces, and every image decoded after each; without the time of rendering. */
static void decode_in_pieces(const setting *s, way by) {
    double least = 1e9;
    uint64_t most = 0, held = 0;
    for (int run = 0; run < RUNS; run++) {
        taper_decoder *d = streaming();
        double sum = 0;
        uint64_t at = s->front;
        feed(s, d, by, 0, at);
        const uint64_t before = d->account.used;
        for (int p = 1; p <= PIECES; p++) {
            const uint64_t end = s->front + (s->size - s->front) * (uint64_t)p / PIECES;
            double begin = seconds();
            feed(s, d, by, at, end);
            for (uint64_t i = 0; i < s->images; i++) decode(d, i);
            sum += seconds() - begin;
            if (d->account.used - before > most) most = d->account.used - before;
            at = end;
        }
        held = by == SUPPLIED ? s->size - s->front : 0;
        if (sum < least) least = sum;
        taper_decoder_free(d);
    }
    print(by == PUSHED ? "push in 16 pieces" : "supply in 16 pieces", least, "s", "{}");
    print(by == PUSHED ? "push: memory of the states" : "supply: memory of the states",
          (double)(most - held) / (1 << 20), "MiB", "{}");
}

/* The means, over all images, of parking a state and of making it again; and its size, parked. */
static void park_and_wake(const setting *s, double part) {
    const uint64_t at = s->front + (uint64_t)(part * (double)(s->size - s->front));
    double least[3] = {1e9, 1e9, 1e9};
    uint64_t held = 0;
    for (int run = 0; run < RUNS; run++) {
        taper_decoder *d = streaming();
        double sum[3] = {0};
        held = 0;
        feed(s, d, PUSHED, 0, at);
        for (uint64_t i = 0; i < s->images; i++) {
            codec_decoder_image image;
            taper_error error = {0};
            must(codec_decoder_load_image(d, i, UINT32_MAX, &image, &error), &error);
            codec_strips *strips = &image.group->strips;
            must(codec_strips_wake(strips, 1), &error);
            const double begin = seconds();
            must(codec_strips_park(strips), &error);
            const double parked = seconds();
            held += codec_strips_held(strips);
            must(codec_strips_wake(strips, 0), &error);
            const double readable = seconds();
            must(codec_strips_wake(strips, 1), &error);
            const double whole = seconds();
            sum[0] += parked - begin, sum[1] += readable - parked, sum[2] += whole - readable;
        }
        for (int k = 0; k < 3; k++)
            if (sum[k] < least[k]) least[k] = sum[k];
        taper_decoder_free(d);
    }
    static const char *const name[] = {"park a state", "wake it to render", "then to decode"};
    const double n = (double)s->images;
    char config[40];
    snprintf(config, sizeof config, "{\"data\":%.2f}", part);
    for (int k = 0; k < 3; k++) print(name[k], 1000 * least[k] / n, "ms", config);
    print("a parked state", (double)held / n / 1024, "KiB", config);
}

/* --- refreshes ------------------------------------------------------------------------- */

/* All images at a cut of the data, then with a little more; and with nothing more. */
static void refresh(const setting *s, double part, double step) {
    double first = 1e9, more = 1e9, none = 1e9;
    for (int run = 0; run < RUNS; run++) {
        taper_decoder *d = streaming();
        const uint64_t data = s->size - s->front, at = s->front + (uint64_t)(part * (double)data),
                       end = at + (uint64_t)(step * (double)data);
        double sum = 0, next = 0, again = 0, begin;
        feed(s, d, SUPPLIED, 0, at);
        for (uint64_t i = 0; i < s->images; i++) {
            decode(d, i);
            begin = seconds();
            render(d, i, 1, s->pixels);
            sum += seconds() - begin;
        }
        feed(s, d, SUPPLIED, at, end < s->size ? end : s->size);
        for (uint64_t i = 0; i < s->images; i++) {
            decode(d, i);
            begin = seconds();
            render(d, i, 1, s->pixels);
            next += seconds() - begin;
            begin = seconds();
            (void)taper_decoder_decode(d, i, &(taper_completeness){0}, NULL);
            again += seconds() - begin;
        }
        if (sum < first) first = sum;
        if (next < more) more = next;
        if (again < none) none = again;
        taper_decoder_free(d);
    }
    char config[80];
    snprintf(config, sizeof config, "{\"data\":%.3f,\"step\":%.4f}", part, step);
    print("first rendering", first, "s", config);
    print("refresh / first", more / first, "ratio", config);
    print("taper_decoder_decode of nothing new / first", none / first, "ratio", config);
}

/* --- small versions -------------------------------------------------------------------- */

/* Decoding and rendering of all images from a cut of so many bytes an image. */
static double whole_time(const setting *s, uint64_t bytes, uint32_t scale) {
    double least = 1e9;
    for (int run = 0; run < RUNS; run++) {
        taper_error error = {0};
        taper_decoder *d;
        uint64_t cut = s->front + bytes * s->images;
        const taper_decode_options o = {.size = sizeof o, .cut = cut < s->size ? cut : s->size};
        must(taper_decoder_new(&d, s->container, &o, &error), &error);
        double begin = seconds();
        for (uint64_t i = 0; i < s->images; i++) render(d, i, scale, s->pixels);
        if (seconds() - begin < least) least = seconds() - begin;
        taper_decoder_free(d);
    }
    return least;
}

static void scaled(const setting *s, uint64_t bytes) {
    const double whole = whole_time(s, bytes, 1);
    for (uint32_t scale = 1; scale <= 16; scale *= 2) {
        char config[80];
        const double time = scale == 1 ? whole : whole_time(s, bytes, scale);
        snprintf(config, sizeof config, "{\"bytes_an_image\":%d,\"scale\":%u}", (int)bytes, scale);
        print("decode and render", time / (double)s->images, "s", config);
        print("sooner than whole", whole / time, "x", config);
    }
}

/* --- the file -------------------------------------------------------------------------- */

static void open_file(setting *s, const char *path) {
    taper_error error = {0};
    taper_container_info info = {.size = sizeof info};
    uint64_t most = 1;
    FILE *f = fopen(path, "rb");
    if (!f) fprintf(stderr, "usage: %s FILE.taper\n", bench_program()), exit(2);
    fseek(f, 0, SEEK_END), s->size = (uint64_t)ftell(f), rewind(f);
    s->bytes = malloc((size_t)s->size);
    if (!s->bytes || fread(s->bytes, 1, (size_t)s->size, f) != s->size) exit(1);
    fclose(f);
    must(taper_container_open_file(&s->container, path, NULL, &error), &error);
    must(taper_container_get_info(s->container, &info, &error), &error);
    s->front = info.front_bytes, s->images = info.images;
    for (uint64_t i = 0; i < s->images; i++) {
        taper_image_info image = {.size = sizeof image};
        must(taper_container_get_image(s->container, i, &image, &error), &error);
        if (image.bytes > most) most = image.bytes;
    }
    s->pixels = malloc((size_t)most);
    if (!s->pixels) exit(1);
}

int main(int argc, char **argv) {
    setting s = {0};
    bench_begin(argc, argv);
    open_file(&s, argc > 1 ? argv[1] : "");
    decode_in_pieces(&s, PUSHED);
    decode_in_pieces(&s, SUPPLIED);
    for (double part = 0.125; part <= 1; part *= 2) park_and_wake(&s, part);
    for (double part = 0.02; part < 1; part *= 4) {
        refresh(&s, part, part / 64);
        refresh(&s, part, part / 4);
    }
    scaled(&s, 3000);
    scaled(&s, 10000);
    taper_container_close(s.container);
    free(s.bytes), free(s.pixels);
    return 0;
}
