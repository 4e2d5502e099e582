/* bench_pace.c -- do more bytes ever hurt a small set? Every cut of many is drawn, at every byte:
 *
 *     bench_pace MODEL            of drawings, dark ones, checkerboards, stripes, noise, text, dots
 *                                 and gradients, which it draws itself, alone and as small sets
 *     bench_pace MODEL PHOTO...   of two crops of each of these, of 32x32 and of 64x64
 *
 * MODEL is one that ships. Standard output gets figures as JSON lines, standard error a line a set:
 * bytes of front matter and data, the deepest fall as encoded and without a pace, the pace, what it
 * costs in the mean of all cuts and at most at 25 .. 40 dB, seconds to encode, and with `quick`.
 *
 * Price: some five minutes a model, and a quarter of a minute a photograph. */
#include "../tests/dct_model.h"
#include "bench/bench.h"
#include "codec/quality/metrics.h"
#include "codec/taper.h"
#include "formats/container.h"
#include "formats/image.h"
#include "formats/imageset.h"
#include <time.h>

enum { QUALITIES = 4, MOST_SETS = 1024, MOST_IMAGES = 5 };

/* --- pictures ---------------------------------------------------------------------------- */

/* What a drawing shows at a point: 0 .. 255. */
typedef double shade_fn(int x, int y, int c, int side, uint64_t seed);

static double hashed(uint64_t a, uint64_t b) {
    uint64_t state = (a * 1000003 + b * 7919 + 12345) | 1;
    picture_random(&state), picture_random(&state), picture_random(&state);
    return (double)(picture_random(&state) >> 40) / (double)(1 << 24);
}

static double draw_check(int x, int y, int c, int side, uint64_t size) {
    (void)c, (void)side;
    return (x / (int)size + y / (int)size) % 2 ? 255 : 0;
}
static double draw_red_check(int x, int y, int c, int side, uint64_t size) {
    (void)side;
    return (x / (int)size + y / (int)size) % 2 ? 255 * (c == 0) : 200 * (c == 2);
}
static double draw_soft_check(int x, int y, int c, int side, uint64_t size) {
    (void)c, (void)side;
    return (x / (int)size + y / (int)size) % 2 ? 140 : 110;
}
static double draw_stripes(int x, int y, int c, int side, uint64_t seed) {
    (void)side;
    int at = seed % 3 == 0 ? x : seed % 3 == 1 ? y : x + y;
    return at / (int)(1 + seed / 3) % 2 ? 255 - 60 * c : 20 * c;
}
static double draw_noise(int x, int y, int c, int side, uint64_t seed) {
    return 255 * hashed(seed, (uint64_t)((y * side + x) * 3 + c));
}
static double draw_flat(int x, int y, int c, int side, uint64_t seed) {
    int at = (int)(seed * 7 % (uint64_t)side);
    return x == at && y == side / 2 ? 255 - 100 * c : 40 + 30 * c;
}
static double draw_gradient(int x, int y, int c, int side, uint64_t seed) {
    double along = seed % 2 ? x + y : 2.0 * y;
    return along * 255 / (2 * side) * (1 - 0.2 * c);
}
/* Rows of marks, of 5x7 on a ground, as letters are. */
static double draw_text(int x, int y, int c, int side, uint64_t seed) {
    (void)side;
    int in_x = x % 6, in_y = y % 9, cell = y / 9 * 64 + x / 6;
    int ink = in_x < 5 && in_y < 7 &&
              hashed(seed + (uint64_t)cell, (uint64_t)(in_x * 8 + in_y)) < 0.4 && cell % 7;
    return ink ? 10 + 20 * c : 250 - 5 * c;
}
/* Boxes, discs and lines. */
static double draw_shapes(int x, int y, int c, int side, uint64_t seed) {
    double v = 200 - 40 * c;
    for (uint64_t k = 0; k < 6; k++) {
        double cx = side * hashed(seed, 10 * k), cy = side * hashed(seed, 10 * k + 1);
        double r = side * (0.1 + 0.2 * hashed(seed, 10 * k + 2)), dx = x - cx, dy = y - cy;
        double colour = 255 * hashed(seed, 10 * k + 4 + (uint64_t)c);
        int in = k % 3 == 0   ? fabs(dx) < r && fabs(dy) < r / 2
                 : k % 3 == 1 ? dx * dx + dy * dy < r * r
                              : fabs(dx * (k - 3.0) - dy) < 1;
        if (in) v = colour;
    }
    return v;
}
/* The same with values up to 20. */
static double draw_dark(int x, int y, int c, int side, uint64_t seed) {
    return floor(draw_shapes(x, y, c, side, seed) * 20 / 255);
}
static double draw_dark_lines(int x, int y, int c, int side, uint64_t seed) {
    (void)side;
    return (x * (1 + (int)seed) + 3 * y) % 11 < 2 ? 20 - 4 * c : (x + y) % 13 == 0 ? 9 : 2;
}
static double draw_waves(int x, int y, int c, int side, uint64_t seed) {
    double v = 128;
    for (uint64_t k = 0; k < 20; k++) {
        double length = side / pow(1.17, (double)k), angle = 6.283 * hashed(seed, 3 * k);
        v += length * (0.3 + hashed(seed, 3 * k + 1 + 100 * (uint64_t)c)) * 40 / side *
             cos(6.283 / length * (cos(angle) * x + sin(angle) * y) + 6 * hashed(seed, 3 * k + 2));
    }
    return v;
}

