/* scratch.h -- a temporary folder for a test's files. Include after cmocka.h. */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SCRATCH_PATH = 512 };

static inline void scratch_make(char folder[SCRATCH_PATH]) {
    const char *base = getenv("TMPDIR");
    int n = snprintf(folder, SCRATCH_PATH, "%s/taper-test-XXXXXX", base && base[0] ? base : "/tmp");
    assert_true(n > 0 && n < SCRATCH_PATH / 2);
    assert_non_null(mkdtemp(folder));
}

/* Remove a folder and everything below it; links are removed, not followed. */
static inline void scratch_remove(const char *folder) {
    DIR *dir = opendir(folder);
    if (!dir) return;
    for (const struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        char path[4 * SCRATCH_PATH];
        struct stat st;
        int n = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (n < 0 || (size_t)n >= sizeof path) continue;
        if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
            scratch_remove(path);
        else
            unlink(path);
    }
    closedir(dir);
    rmdir(folder);
}

/* A path in the folder. */
static inline const char *scratch_join(char path[SCRATCH_PATH], const char *folder,
                                       const char *name) {
    int n = snprintf(path, SCRATCH_PATH, "%s/%s", folder, name);
    assert_true(n > 0 && n < SCRATCH_PATH);
    return path;
}

/* The same; creates missing folders. */
static inline const char *scratch_path(char path[SCRATCH_PATH], const char *folder,
                                       const char *name) {
    scratch_join(path, folder, name);
    for (char *slash = strchr(path + strlen(folder) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
    return path;
}

static inline void scratch_write(const char *folder, const char *name, const void *bytes,
                                 size_t n) {
    char path[SCRATCH_PATH];
    FILE *file = fopen(scratch_path(path, folder, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

/* Number of entries of a folder, including dot files. */
static inline int scratch_count(const char *folder) {
    DIR *dir = opendir(folder);
    int n = 0;
    assert_non_null(dir);
    for (const struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
        n += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
    closedir(dir);
    return n;
}

#endif
