/* imageset_inputs.c -- see imageset_inputs.h. */
#include "formats/imageset/imageset_inputs.h"
#include "formats/imageset/archive_inputs.h"
#include "formats/imageset/folder_walk.h"
#include "formats/path_lines.h"
#include "formats/imageset/recognise.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void report_failure(list_builder *b, const char *path, const taper_error *why) {
    formats_report_skip(b, FORMATS_SKIP_FAILED, path, why);
}

/* Report a path that cannot be opened, from errno. */
static taper_status cannot_open(list_builder *b, const char *path, int errnum) {
    taper_error why;
    taper_status status = formats_fail_errno(&why, errnum, "open");
    if (errnum == ENOENT && strstr(path, "://"))
        formats_fail(&why, status, "images are not read by URL; download the file, and name that");
    if (!formats_errno_is_of_path(errnum)) return formats_skip_or_fail(b, path, status, &why);
    report_failure(b, path, &why);
    return TAPER_OK;
}

static size_t base_name_at(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* A file that may be an archive. */
static taper_status add_archive(list_builder *b, candidate *c) {
    const int descriptor = open(c->file.path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return cannot_open(b, c->file.path, errno);
    const taper_status status = formats_imageset_add_archive(b, descriptor, c);
    close(descriptor);
    return status;
}

static taper_status add_regular_file(list_builder *b, const char *path, size_t relative_at,
                                     int below_folder) {
    candidate c = {.file = {.path = (char *)path,
                            .relative_at = relative_at,
                            .below_folder = (uint8_t)below_folder},
                   .may_be_cifar = formats_has_extension(path, ".bin")};
    taper_error why;
    taper_status status = formats_file_peek(path, c.front, sizeof c.front, &c.front_size, &why);
    if (status == TAPER_ERR_IO && formats_errno_is_of_path(errno)) {
        report_failure(b, path, &why);
        return TAPER_OK;
    }
    if (status != TAPER_OK) return formats_skip_or_fail(b, path, status, &why);
    if (!below_folder && formats_is_archive(c.front, c.front_size)) return add_archive(b, &c);
    return formats_add_candidate(b, &c);
}

/* Read up to n bytes from the start of a stream. -1 with errno. */
static ssize_t read_front(int descriptor, uint8_t *to, size_t n) {
    size_t size = 0;
    while (size < n) {
        const ssize_t got = read(descriptor, to + size, n - size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (!got) break;
        size += (size_t)got;
    }
    return (ssize_t)size;
}

/* The bytes of a stream: its front, which was read, and the rest. */
static taper_status read_all(list_builder *b, int descriptor, const candidate *c, uint8_t **held,
                             size_t *size, taper_error *why) {
    uint8_t *rest;
    const taper_limits left = formats_limits_minus(&b->list->limits, c->front_size);
    TAPER_TRY(formats_descriptor_read(descriptor, &left, &rest, size, why));
    uint8_t *all = realloc(rest, *size + c->front_size + 1);
    if (!all) {
        free(rest);
        return formats_fail(why, TAPER_ERR_NOMEM, "no memory to hold the file");
    }
    memmove(all + c->front_size, all, *size);
    memcpy(all, c->front, c->front_size);
    *held = all, *size += c->front_size;
    return TAPER_OK;
}

/* Read a stream to its end into memory: it can be read only once. Archives are read member by
 * member. */
static taper_status add_stream(list_builder *b, int descriptor, const char *path,
                               size_t relative_at) {
    candidate c = {.file = {.path = (char *)path, .relative_at = relative_at}, .may_be_cifar = 1};
    taper_error why;
    uint8_t *held = NULL;
    size_t size;
    const ssize_t got = read_front(descriptor, c.front, sizeof c.front);
    if (got < 0) {
        const taper_status failed = formats_fail_errno(&why, errno, "read");
        return formats_skip_or_fail(b, path, failed, &why);
    }
    c.front_size = (size_t)got;
    if (formats_is_archive(c.front, c.front_size))
        return formats_imageset_add_archive(b, descriptor, &c);
    const taper_status status = read_all(b, descriptor, &c, &held, &size, &why);
    if (status != TAPER_OK) return formats_skip_or_fail(b, path, status, &why);
    c.pack = formats_image_pack_over(held, size);
    return c.pack ? formats_add_candidate(b, &c) : formats_no_memory_to_list(b->error);
}

static taper_status add_special_file(list_builder *b, const char *path) {
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return cannot_open(b, path, errno);
    taper_status status = add_stream(b, descriptor, path, base_name_at(path));
    close(descriptor);
    return status;
}

static void on_folder_problem(void *user, formats_folder_problem what, const char *path,
                              const taper_error *why) {
    static const formats_skip skips[] = {
        [FORMATS_FOLDER_FAILED] = FORMATS_SKIP_FAILED,
        [FORMATS_FOLDER_OTHER] = FORMATS_SKIP_NO_IMAGE,
        [FORMATS_FOLDER_LINK] = FORMATS_SKIP_LINK,
        [FORMATS_FOLDER_HIDDEN] = FORMATS_SKIP_HIDDEN,
    };
    formats_report_skip(user, skips[what], path, why);
}

static taper_status add_folder(list_builder *b, const char *folder) {
    formats_path_list list;
    size_t before = b->list->count, failed_before = b->failed, hidden_before = b->hidden;
    TAPER_TRY(formats_folder_walk(folder, b->list->limits.max_images, b->follow_links, &list,
                                  on_folder_problem, b, b->error));
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < list.count && status == TAPER_OK; i++) {
        char *path = formats_path_join(folder, list.paths[i]);
        status = path ? add_regular_file(b, path, strlen(path) - strlen(list.paths[i]), 1)
                      : formats_no_memory_to_list(b->error);
        free(path);
    }
    size_t files = list.count;
    formats_path_list_free(&list);
    if (status == TAPER_OK && b->failed == failed_before && b->list->count == before) {
        taper_error why;
        formats_fail(&why, TAPER_ERR_ARG, "the folder holds no %s%s", files ? "image" : "file",
                     b->hidden > hidden_before ? " that is not hidden; name hidden ones" : "");
        report_failure(b, folder, &why);
    }
    return status;
}

static taper_status add_path(list_builder *b, const char *path, size_t relative_at) {
    struct stat st;
    if (stat(path, &st) != 0) return cannot_open(b, path, errno);
    if (S_ISDIR(st.st_mode)) return add_folder(b, path);
    if (S_ISREG(st.st_mode)) return add_regular_file(b, path, relative_at, 0);
    return add_special_file(b, path);
}

taper_status formats_imageset_add_input(list_builder *b, const char *path) {
    b->inputs++;
    if (strcmp(path, "-") != 0) return add_path(b, path, base_name_at(path));
    /* messages say "standard input", the image's name becomes "input" */
    return add_stream(b, STDIN_FILENO, "standard input", strlen("standard "));
}

static taper_status add_listed(void *user, const char *path, size_t relative_at) {
    list_builder *b = user;
    b->inputs++;
    return add_path(b, path, relative_at);
}

taper_status formats_imageset_add_list(list_builder *b, const char *list_path, int null_ended) {
    return formats_path_lines_read(
        list_path, null_ended, "give --null if its names end in them, as those of `find -print0`",
        &b->list->limits, add_listed, b, b->error);
}
