/* broadcast.c -- what paper_broadcast.py asks of the codecs:
 *
 *     paper_broadcast rungs CODEC STEP IMAGE...     every file that a sender may offer
 *     paper_broadcast file CODEC SCALE SETTING QUALITY IMAGE OUT    one of them, written
 *     paper_broadcast progressive QUALITY IMAGE OUT     a JPEG that can be cut
 *     paper_broadcast cuts CODEC FILE STEPS IMAGE...    a file cut in STEPS places
 *     paper_broadcast show CODEC SCALE IMAGE FILE...    what is seen of FILE, whole or cut
 *     paper_broadcast plot STEM TITLE X Y LOGS --out DIR    of lines: series, x, y
 *     paper_broadcast page --out DIR                    of lines, see pages.c
 *
 * CODEC: taper, jpeg, webp. Standard output has lines with tabs between the columns: rungs image,
 * scale, setting, quality, bytes, PSNR; cuts bytes, PSNR; show PSNR. */
#include "bench/paper-broadcast/broadcast.h"
#include "bench/bench.h"
#include "bench/figures/figures.h"
#include "formats/file.h"
#include "formats/image.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double qualities[] = {0,  1,  2,  3,  4,  5,  6,  8,  10, 12, 15,
                                   18, 22, 26, 30, 35, 40, 45, 50, 55, 60, 65,
                                   70, 75, 80, 84, 87, 90, 92, 94, 96, 98, 100};
enum { QUALITIES = sizeof qualities / sizeof *qualities, LARGEST_SCALE = 8 };

static size_t number(const char *word) { return strtoul(word, NULL, 10); }

static void list_rungs(const cli_rival *codec, size_t step, const char *path) {
    taper_image picture = broadcast_read(path);
    formats_buffer file = formats_buffer_make(FORMATS_MOST_BYTES);
    printf("%s\t0\t0\t0\t0\t%.6f\n", path, broadcast_show_nothing(&picture));
    for (unsigned scale = 1; scale <= LARGEST_SCALE; scale *= 2)
        for (unsigned setting = 0; setting < codec->n_settings; setting++)
            for (size_t q = 0; q < QUALITIES; q += step) {
                broadcast_rung rung = {codec, scale, picture.channels == 1 ? 0 : setting,
                                       qualities[q]};
                double psnr;
                formats_buffer_clear(&file);
                broadcast_code(&rung, &picture, &file, &psnr);
                printf("%s\t%u\t%u\t%g\t%zu\t%.6f\n", path, scale, setting, qualities[q], file.size,
                       psnr);
            }
    formats_buffer_free(&file);
    formats_image_free(&picture);
}

static void part_rungs(int argc, char **argv) {
    if (argc < 3 || number(argv[1]) < 1) figures_die("rungs CODEC STEP IMAGE...");
    const cli_rival *codec = broadcast_codec(argv[0]);
    for (int i = 2; i < argc; i++) list_rungs(codec, number(argv[1]), argv[i]);
}

static void part_file(int argc, char **argv) {
    if (argc != 6) figures_die("file CODEC SCALE SETTING QUALITY IMAGE OUT");
    broadcast_rung rung = {broadcast_codec(argv[0]), (unsigned)number(argv[1]),
                           (unsigned)number(argv[2]), strtod(argv[3], NULL)};
    taper_image picture = broadcast_read(argv[4]);
    formats_buffer file = formats_buffer_make(FORMATS_MOST_BYTES);
    broadcast_code(&rung, &picture, &file, NULL);
    figures_write(argv[5], file.data, file.size);
    formats_buffer_free(&file);
    formats_image_free(&picture);
}

static void part_progressive(int argc, char **argv) {
    if (argc != 3) figures_die("progressive QUALITY IMAGE OUT");
    taper_image picture = broadcast_read(argv[1]);
    formats_buffer file = formats_buffer_make(FORMATS_MOST_BYTES);
    broadcast_code_progressive(&picture, strtod(argv[0], NULL), &file);
    figures_write(argv[2], file.data, file.size);
    formats_buffer_free(&file);
    formats_image_free(&picture);
}

/* A file and how it is shown. rung.codec NULL: a container. */
typedef struct shown_file {
    broadcast_rung rung;
    uint8_t *bytes;
    size_t size;
} shown_file;

static shown_file read_file(const char *codec, unsigned scale, const char *path) {
    shown_file f = {.rung = {broadcast_codec(codec), scale, 0, 0}};
    taper_error error = {0};
    figures_check(formats_file_read(path, FORMATS_MOST_BYTES, &f.bytes, &f.size, &error), path,
                  &error);
    return f;
}

static void part_cuts(int argc, char **argv) {
    enum { FIRST = 64 };
    if (argc < 4 || number(argv[2]) < 2) figures_die("cuts CODEC FILE STEPS IMAGE...");
    shown_file f = read_file(argv[0], 1, argv[1]);
    size_t steps = number(argv[2]), pictures = (size_t)argc - 3, last = 0;
    taper_image *picture = figures_memory(pictures, sizeof *picture);
    for (size_t i = 0; i < pictures; i++) picture[i] = broadcast_read(argv[3 + i]);
    printf("0\t%.6f\n", broadcast_show(&f.rung, f.bytes, 0, picture, pictures));
    for (size_t i = 0; i < steps; i++) {
        double part = (double)i / (double)(steps - 1);
        size_t cut = (size_t)lround(FIRST * pow((double)f.size / FIRST, part));
        if (cut > f.size) cut = f.size;
        if (cut != last)
            printf("%zu\t%.6f\n", cut, broadcast_show(&f.rung, f.bytes, cut, picture, pictures));
        last = cut;
    }
    for (size_t i = 0; i < pictures; i++) formats_image_free(&picture[i]);
    free(picture);
    free(f.bytes);
}

static void part_show(int argc, char **argv) {
    if (argc < 4) figures_die("show CODEC SCALE IMAGE FILE...");
    taper_image picture = broadcast_read(argv[2]);
    for (int i = 3; i < argc; i++) {
        shown_file f = read_file(argv[0], (unsigned)number(argv[1]), argv[i]);
        printf("%.6f\n", broadcast_show(&f.rung, f.bytes, f.size, &picture, 1));
        free(f.bytes);
    }
    formats_image_free(&picture);
}

typedef struct part {
    const char *name;
    void (*run)(int argc, char **argv);
} part;

static const part parts[] = {
    {"rungs", part_rungs},   {"file", part_file}, {"progressive", part_progressive},
    {"cuts", part_cuts},     {"show", part_show}, {"plot", broadcast_plot},
    {"page", broadcast_page}};

int main(int argc, char **argv) {
    bench_begin(argc, argv);
    for (size_t i = 0; argc > 1 && i < sizeof parts / sizeof *parts; i++)
        if (strcmp(argv[1], parts[i].name) == 0) {
            parts[i].run(argc - 2, argv + 2);
            return fflush(stdout) == 0 ? 0 : 1;
        }
    fprintf(stderr, "usage: paper_broadcast rungs|file|progressive|cuts|show|plot|page ...; "
                    "bench/paper-broadcast/broadcast.c says what follows\n");
    return 2;
}