typedef struct kind {
    const char *name;
    shade_fn *shade;
    int seeds;
} kind;

static const kind kinds[] = {{"check", draw_check, 3},           {"red-check", draw_red_check, 2},
                             {"soft-check", draw_soft_check, 2}, {"stripes", draw_stripes, 6},
                             {"noise", draw_noise, 1},           {"flat", draw_flat, 1},
                             {"gradient", draw_gradient, 2},     {"text", draw_text, 2},
                             {"shapes", draw_shapes, 3},         {"dark", draw_dark, 3},
                             {"dark-lines", draw_dark_lines, 3}, {"waves", draw_waves, 3}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static taper_image draw(shade_fn *shade, int width, int height, unsigned channels, unsigned depth,
                        uint64_t seed) {
    taper_image image;
    if (formats_image_make(&image, (uint32_t)width, (uint32_t)height, channels, depth, NULL, NULL))
        abort();
    uint8_t *to = image.pixels;
    uint16_t *wide = image.pixels;
    int side = width > height ? width : height;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            for (int c = 0; c < (int)channels; c++) {
                double v = shade(x, y, c, side, seed);
                v = v < 0 ? 0 : v > 255 ? 255 : v;
                if (depth == 8)
                    *to++ = (uint8_t)lrint(v);
                else
                    *wide++ = (uint16_t)lrint(v * 257);
            }
    return image;
}

/* --- sets -------------------------------------------------------------------------------- */

typedef struct set {
    char name[64];
    taper_image image[MOST_IMAGES];
    size_t n;
} set;

static set *sets;
static size_t n_sets;

static set *add_set(const char *name, const char *more, int seed) {
    if (n_sets == MOST_SETS) abort();
    set *s = &sets[n_sets++];
    snprintf(s->name, sizeof s->name, "%.24s%.24s%d", name, more, seed);
    return s;
}

static void add_drawings(int side) {
    char more[16];
    snprintf(more, sizeof more, "-%d-", side);
    for (int k = 0; k < KINDS; k++)
        for (int seed = 1; seed <= kinds[k].seeds; seed++) {
            set *s = add_set(kinds[k].name, more, seed);
            s->image[s->n++] = draw(kinds[k].shade, side, side, 3, 8, (uint64_t)seed);
        }
}

static void add_tiny_and_odd(void) {
    static const struct {
        int width, height;
        unsigned channels, depth;
        size_t n;
    } shapes[] = {{1, 1, 3, 8, 1},    {5, 5, 3, 8, 1},   {8, 8, 3, 8, 1},   {5, 5, 3, 8, 3},
                  {8, 8, 3, 8, 5},    {16, 16, 3, 8, 2}, {20, 20, 3, 8, 4}, {32, 32, 1, 8, 1},
                  {32, 32, 3, 16, 1}, {100, 7, 3, 8, 1}, {37, 51, 3, 8, 1}, {1, 64, 1, 8, 1}};
    static const int of[] = {0, 7, 8, 10, 11};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
            char more[64];
            snprintf(more, sizeof more, "-%dx%dx%u-%u-x%zu-", shapes[i].width, shapes[i].height,
                     shapes[i].channels, shapes[i].depth, shapes[i].n);
            set *s = add_set(kinds[of[k]].name, more, 1);
            for (size_t j = 0; j < shapes[i].n; j++)
                s->image[s->n++] = draw(kinds[of[k]].shade, shapes[i].width, shapes[i].height,
                                        shapes[i].channels, shapes[i].depth, j + 1);
        }
}

