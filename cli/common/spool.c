/* spool.c -- temporary files without a name; see spool.h. */
#include "cli/common/spool.h"
#include "cli/common/signals.h"
#include "formats/file.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static taper_status disk_failure(int errnum, taper_error *error) {
    taper_error why;
    taper_status status = formats_fail_errno(&why, errnum, "use a temporary file");
    return formats_fail(error, status, "%.160s (TMPDIR names the folder for it)", why.text);
}

taper_status cli_spool_open(FILE **out, taper_error *error) {
    const char *folder = getenv("TMPDIR");
    if (!folder || !*folder) folder = "/tmp";
    char path[4096];
    *out = NULL;
    if ((size_t)snprintf(path, sizeof path, "%s/taper-XXXXXX", folder) >= sizeof path)
        return formats_fail(error, TAPER_ERR_IO, "the path in TMPDIR is too long");
    cli_signals_hold();
    int descriptor = mkstemp(path), errnum = errno;
    if (descriptor >= 0) unlink(path);
    cli_signals_let_go();
    if (descriptor < 0) return disk_failure(errnum, error);
    *out = fdopen(descriptor, "w+b");
    if (*out) return TAPER_OK;
    close(descriptor);
    return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a temporary file");
}

static taper_status spool_write(void *user, const void *bytes, size_t n) {
    return fwrite(bytes, 1, n, user) == n ? TAPER_OK : TAPER_ERR_IO;
}

taper_sink cli_spool_sink(FILE *spool) { return (taper_sink){.user = spool, .write = spool_write}; }

taper_status cli_spool_fill(FILE *spool, int descriptor, taper_error *error) {
    static const size_t block = 1 << 18;
    uint8_t *bytes = malloc(block);
    if (!bytes) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to read a stream");
    taper_status status = TAPER_OK;
    for (;;) {
        ssize_t got = read(descriptor, bytes, block);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) status = formats_fail_errno(error, errno, "read");
        if (got <= 0) break;
        if (fwrite(bytes, 1, (size_t)got, spool) == (size_t)got) continue;
        status = disk_failure(errno, error);
        break;
    }
    free(bytes);
    return status;
}

static taper_status spool_read(void *user, uint64_t offset, void *to, size_t n) {
    return formats_descriptor_read_at(fileno(user), offset, to, n);
}

taper_status cli_spool_source(FILE *spool, taper_source *out, taper_error *error) {
    if (fflush(spool) != 0 || ferror(spool)) return disk_failure(errno ? errno : ENOSPC, error);
    off_t size = lseek(fileno(spool), 0, SEEK_END);
    if (size < 0) return disk_failure(errno, error);
    *out = (taper_source){.user = spool, .size = (uint64_t)size, .read = spool_read};
    return TAPER_OK;
}

taper_status cli_source_copy(const taper_source *from, const taper_sink *to, taper_error *error) {
    enum { BLOCK = 1 << 18 };
    uint8_t *bytes = malloc(BLOCK);
    taper_status status = bytes ? TAPER_OK : TAPER_ERR_NOMEM;
    for (uint64_t at = 0; at < from->size && status == TAPER_OK; at += BLOCK) {
        size_t n = from->size - at < BLOCK ? (size_t)(from->size - at) : BLOCK;
        status = formats_source_read(from, at, bytes, n, error);
        if (status == TAPER_OK) status = to->write(to->user, bytes, n);
    }
    free(bytes);
    return status;
}
