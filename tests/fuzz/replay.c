/* replay.c -- a driver for a fuzz target without libFuzzer: runs it on the files given, folders
 * with all that lies below them, and prints how many that were. Exit code 0; 1 when there was no
 * file, 2 when one could not be read. A target that finds something aborts, so the last name
 * printed with -v is the culprit. */
#include "formats/file.h"
#include "formats/imageset/folder_walk.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

typedef struct replay {
    size_t files, failures;
    int verbose;
} replay;

static void run_file(replay *r, const char *path) {
    uint8_t *bytes;
    size_t n;
    taper_error error;
    if (r->verbose) {
        printf("%s\n", path);
        fflush(stdout);
    }
    if (formats_file_read(path, (uint64_t)1 << 30, &bytes, &n, &error) != TAPER_OK) {
        fprintf(stderr, "%s: %s\n", path, error.text);
        r->failures++;
        return;
    }
    /* exactly n bytes, so that a sanitizer sees a read behind the end */
    uint8_t *exact = malloc(n ? n : 1);
    if (!exact) abort();
    memcpy(exact, bytes, n);
    free(bytes);
    LLVMFuzzerTestOneInput(exact, n);
    free(exact);
    r->files++;
}

static void run_folder(replay *r, const char *folder) {
    formats_path_list list;
    taper_error error;
    if (formats_folder_walk(folder, UINT64_MAX, 0, &list, NULL, NULL, &error) != TAPER_OK) {
        fprintf(stderr, "%s: %s\n", folder, error.text);
        r->failures++;
        return;
    }
    for (size_t i = 0; i < list.count; i++) {
        char *path = formats_path_join(folder, list.paths[i]);
        if (!path) abort();
        run_file(r, path);
        free(path);
    }
    formats_path_list_free(&list);
}

int main(int argc, char **argv) {
    replay r = {0};
    for (int i = 1; i < argc; i++) {
        struct stat st;
        if (strcmp(argv[i], "-v") == 0)
            r.verbose = 1;
        else if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode))
            run_folder(&r, argv[i]);
        else
            run_file(&r, argv[i]);
    }
    printf("%zu files run\n", r.files);
    return r.failures ? 2 : r.files ? 0 : 1;
}