static void add_crop(const char *path, int side, int index) {
    taper_error error;
    formats_imageset *from;
    taper_image photo;
    if (formats_imageset_open(&from, &path, 1, &(formats_imageset_options){0}, NULL, NULL,
                              &error) ||
        formats_imageset_read(from, 0, &photo, &error)) {
        fprintf(stderr, "bench_pace: %s: %s\n", path, error.text);
        exit(1);
    }
    formats_imageset_close(from);
    if (photo.channels != 3 || photo.depth != 8) { /* left out */
        formats_image_free(&photo);
        return;
    }
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    char more[16];
    snprintf(more, sizeof more, "-%d-", side);
    set *s = add_set(base, more, index);
    taper_image *crop = &s->image[s->n++];
    *crop = draw(draw_flat, side, side, 3, 8, 1);
    uint32_t x0 = (photo.width - (uint32_t)side) * (uint32_t)(1 + index) / 3;
    uint32_t y0 = (photo.height - (uint32_t)side) * (uint32_t)(2 - index) / 3;
    for (int y = 0; y < side; y++)
        memcpy((uint8_t *)crop->pixels + y * side * 3,
               (uint8_t *)photo.pixels + ((y0 + (size_t)y) * photo.width + x0) * 3,
               (size_t)side * 3);
    formats_image_free(&photo);
}

/* --- curves ------------------------------------------------------------------------------ */

typedef struct curve {
    size_t front, data;
    double *psnr; /* [data + 1] of every cut, without a pace */
} curve;

static double mean_psnr(taper_decoder *decoder, const set *s) {
    double sum = 0, mse;
    for (size_t i = 0; i < s->n; i++) {
        taper_image out = s->image[i];
        out.pixels = malloc(formats_image_bytes(&out));
        if (!out.pixels || taper_decoder_render(decoder, i, &out, NULL, NULL) ||
            codec_mse(&s->image[i], &out, &mse, NULL))
            abort();
        sum += codec_psnr_db(mse);
        free(out.pixels);
    }
    return sum / (double)s->n;
}

/* Push byte by byte what has no pace. */
static curve curve_of(const taper_model *model, const set *s, const formats_buffer *file,
                      uint32_t *pace) {
    formats_front front;
    formats_buffer plain = formats_buffer_make(SIZE_MAX / 4);
    if (formats_front_read(file->data, file->size, NULL, &front, NULL)) abort();
    curve c = {.front = (size_t)front.front_size};
    *pace = front.pace, front.pace = 0;
    if (formats_front_write(&front, &plain, NULL)) abort();
    formats_front_free(&front);
    c.data = file->size - c.front;
    c.psnr = malloc((c.data + 1) * sizeof *c.psnr);
    taper_decoder *decoder;
    if (!c.psnr || taper_decoder_new(&decoder, model, NULL, NULL) ||
        taper_decoder_push(decoder, plain.data, c.front, NULL))
        abort();
    for (size_t at = 0; at <= c.data; at++) {
        if (at && taper_decoder_push(decoder, file->data + c.front + at - 1, 1, NULL)) abort();
        c.psnr[at] = mean_psnr(decoder, s);
    }
    taper_decoder_free(decoder);
    formats_buffer_free(&plain);
    return c;
}

typedef struct figures {
    double fall;             /* the deepest, dB */
    double bytes[QUALITIES]; /* of the shortest cuts of 25, 30, 35, 40 dB; 0: none */
    double delay;            /* of all cuts' bytes, the share that is not drawn */
} figures;

static figures judge(const curve *c, uint32_t pace) {
    figures f = {0};
    double best = 0;
    for (size_t s = 0; s <= c->data; s++) {
        size_t drawn = s < c->data ? (size_t)formats_pace_rendered(pace, s) : s;
        double psnr = c->psnr[drawn];
        f.fall = fmax(f.fall, best - psnr);
        best = fmax(best, psnr);
        f.delay += (double)(s - drawn) / (double)(c->front + s) / (double)(c->data + 1);
        for (int q = 0; q < QUALITIES; q++)
            if (f.bytes[q] == 0 && psnr >= 25 + 5 * q) f.bytes[q] = (double)(c->front + s);
    }
    return f;
}

static formats_buffer encode(const taper_model *model, const set *s, int quick, double *seconds) {
    taper_encode_options options = {.quick = quick};
    clock_t start = clock();
    formats_buffer file = dct_encode(model, s->image, s->n, &options, 0);
    *seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    return file;
}

