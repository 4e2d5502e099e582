/* bench_scale.c -- containers and indexes of very many images, and what it takes to make them.
 *
 *     bench_scale container LAYOUT NAMES IMAGES FILE [FIRST]
 *     bench_scale index IMAGES BITS FILE
 *     bench_scale join FILE INDEX...
 *     bench_scale check FILE IMAGE
 *     bench_scale run PROGRAM WORDS...
 *
 * container: some drawn images of 32 x 32 pixels are encoded, in LAYOUT set (8 groups of 1,000),
 * image or gallery (1,000 groups of one). IMAGES, a multiple of 1,000, is how many there shall be:
 * each group is one of these, drawn by its number. So the front matter has the entropy of as many
 * different images. NAMES: numbers, as 000000042.png, the first of them FIRST; hashes; none.
 * index: IMAGES codes of BITS bits, around 1 + IMAGES / 64 centres, of which one bit in eight
 * differs.
 * join: one index of several (taper_index_merge). check: draw image IMAGE of the container FILE, a
 * number from 0, from a source that counts, with the front matter read as a whole. run: a program;
 * the last line of standard error is then its seconds, processor time, peak memory and bytes read.
 *
 * One line a figure, as bench.h says: bytes, seconds and the peak memory of this process. */
#define _DEFAULT_SOURCE /* wait4 */
#include "bench/bench.h"
#include "codec/taper.h"
#include "codec/taper_index.h"
#include "formats/container.h"
#include "formats/file.h"
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THOUSAND = 1000, SET_GROUPS = 8, SIDE = 32, BYTES_EACH = 100, NAME = 16 };

static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return *state >> 32;
}

static void need(taper_status status, const taper_error *error) {
    if (status == TAPER_OK) return;
    fprintf(stderr, "bench_scale: %s\n", error->text);
    exit(1);
}

static void *take(uint64_t n, size_t size) {
    void *memory = calloc((size_t)n + 1, size);
    if (memory) return memory;
    fprintf(stderr, "bench_scale: no memory\n");
    exit(1);
}

