/* bench_front.c -- the front matter of a container of many tiny images: its size in one piece and
 * in pages, and the bytes that are read before the data of one image.
 *
 *     bench_front [IMAGES]
 *
 * No image is coded: sizes, names, labels and chunk lengths are drawn. IMAGES is 1,000,000 unless
 * given. Each image is 32 x 32 pixels of one of ten classes. One line a figure, as bench.h says. */
#include "bench/bench.h"
#include "codec/groups/assemble.h"
#include "formats/container.h"
#include "formats/leaf.h"
#include "formats/name_pages.h"
#include <stdlib.h>
#include <string.h>

enum { CLASSES = 10, TRIES = 200, RATE_CLASSES = 13, CLOSED_IMAGES = 1 << 14 };

typedef struct made_of {
    const char *layout;
    uint8_t number;                             /* of the layout */
    uint32_t layers, group_images, chunk_bytes; /* of a chunk, in the mean */
    const char *names;                          /* sorted, random */
    int rate_classes;                           /* 1: images are in several */
} made_of;

static const made_of kinds[] = {
    {"set", 0, 12, 1024, 12000, "sorted", 0}, {"set", 0, 12, 1024, 12000, "random", 0},
    {"image", 1, 1, 1, 150, "sorted", 0},     {"image", 1, 1, 1, 150, "random", 0},
    {"gallery", 2, 3, 1, 60, "sorted", 0},    {"set", 0, 34, 1024, 4000, "sorted", 1}};

static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return *state >> 33;
}

static void *take(size_t n, size_t size) {
    void *memory = calloc(n + 1, size);
    if (!memory) exit(1);
    return memory;
}

static void make_names(formats_front *f, int sorted, uint64_t *seed) {
    enum { MOST = 48 };
    size_t at = 0;
    f->names = take(f->images, MOST);
    f->name_at = take(f->images, sizeof *f->name_at);
    for (uint32_t i = 0; i < f->images; i++) {
        f->name_at[i] = (uint32_t)at;
        const int n = sorted ? snprintf(f->names + at, MOST, "class%u/image%07u.png",
                                        (unsigned)((uint64_t)i * CLASSES / f->images), i)
                             : snprintf(f->names + at, MOST, "%08llx%08llx.jpg",
                                        (unsigned long long)next_random(seed) * 2,
                                        (unsigned long long)next_random(seed) * 2);
        at += (size_t)n + 1;
    }
}

static void make_labels(formats_front *f) {
    enum { EACH = 8 };
    f->classes = CLASSES;
    f->class_names = take(CLASSES, EACH);
    f->class_name_at = take(CLASSES, sizeof *f->class_name_at);
    f->label = take(f->images, sizeof *f->label);
    for (uint32_t k = 0; k < CLASSES; k++) {
        f->class_name_at[k] = k * EACH;
        snprintf(f->class_names + k * EACH, EACH, "class%u", k);
    }
    for (uint32_t i = 0; i < f->images; i++)
        f->label[i] = (int32_t)((uint64_t)i * CLASSES / f->images);
}

/* Lengths of a sum of draws, so that most are near the mean. */
static void make_chunks(formats_front *f, uint32_t mean, uint64_t *seed) {
    const uint64_t chunks = (uint64_t)f->layers * f->groups;
    f->chunk_at = take((size_t)chunks, sizeof *f->chunk_at);
    for (uint64_t c = 0; c < chunks; c++) {
        uint64_t length = mean / 5;
        for (int k = 0; k < 4; k++) length += next_random(seed) % (2 * mean / 5 + 1);
        f->chunk_at[c + 1] = f->chunk_at[c] + length;
    }
    f->chunks_per_checksum = codec_checksum_span(f->layout, f->chunk_at[chunks], chunks);
    f->checksum = take((size_t)formats_front_checksums(f), sizeof *f->checksum);
    for (uint64_t i = 0; i < formats_front_checksums(f); i++)
        f->checksum[i] = (uint32_t)(next_random(seed) << 8 ^ next_random(seed));
}

