/* million.c -- a container of many images, for gallery.py: those of a small container, again and
 * again, with other names.
 *
 *     million FROM TO IMAGES hashes|numbers
 *
 * FROM has layout image or gallery, one rate class, no pixel layers; if it is cut, all images are.
 * Nothing is coded. */
#include "codec/groups/assemble.h"
#include "formats/container.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 40 };

static void need(int is_right, const char *what) {
    if (is_right) return;
    fprintf(stderr, "million: %s\n", what);
    exit(1);
}

static void *take(size_t n, size_t size) {
    void *memory = calloc(n + 1, size);
    need(memory != NULL, "no memory");
    return memory;
}

static uint8_t *read_all(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    need(file && !fseek(file, 0, SEEK_END), "cannot read the container");
    *size = (size_t)ftell(file);
    uint8_t *bytes = take(*size, 1);
    need(!fseek(file, 0, SEEK_SET) && fread(bytes, 1, *size, file) == *size, "cannot read it");
    fclose(file);
    return bytes;
}

static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return *state >> 32 << 32 | (*state * 0x9E3779B97F4A7C15ull) >> 32;
}

static void make_names(formats_front *f, int hashes) {
    uint64_t seed = 17;
    size_t at = 0;
    f->names = take(f->images, NAME);
    f->name_at = take(f->images, sizeof *f->name_at);
    for (uint32_t i = 0; i < f->images; i++) {
        const unsigned long long a = next_random(&seed), b = next_random(&seed);
        f->name_at[i] = (uint32_t)at;
        at += 1 + (size_t)(hashes ? snprintf(f->names + at, NAME, "%016llx%016llx.jpg", a, b)
                                  : snprintf(f->names + at, NAME, "image%07u.jpg", i));
    }
}

/* The front matter of the repeated images, but for checksums and names. */
static formats_front repeat(const formats_front *of, uint32_t images) {
    formats_front f = *of;
    f.images = f.groups = images;
    f.geometry = take(images, sizeof *f.geometry);
    f.group_first = take(images, sizeof *f.group_first);
    f.label = of->label ? take(images, sizeof *f.label) : NULL;
    for (uint32_t i = 0; i < images; i++) {
        f.geometry[i] = of->geometry[i % of->images], f.group_first[i] = i;
        if (f.label) f.label[i] = of->label[i % of->images];
    }
    f.group_first[images] = images;
    const size_t chunks = (size_t)f.layers * images;
    f.chunk_at = take(chunks, sizeof *f.chunk_at);
    for (size_t c = 0; c < chunks; c++) {
        const size_t from = c / images * of->groups + c % images % of->groups;
        f.chunk_at[c + 1] = f.chunk_at[c] + of->chunk_at[from + 1] - of->chunk_at[from];
    }
    f.holds = 0;
    f.chunks_per_checksum = codec_checksum_span(f.layout, f.chunk_at[chunks], chunks);
    f.checksum = take((size_t)formats_front_checksums(&f), sizeof *f.checksum);
    return f;
}

/* Write the data, and make the checksums. to NULL: only these. */
static void copy_data(formats_front *f, const formats_front *of, const uint8_t *data, FILE *to) {
    uint32_t *sum = f->checksum;
    for (uint32_t layer = 0; layer < f->layers; layer++)
        for (uint32_t g = 0; g < f->groups; g++) {
            const uint64_t *at = of->chunk_at + (size_t)layer * of->groups + g % of->groups;
            const size_t n = (size_t)(at[1] - at[0]);
            if (to) need(fwrite(data + at[0], 1, n, to) == n, "cannot write");
            if (g && g % f->chunks_per_checksum == 0) sum++;
            if (!to) *sum = formats_crc32c(*sum, data + at[0], n);
            if (g + 1 == f->groups) sum++;
        }
}

int main(int argc, char **argv) {
    size_t size;
    formats_front of;
    taper_error error = {0};
    formats_buffer front = formats_buffer_make(FORMATS_MOST_BYTES);
    if (argc != 5) {
        fprintf(stderr, "usage: million FROM TO IMAGES hashes|numbers\n");
        return 2;
    }
    const uint8_t *bytes = read_all(argv[1], &size);
    need(formats_front_read(bytes, size, NULL, &of, &error) == TAPER_OK, error.text);
    need(of.layout && of.rate_classes == 1 && !of.has_pixels && !of.first_cut,
         "it has another form");
    formats_front f = repeat(&of, (uint32_t)strtoul(argv[3], NULL, 10));
    make_names(&f, argv[4][0] == 'h');
    copy_data(&f, &of, bytes + of.front_size, NULL);
    need(formats_front_write(&f, &front, &error) == TAPER_OK, error.text);
    FILE *to = fopen(argv[2], "wb");
    need(to && fwrite(front.data, 1, front.size, to) == front.size, "cannot write");
    copy_data(&f, &of, bytes + of.front_size, to);
    need(fclose(to) == 0, "cannot write");
    return 0; /* the system takes the memory */
}