/* Seconds of processor time of this process. */
static double processor_time(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void say(const char *config, const char *metric, double value, const char *unit) {
    bench_print("scale", metric, value, unit, config);
}

static void say_costs(const char *config, const char *what, double begin, double processor) {
    struct rusage u;
    char metric[64];
    getrusage(RUSAGE_SELF, &u);
    snprintf(metric, sizeof metric, "%s_seconds", what);
    say(config, metric, bench_now() - begin, "s");
    snprintf(metric, sizeof metric, "%s_cpu", what);
    say(config, metric, processor_time() - processor, "s");
    snprintf(metric, sizeof metric, "%s_memory", what);
    say(config, metric, 1024.0 * (double)u.ru_maxrss, "bytes");
}

/* --- containers ------------------------------------------------------------------------ */

static taper_status keep(void *user, const void *bytes, size_t n) {
    return formats_write_bytes(user, bytes, n);
}

/* A slope with a spot, of some colours. */
static void draw(uint8_t *to, uint64_t *seed) {
    int a[3], b[3], d[3];
    const int x0 = (int)(next_random(seed) % SIDE), y0 = (int)(next_random(seed) % SIDE);
    for (int c = 0; c < 3; c++) {
        a[c] = 40 + (int)(next_random(seed) % 160);
        b[c] = (int)(next_random(seed) % 7) - 3, d[c] = (int)(next_random(seed) % 7) - 3;
    }
    for (int p = 0; p < SIDE * SIDE * 3; p++) {
        const int c = p % 3, x = p / 3 % SIDE, y = p / 3 / SIDE;
        const int near = (x - x0) * (x - x0) + (y - y0) * (y - y0) < 40;
        const int v = a[c] + b[c] * x / 2 + d[c] * y / 2 + near * 60 + (int)(next_random(seed) % 9);
        to[p] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
    }
}

/* A container of all the images that are drawn. */
static void encode_drawn(taper_layout layout, formats_buffer *to) {
    const taper_encode_options how = {
        .size = sizeof how, .layout = layout, .group_images = THOUSAND, .quick = 1, .threads = 2};
    const int n = layout == TAPER_LAYOUT_SET ? SET_GROUPS * THOUSAND : THOUSAND;
    const taper_sink sink = {to, keep};
    static uint8_t pixels[SIDE * SIDE * 3];
    const taper_image image = {SIDE, SIDE, 3, 8, pixels};
    uint64_t seed = 17;
    taper_error error = {0};
    taper_model *model;
    taper_encoder *encoder;
    need(taper_model_builtin(&model, "tiny", &error), &error);
    need(taper_encoder_new(&encoder, model, &how, &error), &error);
    for (int i = 0; i < n; i++) {
        draw(pixels, &seed);
        need(taper_encoder_add(encoder, &image, NULL, -1, &error), &error);
    }
    need(taper_encoder_finish(encoder, (uint64_t)n * BYTES_EACH, &sink, &error), &error);
    taper_encoder_free(encoder);
    taper_model_free(model);
}

typedef struct wanted {
    const char *names;
    uint32_t images;
    uint64_t first; /* number of the first image, in names and draws */
} wanted;

static void make_names(formats_front *f, const wanted *w) {
    uint64_t seed = 3 + w->first;
    size_t at = 0;
    if (!strcmp(w->names, "none")) return;
    f->names = take((uint64_t)f->images * NAME, 1);
    f->name_at = take(f->images, sizeof *f->name_at);
    for (uint32_t i = 0; i < f->images; i++, at += (size_t)NAME - 2) {
        f->name_at[i] = (uint32_t)at;
        if (*w->names == 'n')
            snprintf(f->names + at, NAME, "%09llu.png", (unsigned long long)(w->first + i));
        else
            snprintf(f->names + at, NAME, "%08llx%x.png", (unsigned long long)next_random(&seed),
                     i % 16);
    }
}

/* The drawn group that a group of the container is. */
static uint32_t own_group(const formats_front *drawn, uint64_t first, uint32_t g) {
    uint64_t x = first + g + 1;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return (uint32_t)((x ^ x >> 31) % drawn->groups);
}

static uint32_t drawn_checksum(const formats_front *f, const formats_front *drawn,
                               const uint8_t *data, const uint64_t *at, uint64_t draw,
                               uint32_t first) {
    uint32_t sum = 0;
    for (uint32_t g = first; g < first + f->chunks_per_checksum && g < f->groups; g++) {
        const uint32_t own = own_group(drawn, draw, g);
        sum = formats_crc32c(sum, data + at[own], (size_t)(at[own + 1] - at[own]));
    }
    return sum;
}

static void make_chunks(formats_front *f, const formats_front *drawn, const uint8_t *data,
                        uint64_t first) {
    f->chunk_at = take((uint64_t)f->layers * f->groups, sizeof *f->chunk_at);
    f->checksum = take(formats_front_checksums(f), sizeof *f->checksum);
    uint64_t chunk = 0, sums = 0;
    for (uint32_t l = 0; l < f->layers; l++) {
        const uint64_t *at = drawn->chunk_at + (uint64_t)l * drawn->groups;
        for (uint32_t g = 0; g < f->groups; g++, chunk++) {
            const uint32_t own = own_group(drawn, first, g);
            f->chunk_at[chunk + 1] = f->chunk_at[chunk] + at[own + 1] - at[own];
        }
        for (uint32_t g = 0; g < f->groups; g += f->chunks_per_checksum)
            f->checksum[sums++] = drawn_checksum(f, drawn, data, at, first, g);
    }
}

static formats_front make_front(const formats_front *drawn, const uint8_t *data, const wanted *w) {
    const uint32_t each = drawn->images / drawn->groups;
    formats_front f = {.model_id = drawn->model_id,
                       .layout = drawn->layout,
                       .tail = drawn->tail,
                       .images = w->images,
                       .groups = w->images / each,
                       .layers = drawn->layers,
                       .rate_classes = 1,
                       .layer_end = drawn->layer_end,
                       .has_pixels = drawn->has_pixels,
                       .layer_kind = drawn->layer_kind,
                       .chunks_per_checksum = drawn->chunks_per_checksum};
    f.geometry = take(f.images, sizeof *f.geometry);
    for (uint32_t i = 0; i < f.images; i++) f.geometry[i] = drawn->geometry[0];
    f.group_first = take(f.groups, sizeof *f.group_first);
    for (uint32_t g = 0; g <= f.groups; g++) f.group_first[g] = g * each;
    make_names(&f, w);
    make_chunks(&f, drawn, data, w->first);
    return f;
}

static taper_status put(FILE *file, const void *bytes, size_t n) {
    return fwrite(bytes, 1, n, file) == n ? TAPER_OK : TAPER_ERR_IO;
}

static void write_file(const char *path, const formats_buffer *front, const formats_front *drawn,
                       const uint8_t *data, const formats_front *f, uint64_t first) {
    FILE *file = fopen(path, "wb");
    taper_error error = {.text = "the file cannot be written"};
    need(file ? TAPER_OK : TAPER_ERR_IO, &error);
    need(put(file, front->data, front->size), &error);
    for (uint32_t l = 0; l < drawn->layers; l++) {
        const uint64_t *at = drawn->chunk_at + (uint64_t)l * drawn->groups;
        for (uint32_t g = 0; g < f->groups; g++) {
            const uint32_t own = own_group(drawn, first, g);
            need(put(file, data + at[own], (size_t)(at[own + 1] - at[own])), &error);
        }
    }
    need(fclose(file) ? TAPER_ERR_IO : TAPER_OK, &error);
}

static int make_container(char **of) {
    static const char *const layouts[] = {"set", "image", "gallery"};
    uint32_t layout = 0;
    while (layout < 2 && strcmp(of[0], layouts[layout]) != 0) layout++;
    const wanted w = {of[1], (uint32_t)strtoul(of[2], NULL, 10) / THOUSAND * THOUSAND,
                      of[4] ? strtoull(of[4], NULL, 10) : 0};
    formats_buffer bytes = formats_buffer_make(FORMATS_MOST_BYTES),
                   front = formats_buffer_make(FORMATS_MOST_BYTES);
    formats_front drawn;
    taper_error error = {0};
    char config[200];
    encode_drawn((taper_layout)layout, &bytes);
    need(formats_front_read(bytes.data, bytes.size, NULL, &drawn, &error), &error);
    const uint8_t *data = bytes.data + drawn.front_size;
    formats_front f = make_front(&drawn, data, &w);
    const double begin = bench_now(), processor = processor_time();
    need(formats_front_write(&f, &front, &error), &error);
    snprintf(config, sizeof config, "{\"layout\":\"%s\",\"names\":\"%s\",\"images\":%u}",
             layouts[layout], w.names, w.images);
    say_costs(config, "directory", begin, processor);
    say(config, "directory_bytes", (double)front.size, "bytes");
    write_file(of[3], &front, &drawn, data, &f, w.first);
    say(config, "file_bytes", (double)(front.size + formats_front_data(&f)), "bytes");
    return 0;
}

/* --- a source that counts -------------------------------------------------------------- */

typedef struct counted {
    taper_source file;
    uint64_t bytes;
} counted;

static taper_status count_read(void *user, uint64_t offset, void *to, size_t n) {
    counted *c = user;
    c->bytes += n;
    return c->file.read(c->file.user, offset, to, n);
}

static int check(char **of) {
    formats_file *file;
    taper_container *container;
    taper_decoder *decoder;
    taper_image_info info = {.size = sizeof info};
    taper_image image = {0};
    taper_error error = {0};
    char config[80];
    const uint64_t i = strtoull(of[1], NULL, 10);
    const taper_limits limits = {
        .size = sizeof limits, .max_images = UINT32_MAX, .max_memory = (uint64_t)1 << 40};
    const taper_open_options how = {.size = sizeof how, .limits = &limits};
    const double begin = bench_now(), processor = processor_time();
    need(formats_file_open(&file, of[0], &error), &error);
    counted c = {formats_file_source(file), 0};
    const taper_source source = {&c, c.file.size, count_read};
    need(taper_container_open(&container, &source, &how, &error), &error);
    need(taper_container_get_image(container, i, &info, &error), &error);
    need(taper_decoder_new(&decoder, container, NULL, &error), &error);
    image.pixels = take(info.bytes, 1);
    need(taper_decoder_render(decoder, i, &image, NULL, &error), &error);
    snprintf(config, sizeof config, "{\"image\":%llu}", (unsigned long long)i);
    say(config, "whole_open_bytes", (double)c.bytes, "bytes");
    say_costs(config, "whole_open", begin, processor);
    taper_decoder_free(decoder), taper_container_close(container), formats_file_close(file);
    free(image.pixels);
    return 0;
}

/* --- indexes --------------------------------------------------------------------------- */

static taper_status put_file(void *user, const void *bytes, size_t n) {
    return put(user, bytes, n);
}

static uint64_t *draw_codes(uint64_t n, uint32_t bits) {
    const uint64_t words = (bits + 63) / 64, centres = 1 + n / 64;
    const uint64_t unused = bits % 64 ? ~(uint64_t)0 >> bits % 64 : 0;
    uint64_t *codes = take(n * words, sizeof *codes), seed = 5;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t centre = next_random(&seed) % centres * 0x9E3779B97F4A7C15ull + 1;
        for (uint64_t w = 0; w < words; w++) {
            uint64_t noise = ~(uint64_t)0;
            const uint64_t base = next_random(&centre) << 32 ^ next_random(&centre);
            for (int k = 0; k < 3; k++) noise &= next_random(&seed) << 32 ^ next_random(&seed);
            codes[i * words + w] = base ^ noise;
        }
        codes[i * words + words - 1] &= ~unused;
    }
    return codes;
}

