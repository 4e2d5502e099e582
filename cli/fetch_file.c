/* fetch_file.c -- see fetch_file.h. */
#include "cli/fetch_file.h"
#include "cli/common/outputs.h"
#include "cli/common/progress.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 16, TAIL = 4096, MOST_COMPARED = 1 << 20 };

/* --- what is there --- */

/* True if bytes at .. end - 1 of the file are those of the source. */
static bool is_alike(const cli_fetch_file *f, int descriptor, uint64_t at, uint64_t end,
                     uint8_t *room, taper_error *error) {
    for (uint64_t n; at < end; at += n) {
        n = end - at < PIECE ? end - at : PIECE;
        if (formats_source_read(&f->stream->source, at, room, (size_t)n, error) != TAPER_OK ||
            formats_descriptor_read_at(descriptor, at, room + PIECE, (size_t)n) != TAPER_OK ||
            memcmp(room, room + PIECE, (size_t)n) != 0)
            return false;
    }
    return true;
}

/* True if the file is a beginning of the source: its front, which has the checksums of all that
 * follows, and its end are compared. */
static bool is_beginning(const cli_fetch_file *f, int descriptor, uint64_t size,
                         taper_error *error) {
    uint8_t *room = malloc(2 * (size_t)PIECE);
    if (!room || size > f->stream->source.size) {
        free(room);
        return false;
    }
    uint64_t front = f->front < MOST_COMPARED ? f->front : MOST_COMPARED;
    if (front > size) front = size;
    const uint64_t tail = size < TAIL || size - TAIL < front ? front : size - TAIL;
    const bool is = is_alike(f, descriptor, 0, front, room, error) &&
                    is_alike(f, descriptor, tail, size, room, error);
    free(room);
    return is;
}

/* Open a file that is there already. *descriptor: -1: there is none, or it is another file, which
 * -f replaces. */
static int open_begun(const cli_fetch_file *f, int *descriptor, uint64_t *size) {
    struct stat st;
    taper_error error = {0};
    *descriptor = -1, *size = 0;
    if (stat(f->path, &st) != 0) return CLI_DONE;
    if (!S_ISREG(st.st_mode)) {
        cli_error("fetch", f->path, "is no regular file; give another name with -o");
        return CLI_USAGE;
    }
    const int opened = open(f->path, O_RDWR | O_APPEND | O_CLOEXEC);
    if (opened < 0)
        return cli_fail("fetch", f->path, formats_fail_errno(&error, errno, "open"), &error);
    if (is_beginning(f, opened, (uint64_t)st.st_size, &error)) {
        *descriptor = opened;
        *size = (uint64_t)st.st_size;
        return CLI_DONE;
    }
    close(opened);
    if (error.status != TAPER_OK) return cli_fail("fetch", f->url, error.status, &error);
    if (f->common->force) return CLI_DONE;
    cli_error("fetch", f->path,
              "exists, and is no beginning of the file behind the URL; give -f to replace it, or "
              "another name with -o");
    return CLI_IO;
}

/* --- copying --- */

/* Copy from *at on, until everything or the time has come to its end. What a piece lacks at that
 * moment is not written. */
static taper_status copy(const cli_fetch_file *f, const taper_sink *to, uint64_t *at,
                         taper_error *error) {
    const uint64_t all = f->bytes, most = f->front > PIECE ? f->front : PIECE;
    cli_progress progress;
    uint8_t *bytes = malloc((size_t)most);
    if (!bytes) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to fetch a file");
    taper_status status = TAPER_OK;
    cli_progress_start(&progress, f->common, "fetching", all, "bytes");
    cli_progress_set(&progress, *at);
    while (*at < all && status == TAPER_OK && !remote_is_late(f->stream->remote)) {
        /* first the whole front matter, so that the file is a container from its first moment */
        uint64_t n = *at < f->front ? f->front - *at : f->seconds > 0 ? PIECE / 4 : PIECE;
        if (n > all - *at) n = all - *at;
        status = formats_source_read(&f->stream->source, *at, bytes, (size_t)n, error);
        if (status == TAPER_OK) status = to->write(to->user, bytes, (size_t)n);
        if (status == TAPER_OK) *at += n;
        cli_progress_set(&progress, *at);
    }
    cli_progress_end(&progress);
    free(bytes);
    return status == TAPER_ERR_TRUNCATED && remote_is_late(f->stream->remote) ? TAPER_OK : status;
}

/* A file that is created when the first bytes come. */
typedef struct growing {
    const cli_fetch_file *f;
    int descriptor;
    taper_error error;
} growing;

static taper_status grow(void *user, const void *bytes, size_t n) {
    growing *g = user;
    if (g->descriptor < 0)
        g->descriptor = open(g->f->path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (g->descriptor < 0) return formats_fail_errno(&g->error, errno, "create");
    while (n) {
        const ssize_t done = write(g->descriptor, bytes, n);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return formats_fail_errno(&g->error, done ? errno : ENOSPC, "write");
        bytes = (const uint8_t *)bytes + done;
        n -= (size_t)done;
    }
    return TAPER_OK;
}

static int copy_growing(const cli_fetch_file *f, int descriptor, uint64_t *has) {
    taper_error error = {0};
    growing g = {.f = f, .descriptor = descriptor};
    const taper_sink sink = {&g, grow};
    taper_status status = copy(f, &sink, has, &error);
    const bool is_written = g.descriptor >= 0 && *has;
    if (g.descriptor >= 0 && fsync(g.descriptor) != 0 && status == TAPER_OK && errno != EINVAL)
        status = formats_fail_errno(&g.error, errno, "write");
    if (g.descriptor >= 0) close(g.descriptor);
    if (status == TAPER_OK) return CLI_DONE;
    const bool is_ours = g.error.status != TAPER_OK;
    const int code =
        cli_fail("fetch", is_ours ? f->path : f->url, status, is_ours ? &g.error : &error);
    if (is_written)
        cli_note(f->common, "fetch", "%s has the first %llu bytes; the same command goes on there",
                 f->path, (unsigned long long)*has);
    return code;
}

/* Standard output, and files that are replaced: whole or not at all. */
static int copy_anew(const cli_fetch_file *f, uint64_t *has) {
    cli_output out;
    taper_error error = {0};
    const int code = cli_output_open(&out, "fetch", f->path, f->common);
    if (code != CLI_DONE) return code;
    const taper_sink sink = cli_output_sink(&out);
    const taper_status status = copy(f, &sink, has, &error);
    return cli_output_close(&out, f->url, status, &error);
}

int cli_fetch_to_file(const cli_fetch_file *f, uint64_t *had, uint64_t *has) {
    int descriptor;
    *had = *has = 0;
    if (f->seconds > 0) remote_set_deadline(f->stream->remote, f->seconds);
    if (!strcmp(f->path, "-")) return copy_anew(f, has);
    const int code = open_begun(f, &descriptor, had);
    if (code != CLI_DONE) return code;
    *has = *had;
    if (*had >= f->bytes) {
        close(descriptor);
        return CLI_DONE;
    }
    remote_expect_end(f->stream->remote, f->bytes);
    const bool is_replaced = descriptor < 0 && access(f->path, F_OK) == 0;
    return is_replaced ? copy_anew(f, has) : copy_growing(f, descriptor, has);
}
