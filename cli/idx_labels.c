/* idx_labels.c -- see idx_labels.h. */
#include "cli/idx_labels.h"
#include "formats/file.h"
#include "formats/images/idx.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool cli_is_gzip_name(const char *path) {
    size_t n = strlen(path);
    return n > 3 && !strcmp(path + n - 3, ".gz");
}

char *cli_idx_labels_path(const char *path) {
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *images = strstr(base, "images");
    size_t end = strlen(path);
    char *to = malloc(end + sizeof "-labels");
    if (!to) return NULL;
    memcpy(to, path, end + 1);
    if (images) {
        memcpy(to + (images - path), "labels", 6);
        char *kind = strstr(to + (images - path), "idx");
        if (kind && (kind[3] == '3' || kind[3] == '4')) kind[3] = '1';
        return to;
    }
    if (cli_is_gzip_name(base)) end -= 3;
    if (end > 4 && !strncmp(path + end - 4, ".idx", 4)) end -= 4;
    memcpy(to + end, "-labels", 7);
    memcpy(to + end + 7, path + end, strlen(path + end) + 1);
    return to;
}

static bool holds(const char *path, const uint8_t *label, size_t n) {
    enum { MOST = 1 << 30 };
    uint8_t *bytes = NULL, *held = NULL;
    size_t size = 0, count = 0;
    const bool is_read =
        formats_file_read(path, MOST, &bytes, &size, NULL) == TAPER_OK &&
        formats_idx_labels_decode(bytes, size, NULL, &held, &count, NULL) == TAPER_OK;
    const bool is_same = is_read && count == n && !memcmp(held, label, n);
    free(bytes), free(held);
    return is_same;
}

int cli_idx_labels_check(const cli_common *common, const char *path, const uint8_t *label,
                         size_t n) {
    struct stat there;
    if (!common->force || stat(path, &there) != 0 || !S_ISREG(there.st_mode)) return CLI_DONE;
    if (holds(path, label, n)) return CLI_DONE;
    cli_error("decode", path,
              "exists with other content, and is not the file that was named: it is not "
              "overwritten, even with -f; remove it, or give another -o");
    return CLI_IO;
}