static void say_index(const char *config, const char *what, FILE *file, double begin,
                      double processor) {
    taper_error error = {.text = "the file cannot be written"};
    const double bytes = (double)ftello(file);
    char metric[64];
    need(fclose(file) ? TAPER_ERR_IO : TAPER_OK, &error);
    say_costs(config, what, begin, processor);
    snprintf(metric, sizeof metric, "%s_bytes", what);
    say(config, metric, bytes, "bytes");
}

static int make_index(char **of) {
    const uint64_t n = strtoull(of[0], NULL, 10);
    const uint32_t bits = (uint32_t)strtoul(of[1], NULL, 10);
    char config[80];
    taper_error error = {0};
    uint64_t *codes = draw_codes(n, bits);
    const taper_index_set set = {.size = sizeof set, .codes = codes, .n = n, .bits = bits};
    FILE *file = fopen(of[2], "wb");
    const taper_sink sink = {file, put_file};
    const double begin = bench_now(), processor = processor_time();
    if (!file) return perror(of[2]), 1;
    need(taper_index_build(&set, 0, &sink, &error), &error);
    snprintf(config, sizeof config, "{\"images\":%llu,\"bits\":%u}", (unsigned long long)n, bits);
    say_index(config, "index", file, begin, processor);
    free(codes);
    return 0;
}