/* Groups of one rate class in order. */
static void lay_out(formats_front *f, uint32_t each) {
    f->groups = (f->images + each - 1) / each;
    f->group_first = take(f->groups, sizeof *f->group_first);
    for (uint32_t g = 0; g < f->groups; g++) f->group_first[g] = g * each;
    f->group_first[f->groups] = f->images;
}

/* Images in rate classes at random; groups of all end together, as the encoder has them. */
static void lay_out_rate_classes(formats_front *f, uint32_t each, uint64_t *seed) {
    uint32_t placed = 0;
    f->rate_classes = RATE_CLASSES;
    f->image_rate_class = take(f->images, 1);
    f->group_rate_class = take(f->images, 1);
    f->group_first = take(f->images, sizeof *f->group_first);
    for (uint32_t first = 0; first < f->images; first += CLOSED_IMAGES) {
        uint32_t left[RATE_CLASSES] = {0};
        for (uint32_t i = first; i < f->images && i < first + CLOSED_IMAGES; i++) {
            const uint32_t t = (uint32_t)(next_random(seed) % 7 + next_random(seed) % 7);
            f->image_rate_class[i] = (uint8_t)t;
            left[t]++;
        }
        for (uint32_t t = 0; t < RATE_CLASSES; t++)
            for (uint32_t n; left[t]; left[t] -= n, placed += n) {
                n = left[t] < each ? left[t] : each;
                f->group_rate_class[f->groups] = (uint8_t)t;
                f->group_first[f->groups++] = placed;
            }
    }
    f->group_first[f->groups] = f->images;
    if (formats_front_place_images(f) != TAPER_OK) exit(1);
}

static formats_front make(const made_of *kind, uint32_t images, uint64_t *seed) {
    const uint32_t each = kind->group_images;
    formats_front f = {.model_id = 1,
                       .layout = kind->number,
                       .images = images,
                       .layers = kind->layers,
                       .rate_classes = 1};
    f.geometry = take(images, sizeof *f.geometry);
    for (uint32_t i = 0; i < images; i++) f.geometry[i] = (formats_geometry){32, 32, 3, 8, 0, 0};
    if (kind->rate_classes)
        lay_out_rate_classes(&f, each, seed);
    else
        lay_out(&f, each);
    f.layer_end = take((size_t)f.layers * f.rate_classes, sizeof *f.layer_end);
    for (uint32_t i = 0; i < f.layers * f.rate_classes; i++)
        f.layer_end[i] = 40 * (i / f.rate_classes + 1);
    make_chunks(&f, kind->chunk_bytes, seed);
    make_names(&f, !strcmp(kind->names, "sorted"), seed);
    make_labels(&f);
    return f;
}

static void say(const made_of *kind, uint32_t images, const char *metric, double value,
                const char *unit) {
    char config[200];
    snprintf(config, sizeof config,
             "{\"layout\":\"%s\",\"names\":\"%s\",\"rate_classes\":%u,\"images\":%u}", kind->layout,
             kind->names, kind->rate_classes ? RATE_CLASSES : 1u, images);
    bench_print("front", metric, value, unit, config);
}

static void need(taper_status status, const taper_error *error) {
    if (status == TAPER_OK) return;
    fprintf(stderr, "bench_front: %s\n", error->text);
    exit(1);
}

/* Bytes of the page of names that tells of a name, and of the leaves that it names up to the one
 * that has it. */
static uint64_t bytes_by_name(const formats_front *f, const formats_root *r, formats_front *shared,
                              const uint8_t *file, uint32_t image) {
    const char *name = formats_front_name(f, image);
    const uint32_t own = formats_root_leaf_of_image(r, image);
    uint32_t *leaves = NULL, n = 0;
    taper_error error = {0};
    if (r->find == FORMATS_FIND_ASCENDING)
        return formats_root_leaf_of_name(r, name) == own ? r->leaf[own + 1].at - r->leaf[own].at
                                                         : 0;
    const uint32_t hash = formats_root_hash(r, name), p = formats_root_page(r, hash);
    need(formats_name_page_find(r, shared, p, file + r->pages_at + r->page_at[p], hash, &leaves, &n,
                                &error),
         &error);
    uint64_t bytes = r->page_at[p + 1] - r->page_at[p];
    for (uint32_t j = 0; j < n; j++) {
        bytes += r->leaf[leaves[j] + 1].at - r->leaf[leaves[j]].at;
        if (leaves[j] == own) break;
    }
    free(leaves);
    return bytes;
}

