/* path_lines.c -- see path_lines.h. */
#include "formats/path_lines.h"
#include "formats/file.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct lines {
    char *folder; /* of the list; ends in '/' or is empty */
    formats_take_path *take;
    void *user;
    taper_error *error;
} lines;

static taper_status take_line(const lines *of, const char *line, size_t n) {
    const size_t before = *line == '/' ? 0 : strlen(of->folder);
    char *path = malloc(before + n + 1);
    if (!path) return formats_fail(of->error, TAPER_ERR_NOMEM, "no memory for a list of files");
    memcpy(path, of->folder, before);
    memcpy(path + before, line, n);
    path[before + n] = '\0';
    const taper_status status = of->take(of->user, path, before);
    free(path);
    return status;
}

static taper_status take_lines(const lines *of, const char *at, size_t size, int null_ended) {
    const char *end = at + size;
    taper_status status = TAPER_OK;
    while (at < end && status == TAPER_OK) {
        const char *stop = memchr(at, null_ended ? '\0' : '\n', (size_t)(end - at));
        if (!stop) stop = end;
        size_t n = (size_t)(stop - at);
        if (n && !null_ended && at[n - 1] == '\r') n--;
        if (n) status = take_line(of, at, n);
        at = stop < end ? stop + 1 : end;
    }
    return status;
}

taper_status formats_path_lines_read(const char *list_path, int null_ended, const char *remedy,
                                     const taper_limits *limits, formats_take_path *take,
                                     void *user, taper_error *error) {
    uint8_t *bytes;
    size_t size;
    taper_error why;
    const int is_stdin = strcmp(list_path, "-") == 0;
    taper_status status = is_stdin
                              ? formats_descriptor_read(STDIN_FILENO, limits, &bytes, &size, &why)
                              : formats_file_read_within(list_path, limits, &bytes, &size, &why);
    if (is_stdin) list_path = "standard input"; /* relative to the current folder */
    if (status != TAPER_OK)
        return formats_fail_as(error, status, &why, "file list '%.120s': %.120s", list_path,
                               why.text);
    const char *slash = strrchr(list_path, '/');
    const lines of = {.folder = strndup(list_path, slash ? (size_t)(slash - list_path) + 1 : 0),
                      .take = take,
                      .user = user,
                      .error = error};
    if (!of.folder)
        status = formats_fail(error, TAPER_ERR_NOMEM, "no memory for a list of files");
    else if (!null_ended && memchr(bytes, '\0', size))
        status = formats_fail(error, TAPER_ERR_CORRUPT, "file list '%.120s' has NUL bytes; %s",
                              list_path, remedy);
    else
        status = take_lines(&of, (const char *)bytes, size, null_ended);
    free(of.folder);
    free(bytes);
    return status;
}
