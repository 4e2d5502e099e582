/* own_report.c -- see own_report.h. */
#define _GNU_SOURCE /* memmem */
#include "cli/compare/own_report.h"
#include "formats/file.h"
#include "formats/imageset/folder_walk.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

const char *const cli_report_files[] = {"index.html",  "rd.csv",     "rd.svg",
                                        "rd.png",      "rd.gp",      "ms_ssim.svg",
                                        "ms_ssim.png", "ms_ssim.gp", NULL};

/* OF_ITSELF: length of the last line of the page, made by self_line */
enum { LINE = 64, OF_ITSELF = sizeof "<!-- all above: 0123456789abcdef -->\n" - 1 };
static const char heading[] = "<!-- taper compare wrote these files:\n";

static void self_line(const char *page, size_t n, char line[LINE]) {
    snprintf(line, LINE, "<!-- all above: %016llx -->\n", (unsigned long long)XXH3_64bits(page, n));
}

typedef struct file_in {
    bool is_there;
    uint8_t *bytes; /* NULL: it cannot be read */
    size_t n;
} file_in;

static file_in read_file(const char *folder, const char *name) {
    enum { MOST = 1 << 30 };
    file_in file = {.is_there = true};
    char *path = formats_path_join(folder, name);
    struct stat st = {0};
    if (path) file.is_there = lstat(path, &st) == 0;
    if (path && S_ISREG(st.st_mode) && /* a link leads to a file that is not part of the report */
        formats_file_read(path, MOST, &file.bytes, &file.n, NULL) != TAPER_OK)
        file.bytes = NULL;
    free(path);
    return file;
}

/* "rd.csv 0123456789abcdef\n" */
static void file_line(const char *name, const file_in *file, char line[LINE]) {
    snprintf(line, LINE, "%s %016llx\n", name,
             (unsigned long long)XXH3_64bits(file->bytes, file->n));
}

taper_status cli_own_report_seal(char **text, size_t *n, const char *folder, taper_error *error) {
    enum { MOST_FILES = 16 };
    char *more = realloc(*text, *n + sizeof heading + (MOST_FILES + 2) * LINE), line[LINE];
    if (!more) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the page");
    *text = more;
    char *to = more + *n;
    to = stpcpy(to, heading);
    for (size_t i = 1; cli_report_files[i]; i++) {
        file_in file = read_file(folder, cli_report_files[i]);
        if (file.bytes) file_line(cli_report_files[i], &file, line), to = stpcpy(to, line);
        free(file.bytes);
    }
    to = stpcpy(to, "-->\n");
    self_line(more, (size_t)(to - more), line);
    to = stpcpy(to, line);
    *n = (size_t)(to - more);
    return TAPER_OK;
}

/* True if the hashes on the page match the page and this file. */
static bool is_page(const file_in *page) {
    char line[LINE];
    if (!page->bytes || page->n < OF_ITSELF) return false;
    self_line((const char *)page->bytes, page->n - OF_ITSELF, line);
    return !memcmp(page->bytes + page->n - OF_ITSELF, line, OF_ITSELF);
}

static bool is_listed(const file_in *page, const char *name, const file_in *file) {
    char line[LINE];
    const size_t tail =
        page->n < 1024 ? page->n : 1024; /* bytes at the end that contain the list */
    if (!file->bytes) return false;
    file_line(name, file, line);
    return memmem(page->bytes + page->n - tail, tail, line, strlen(line)) != NULL;
}

const char *cli_own_report_foreign(const char *folder) {
    file_in page = read_file(folder, cli_report_files[0]);
    const bool has_page = is_page(&page);
    const char *foreign = page.is_there && !has_page ? cli_report_files[0] : NULL;
    for (size_t i = 1; cli_report_files[i] && !foreign; i++) {
        file_in file = read_file(folder, cli_report_files[i]);
        if (file.is_there && !(has_page && is_listed(&page, cli_report_files[i], &file)))
            foreign = cli_report_files[i];
        free(file.bytes);
    }
    free(page.bytes);
    return foreign;
}
