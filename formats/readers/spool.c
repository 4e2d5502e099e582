/* spool.c -- see spool.h. */
#include "formats/readers/spool.h"
#include "formats/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static taper_status fail_disk(taper_error *error) {
    taper_error why;
    const taper_status status = formats_fail_errno(&why, errno, "use a temporary file");
    return formats_fail(error, status, "%.160s (TMPDIR names the folder for it)", why.text);
}

static taper_status open_spool(formats_spool *spool, taper_error *error) {
    const char *folder = getenv("TMPDIR");
    char path[4096];
    if (!folder || !*folder) folder = "/tmp";
    if ((size_t)snprintf(path, sizeof path, "%s/taper-XXXXXX", folder) >= sizeof path)
        return formats_fail(error, TAPER_ERR_IO, "the path in TMPDIR is too long");
    const int descriptor = mkstemp(path);
    if (descriptor < 0) return fail_disk(error);
    unlink(path);
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    spool->descriptor = descriptor;
    return TAPER_OK;
}

taper_status formats_spool_append(formats_spool *spool, const void *bytes, size_t n,
                                  taper_error *error) {
    const uint8_t *from = bytes;
    if (!spool->descriptor) TAPER_TRY(open_spool(spool, error));
    while (n) {
        const ssize_t put = pwrite(spool->descriptor, from, n, (off_t)spool->size);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return fail_disk(error);
        spool->size += (uint64_t)put;
        from += put, n -= (size_t)put;
    }
    return TAPER_OK;
}

void formats_spool_cut(formats_spool *spool, uint64_t size) {
    if (spool->descriptor && size < spool->size && !ftruncate(spool->descriptor, (off_t)size))
        spool->size = size;
}

taper_status formats_spool_read(const formats_spool *spool, uint64_t offset, void *to, size_t n) {
    return formats_descriptor_read_at(spool->descriptor, offset, to, n);
}

void formats_spool_close(formats_spool *spool) {
    if (spool->descriptor) close(spool->descriptor);
    *spool = (formats_spool){0, 0};
}