/* What is read before the data of images drawn at random. */
static void count_reads(const made_of *kind, const formats_front *f, const formats_buffer *file,
                        uint64_t *seed) {
    formats_front shared;
    formats_root r;
    taper_error error = {0};
    double by_number = 0, most = 0, by_name = 0, most_by_name = 0, leaf = 0;
    need(formats_head_read(file->data, file->size, NULL, &shared, &r, &error), &error);
    if (!r.leaves) need(TAPER_ERR_ARG, &error);
    const double head = (double)r.leaves_at;
    for (int k = 0; k < TRIES; k++) {
        const uint32_t image = (uint32_t)(next_random(seed) % f->images),
                       own = formats_root_leaf_of_image(&r, image);
        const double size = (double)(r.leaf[own + 1].at - r.leaf[own].at);
        const double named = (double)bytes_by_name(f, &r, &shared, file->data, image);
        leaf += size / TRIES;
        by_number += (head + size) / TRIES, by_name += (head + named) / TRIES;
        most = head + size > most ? head + size : most;
        most_by_name = head + named > most_by_name ? head + named : most_by_name;
    }
    const uint8_t *table = file->data + FORMATS_HEADER_SIZE;
    say(kind, f->images, "root", (double)formats_get_u64le(table + 8), "bytes");
    say(kind, f->images, "leaves", r.leaves, "leaves");
    say(kind, f->images, "leaf", leaf, "bytes in the mean");
    say(kind, f->images, "before_image_by_number", by_number, "bytes in the mean");
    say(kind, f->images, "before_image_by_number_most", most, "bytes");
    say(kind, f->images, "before_image_by_name", by_name, "bytes in the mean");
    say(kind, f->images, "before_image_by_name_most", most_by_name, "bytes");
    formats_front_free(&shared), formats_root_free(&r);
}

static void measure(const made_of *kind, uint32_t images) {
    uint64_t seed = 17;
    taper_error error = {0};
    formats_front f = make(kind, images, &seed), back;
    formats_buffer one = formats_buffer_make(FORMATS_MOST_BYTES),
                   paged = formats_buffer_make(FORMATS_MOST_BYTES);
    need(formats_front_write_paged(&f, UINT32_MAX, &one, &error), &error);
    double begin = bench_now();
    need(formats_front_write(&f, &paged, &error), &error);
    say(kind, images, "write", bench_now() - begin, "s");
    begin = bench_now();
    need(formats_front_read(paged.data, paged.size, NULL, &back, &error), &error);
    say(kind, images, "read_all", bench_now() - begin, "s");
    formats_front_free(&back);
    begin = bench_now();
    need(formats_front_read(one.data, one.size, NULL, &back, &error), &error);
    say(kind, images, "read_one_piece", bench_now() - begin, "s");
    formats_front_free(&back);
    say(kind, images, "front_one_piece", (double)one.size, "bytes");
    say(kind, images, "front_paged", (double)paged.size, "bytes");
    count_reads(kind, &f, &paged, &seed);
    formats_front_free(&f);
    formats_buffer_free(&one), formats_buffer_free(&paged);
}

int main(int argc, char **argv) {
    bench_begin(argc, argv);
    const long images = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
    if (images < 2000 || images > 50000000) {
        fprintf(stderr, "usage: bench_front [IMAGES], 2000 to 50000000\n");
        return 2;
    }
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) measure(&kinds[k], (uint32_t)images);
    return 0;
}