/* Of all sets of a kind. */
typedef struct total {
    size_t sets, fell, fell_plain, reached[QUALITIES];
    double deepest, seconds, quick, delay, more[QUALITIES];
} total;

/* By which part a quality is reached later; the most of all. */
static double add_delays(total *t, const figures *with, const figures *without) {
    double most = 0;
    for (int q = 0; q < QUALITIES; q++) {
        if (without->bytes[q] == 0 || with->bytes[q] == 0) continue;
        double more = with->bytes[q] / without->bytes[q] - 1;
        t->reached[q]++, t->more[q] += more;
        most = fmax(most, more);
    }
    return most;
}

static void measure(const taper_model *model, const set *s, total *t) {
    double seconds, quick;
    formats_buffer fast = encode(model, s, 1, &quick), file = encode(model, s, 0, &seconds);
    uint32_t pace;
    curve c = curve_of(model, s, &file, &pace);
    figures with = judge(&c, pace), without = judge(&c, 0);
    formats_pace p = formats_pace_parts(pace);
    double most = add_delays(t, &with, &without);
    fprintf(stderr,
            "%-28s %3zu+%-5zu %.4f %.4f  %3u %3u %5u %u %u %u  %.3f%% %.2f%%  %.3f %.3f s\n",
            s->name, c.front, c.data, with.fall, without.fall, p.hold_at, p.hold, p.grid_at,
            p.log2_step, p.sparse, p.thin, 100 * with.delay, 100 * most, seconds, quick);
    t->sets++, t->fell += with.fall > 0.05, t->fell_plain += without.fall > 0.05;
    t->deepest = fmax(t->deepest, with.fall);
    t->seconds += seconds, t->quick += quick, t->delay += with.delay;
    free(c.psnr);
    formats_buffer_free(&fast), formats_buffer_free(&file);
}

static void print_total(const total *t, const char *model, const char *what) {
    char config[256];
    snprintf(config, sizeof config, "{\"model\":\"%s\",\"sets\":\"%s\",\"n\":%zu}", model, what,
             t->sets);
    double n = (double)t->sets;
    bench_print("pace", "deepest_fall", t->deepest, "dB", config);
    bench_print("pace", "fell", (double)t->fell, "sets above 0.05 dB", config);
    bench_print("pace", "fell_without", (double)t->fell_plain, "sets above 0.05 dB", config);
    bench_print("pace", "encode", t->seconds / n, "CPU s/set", config);
    bench_print("pace", "encode_quick", t->quick / n, "CPU s/set", config);
    bench_print("pace", "not_drawn", 100 * t->delay / n, "% of a cut", config);
    for (int q = 0; q < QUALITIES; q++) {
        char metric[32];
        snprintf(metric, sizeof metric, "more_bytes_%d_db", 25 + 5 * q);
        if (t->reached[q])
            bench_print("pace", metric, 100 * t->more[q] / (double)t->reached[q], "%", config);
    }
}

static void measure_all(const taper_model *model, const char *name, const char *what) {
    total t = {0};
    for (size_t i = 0; i < n_sets; i++) {
        measure(model, &sets[i], &t);
        for (size_t k = 0; k < sets[i].n; k++) formats_image_free(&sets[i].image[k]);
    }
    print_total(&t, name, what);
    memset(sets, 0, MOST_SETS * sizeof *sets);
    n_sets = 0;
}

int main(int argc, char **argv) {
    taper_model *model;
    taper_error error;
    if (argc < 2 || taper_model_builtin(&model, argv[1], &error)) {
        fprintf(stderr, "usage: bench_pace MODEL [PHOTO...]\n");
        return 2;
    }
    bench_begin(argc, argv);
    sets = calloc(MOST_SETS, sizeof *sets);
    if (!sets) abort();
    for (int side = 32; side <= 64; side *= 2) {
        for (int i = 2; i < argc; i++) add_crop(argv[i], side, (side / 32 + i) % 2);
        if (argc == 2) add_drawings(side);
        measure_all(model, argv[1],
                    argc > 2     ? side == 32 ? "crops of 32x32" : "crops of 64x64"
                    : side == 32 ? "drawings of 32x32"
                                 : "drawings of 64x64");
    }
    if (argc == 2) add_tiny_and_odd(), measure_all(model, argv[1], "tiny, odd, grey, of several");
    free(sets);
    taper_model_free(model);
    return 0;
}