/* The time of ten nearest of a query that is a code of the index. */
static void search(const taper_index *index, const char *config, uint32_t bits) {
    enum { QUERIES = 16, NEAREST = 10, MOST = 1024 };
    static uint64_t query[QUERIES * MOST];
    uint32_t images[QUERIES * NEAREST], distances[QUERIES * NEAREST];
    taper_index_info info = {.size = sizeof info};
    taper_error error = {0};
    need(taper_index_get_info(index, &info, &error), &error);
    const uint64_t words = (bits + 63) / 64;
    for (uint64_t k = 0; k < QUERIES; k++)
        taper_index_code(index, k * (info.images - 1) / QUERIES, query + k * words);
    const taper_index_search how = {.size = sizeof how,
                                    .queries = query,
                                    .n_queries = QUERIES,
                                    .k = info.images < NEAREST ? info.images : NEAREST,
                                    .threads = 1};
    const double begin = bench_now(), processor = processor_time();
    need(taper_index_nearest(index, &how, images, distances, NULL, &error), &error);
    say(config, "query_seconds", (bench_now() - begin) / QUERIES, "s");
    say(config, "query_cpu", (processor_time() - processor) / QUERIES, "s");
}

/* With "-" for the file: open only; of one index also search. */
static int join(int n, char **of) {
    taper_index *part[256];
    taper_error error = {0};
    taper_index_info info = {.size = sizeof info};
    char config[80];
    const taper_limits limits = {
        .size = sizeof limits, .max_images = UINT32_MAX, .max_memory = (uint64_t)1 << 40};
    double begin = bench_now(), processor = processor_time();
    uint64_t images = 0;
    for (int k = 1; k < n && k <= 256; k++) {
        need(taper_index_open_file(&part[k - 1], of[k], &limits, &error), &error);
        need(taper_index_get_info(part[k - 1], &info, &error), &error);
        images += info.images;
    }
    snprintf(config, sizeof config, "{\"images\":%llu,\"bits\":%u,\"indexes\":%d}",
             (unsigned long long)images, info.bits, n - 1);
    say_costs(config, "open_index", begin, processor);
    if (n == 2) search(part[0], config, info.bits);
    begin = bench_now(), processor = processor_time();
    FILE *file = strcmp(of[0], "-") != 0 ? fopen(of[0], "wb") : NULL;
    const taper_sink sink = {file, put_file};
    if (file) {
        need(taper_index_merge((const taper_index *const *)part, (size_t)n - 1, &sink, &error),
             &error);
        say_index(config, "join", file, begin, processor);
    }
    for (int k = 1; k < n; k++) taper_index_close(part[k - 1]);
    return 0;
}

