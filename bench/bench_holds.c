/* bench_holds.c -- do more bytes ever hurt a small set? Every cut of many is drawn, at every byte:
 *
 *     bench_holds MODEL            of drawings, dark ones, checkerboards, stripes, noise, text,
 * dots and gradients, which it draws itself, alone and as small sets bench_holds MODEL PHOTO... of
 * two crops of each of these, of 32x32 and of 64x64
 *
 * MODEL is one that ships. Standard output gets figures as JSON lines, standard error a line a set:
 * bytes of front matter and data, and of data with `quick`; the deepest fall as encoded, and of the
 * same bytes without holds; the most that a cut is below what `quick` shows with as many bytes; the
 * holds; seconds to encode, and with `quick`.
 *
 * Price: some five minutes a model, and a quarter of a minute a photograph. */
#include "../tests/dct_model.h"
#include "bench/bench.h"
#include "codec/taper_quality.h"
#include "codec/taper.h"
#include "formats/container.h"
#include "formats/holds.h"
#include "formats/image.h"
#include "formats/imageset/imageset.h"
#include <time.h>

enum { MOST_SETS = 1024, MOST_IMAGES = 5 };

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
/* One saturated colour. */
static double draw_colour(int x, int y, int c, int side, uint64_t seed) {
    (void)x, (void)y, (void)side;
    return seed >> c & 1 ? 255 : 0;
}
static double draw_ramp(int x, int y, int c, int side, uint64_t seed) {
    (void)y;
    return seed > 1 && c == 2 ? 255 - x * 256.0 / side : x * 256.0 / side;
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
                             {"dark-lines", draw_dark_lines, 3}, {"waves", draw_waves, 3},
                             {"colour", draw_colour, 7},         {"ramp", draw_ramp, 2}};
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
        formats_imageset_read(from, 0, &photo, NULL, &error)) {
        fprintf(stderr, "bench_holds: %s: %s\n", path, error.text);
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
    double *psnr; /* [data + 1] of every cut, without holds */
} curve;

static double mean_psnr(taper_decoder *decoder, const set *s) {
    double sum = 0, mse;
    for (size_t i = 0; i < s->n; i++) {
        taper_image out = s->image[i];
        out.pixels = malloc(formats_image_bytes(&out));
        if (!out.pixels || taper_decoder_render(decoder, i, &out, NULL, NULL) ||
            taper_quality_mse(&s->image[i], &out, &mse, NULL))
            abort();
        sum += taper_quality_psnr_db(mse);
        free(out.pixels);
    }
    return sum / (double)s->n;
}

/* Push byte by byte what has no holds. */
static curve curve_of(const taper_model *model, const set *s, const formats_buffer *file,
                      uint64_t *holds) {
    formats_front front;
    formats_buffer plain = formats_buffer_make(SIZE_MAX / 4);
    if (formats_front_read(file->data, file->size, NULL, &front, NULL)) abort();
    curve c = {.front = (size_t)front.front_size};
    *holds = front.holds, front.holds = 0;
    if (formats_front_write(&front, &plain, NULL)) abort();
    formats_front_free(&front);
    c.data = file->size - c.front;
    c.psnr = malloc((c.data + 1) * sizeof *c.psnr);
    const taper_open_options options = {.size = sizeof options, .model = model};
    taper_decoder *decoder;
    if (!c.psnr || taper_decoder_new_streaming(&decoder, &options, NULL) ||
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

static double drawn_psnr(const curve *c, uint64_t holds, size_t s) {
    return c->psnr[s < c->data ? (size_t)formats_holds_drawn(holds, s) : c->data];
}

/* The deepest fall below the best of all shorter cuts, dB. */
static double deepest_fall(const curve *c, uint64_t holds) {
    double best = 0, fall = 0;
    for (size_t s = 0; s <= c->data; s++) {
        double psnr = drawn_psnr(c, holds, s);
        fall = fmax(fall, best - psnr), best = fmax(best, psnr);
    }
    return fall;
}

/* The most that a cut is below the plain curve at the same bytes of the file. */
static double deepest_loss(const curve *c, uint64_t holds, const curve *plain) {
    double loss = 0;
    for (size_t s = 0; s <= plain->data; s++) {
        size_t size = plain->front + s;
        if (size < c->front) continue;
        size_t same = size - c->front < c->data ? size - c->front : c->data;
        loss = fmax(loss, plain->psnr[s] - drawn_psnr(c, holds, same));
    }
    return loss;
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
    size_t sets, fell, fell_plain, lost;
    double fall, loss, seconds, quick, bytes, quick_bytes;
} total;

static void measure(const taper_model *model, const set *s, total *t) {
    double seconds, quick;
    formats_buffer fast = encode(model, s, 1, &quick), file = encode(model, s, 0, &seconds);
    uint64_t holds, none;
    curve c = curve_of(model, s, &file, &holds), plain = curve_of(model, s, &fast, &none);
    double fall = deepest_fall(&c, holds), without = deepest_fall(&plain, 0);
    double loss = deepest_loss(&c, holds, &plain);
    fprintf(stderr, "%-28s %3zu+%-5zu %-5zu %.4f %.4f %.4f  %016llx  %.3f %.3f s\n", s->name,
            c.front, c.data, plain.data, fall, without, loss, (unsigned long long)holds, seconds,
            quick);
    t->sets++, t->fell += fall > 0.5, t->fell_plain += without > 0.5, t->lost += loss > 0.3;
    t->fall = fmax(t->fall, fall), t->loss = fmax(t->loss, loss);
    t->seconds += seconds, t->quick += quick;
    t->bytes += (double)file.size, t->quick_bytes += (double)fast.size;
    free(c.psnr), free(plain.psnr);
    formats_buffer_free(&fast), formats_buffer_free(&file);
}

static void print_total(const total *t, const char *model, const char *what) {
    char config[256];
    snprintf(config, sizeof config, "{\"model\":\"%s\",\"sets\":\"%s\",\"n\":%zu}", model, what,
             t->sets);
    double n = (double)t->sets;
    bench_print("holds", "deepest_fall", t->fall, "dB", config);
    bench_print("holds", "fell", (double)t->fell, "sets above 0.5 dB", config);
    bench_print("holds", "fell_quick", (double)t->fell_plain, "sets above 0.5 dB", config);
    bench_print("holds", "deepest_loss", t->loss, "dB below quick at equal bytes", config);
    bench_print("holds", "lost", (double)t->lost, "sets above 0.3 dB", config);
    bench_print("holds", "bytes", 100 * t->bytes / t->quick_bytes - 100, "% beside quick", config);
    bench_print("holds", "encode", t->seconds / n, "CPU s/set", config);
    bench_print("holds", "encode_quick", t->quick / n, "CPU s/set", config);
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
        fprintf(stderr, "usage: bench_holds MODEL [PHOTO...]\n");
        return 2;
    }
    bench_begin(argc, argv);
    sets = calloc(MOST_SETS, sizeof *sets);
    if (!sets) abort();
    for (int side = argc > 2 ? 32 : 8; side <= 64; side *= 2) {
        for (int i = 2; i < argc; i++) add_crop(argv[i], side, (side / 32 + i) % 2);
        if (argc == 2) add_drawings(side);
        char what[64];
        snprintf(what, sizeof what, "%s of %dx%d", argc > 2 ? "crops" : "drawings", side, side);
        measure_all(model, argv[1], what);
    }
    if (argc == 2) add_tiny_and_odd(), measure_all(model, argv[1], "tiny, odd, grey, of several");
    free(sets);
    taper_model_free(model);
    return 0;
}
