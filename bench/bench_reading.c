/* bench_reading.c -- reads and decodes all images of files and folders, and does nothing else: what
 * bench/duplicates.py measures beside.
 *
 *     bench_reading THREADS PATH... */
#include "cli/common/heap.h"
#include "cli/common/readahead.h"
#include "formats/image.h"
#include <stdio.h>
#include <stdlib.h>

static int fail(const taper_error *error) {
    fprintf(stderr, "bench_reading: %s\n", error->text);
    return 1;
}

int main(int argc, char **argv) {
    const formats_imageset_options options = {.filelist = NULL};
    formats_imageset *set;
    cli_readahead *ahead;
    taper_error error = {0};
    size_t read = 0;
    cli_heap_keep();
    if (argc < 3) return fprintf(stderr, "usage: bench_reading THREADS PATH...\n"), 2;
    const unsigned threads = (unsigned)strtoul(argv[1], NULL, 10);
    if (formats_imageset_open(&set, (const char *const *)argv + 2, (size_t)argc - 2, &options, NULL,
                              NULL, &error))
        return fail(&error);
    if (cli_readahead_new(&ahead, set, threads, 0, &error)) return fail(&error);
    for (size_t i = 0; i < formats_imageset_count(set); i++) {
        taper_image image;
        if (cli_readahead_next(ahead, &image, NULL, &error)) continue;
        formats_image_free(&image);
        read++;
    }
    printf("%zu\n", read);
    cli_readahead_free(ahead);
    formats_imageset_close(set);
    return 0;
}