/* --- programs -------------------------------------------------------------------------- */

/* A process that was forked from a large one has the memory of that as its peak; so this small one
 * starts programs. */
static int run(char **words) {
    struct rusage used;
    siginfo_t ended;
    char path[64];
    unsigned long long read = 0;
    int status = 0;
    const double begin = bench_now();
    const pid_t child = fork();
    if (!child) {
        execvp(words[0], words);
        _exit(127);
    }
    waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT);
    const double seconds = bench_now() - begin;
    snprintf(path, sizeof path, "/proc/%ld/io", (long)child);
    FILE *io = fopen(path, "r");
    if (io && fscanf(io, "rchar: %llu", &read) != 1) read = 0;
    if (io) fclose(io);
    wait4(child, &status, 0, &used);
    fprintf(stderr, "%.6f %.6f %.0f %llu\n", seconds,
            (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec),
            1024.0 * (double)used.ru_maxrss, read);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

int main(int argc, char **argv) {
    bench_begin(argc, argv);
    if ((argc == 6 || argc == 7) && !strcmp(argv[1], "container")) return make_container(argv + 2);
    if (argc == 5 && !strcmp(argv[1], "index")) return make_index(argv + 2);
    if (argc >= 4 && argc <= 258 && !strcmp(argv[1], "join")) return join(argc - 2, argv + 2);
    if (argc == 4 && !strcmp(argv[1], "check")) return check(argv + 2);
    if (argc >= 3 && !strcmp(argv[1], "run")) return run(argv + 2);
    fprintf(stderr, "usage: bench_scale container LAYOUT NAMES IMAGES FILE [FIRST]\n"
                    "       bench_scale index IMAGES BITS FILE\n"
                    "       bench_scale join FILE INDEX...\n"
                    "       bench_scale check FILE IMAGE\n"
                    "       bench_scale run PROGRAM WORDS...\n");
    return 2;
}
