/* alike.c -- the images of an index that are most like one of them: `alike INDEX.tpx IMAGE [K]`,
 * IMAGE a name or a number. The file is mapped, not read: what a search does not look at is never
 * fetched from the disk, and all processes that map it share its pages.
 * Outside this tree: #include <taper.h>, cc alike.c -ltaper */
#define _POSIX_C_SOURCE 200809L
#include "codec/taper.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const void *map(const char *path, size_t *size) {
    struct stat st;
    const int file = open(path, O_RDONLY);
    const int is_there = file >= 0 && fstat(file, &st) == 0 && st.st_size > 0;
    *size = is_there ? (size_t)st.st_size : 0;
    void *bytes = is_there ? mmap(NULL, *size, PROT_READ, MAP_SHARED, file, 0) : MAP_FAILED;
    if (file >= 0) close(file);
    return bytes == MAP_FAILED ? NULL : bytes;
}

/* The image of this name, or of this number; the number of images where there is none. */
static uint64_t find(const taper_index *index, uint64_t images, const char *which) {
    char *end;
    for (uint64_t i = 0; i < images; i++) {
        const char *name = taper_index_name(index, i);
        if (name && !strcmp(name, which)) return i;
    }
    const uint64_t number = strtoull(which, &end, 10);
    return *which && !*end && number < images ? number : images;
}

/* The k images nearest to its code, itself among them. */
static taper_status search(const taper_index *index, uint64_t image, size_t k, uint64_t *code,
                           uint32_t *images, uint32_t *distances, taper_error *error) {
    taper_status status = taper_index_image_code(index, image, code, error);
    const taper_index_search of = {
        .size = sizeof of, .queries = code, .n_queries = 1, .k = k, .threads = 1};
    if (!status) status = taper_index_nearest(index, &of, images, distances, NULL, error);
    return status;
}

static int show(const taper_index *index, const char *which, size_t k) {
    taper_index_info info = {.size = sizeof info};
    taper_error error = {0};
    if (taper_index_get_info(index, &info, &error))
        return fprintf(stderr, "alike: %s\n", error.text), 1;
    const uint64_t image = find(index, info.images, which);
    if (k > info.images) k = (size_t)info.images;
    uint64_t *code = malloc((info.bits + 63) / 64 * sizeof *code);
    uint32_t *images = malloc(k * sizeof *images), *distances = malloc(k * sizeof *distances);
    taper_status status = code && images && distances ? TAPER_OK : TAPER_ERR_NOMEM;
    if (image == info.images) fprintf(stderr, "alike: no image %s in this index\n", which);
    if (!status && image < info.images)
        status = search(index, image, k, code, images, distances, &error);
    if (status) fprintf(stderr, "alike: %s\n", error.text);
    for (size_t j = 0; !status && image < info.images && j < k && images[j] != UINT32_MAX; j++) {
        const char *name = taper_index_name(index, images[j]);
        printf("%u %u %s\n", distances[j], images[j], name ? name : "");
    }
    free(code), free(images), free(distances);
    return status || image == info.images;
}

int main(int argc, char **argv) {
    size_t size;
    taper_index *index = NULL;
    taper_error error = {0};
    const long k = argc > 3 ? strtol(argv[3], NULL, 10) : 10;
    if (argc < 3 || k < 1) return fprintf(stderr, "usage: alike INDEX.tpx IMAGE [K]\n"), 2;
    const void *bytes = map(argv[1], &size);
    if (!bytes) return fprintf(stderr, "alike: cannot map %s\n", argv[1]), 1;
    if (taper_index_open(&index, bytes, size, NULL, &error)) {
        fprintf(stderr, "alike: %s: %s\n", argv[1], error.text);
        return 1;
    }
    const int code = show(index, argv[2], (size_t)k);
    taper_index_close(index);
    munmap((void *)(uintptr_t)bytes, size);
    return code;
}
