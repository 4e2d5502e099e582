/* file.c -- whole-file reads and random-access sources over POSIX descriptors; see file.h. */
#include "formats/file.h"
#include "formats/bytes.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct formats_file {
    int descriptor;
    uint64_t size;
};

static const char *remedy_for(int errnum) {
    switch (errnum) {
    case ENOSPC:
    case EDQUOT: return "free some space or write elsewhere";
    case EFBIG: return "raise the file size limit (ulimit -f) or write elsewhere";
    case EROFS: return "choose a folder that can be written";
    case EACCES:
    case EPERM: return "check the permissions";
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG: return "check the path";
    case EMFILE:
    case ENFILE: return "raise the limit of open files (ulimit -n)";
    case EISDIR: return "name a file instead";
    case EEXIST: return "choose another name or allow overwriting";
    default: return "check the device and try again";
    }
}

taper_status formats_fail_errno(taper_error *error, int errnum, const char *what) {
    taper_status status = errnum == ENOMEM   ? TAPER_ERR_NOMEM
                          : errnum == EEXIST ? TAPER_ERR_EXISTS
                                             : TAPER_ERR_IO;
    char reason[96];
    if (strerror_r(errnum, reason, sizeof reason) != 0) reason[0] = '\0';
    if (!reason[0])
        formats_fail(error, status, "cannot %s: error %d", what, errnum);
    else
        formats_fail_fact(error, status, errnum == EEXIST ? TAPER_FACT_OVERWRITE : TAPER_FACT_NONE,
                          0, "cannot %s: %s; %s", what, reason, remedy_for(errnum));
    errno = errnum; /* strerror_r may have changed it */
    return status;
}

int formats_errno_is_of_path(int errnum) {
    switch (errnum) {
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case EACCES:
    case EPERM:
    case ELOOP:
    case ENAMETOOLONG:
    case ENXIO:
    case ENODEV: return 1;
    default: return 0;
    }
}

/* read() that restarts after signals; -1 with errno on failure. */
static ssize_t read_some(int descriptor, void *to, size_t n) {
    if (n > (size_t)1 << 30) n = (size_t)1 << 30; /* some systems refuse larger reads */
    ssize_t got;
    do got = read(descriptor, to, n);
    while (got < 0 && errno == EINTR);
    return got;
}

/* The size of a regular file; for others a first guess. */
static size_t expected_size(int descriptor, uint64_t ceiling) {
    struct stat st;
    uint64_t size = 1 << 16;
    if (fstat(descriptor, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        size = (uint64_t)st.st_size;
    return (size_t)(size < ceiling ? size : ceiling);
}

taper_status formats_descriptor_read(int descriptor, const taper_limits *limits, uint8_t **bytes,
                                     size_t *size, taper_error *error) {
    *bytes = NULL;
    *size = 0;
    /* one byte more than allowed distinguishes reaching the ceiling from exceeding it */
    const uint64_t ceiling = limits->max_memory > SIZE_MAX - 1 ? SIZE_MAX - 1 : limits->max_memory;
    formats_buffer buffer = formats_buffer_make((size_t)ceiling + 1);
    formats_buffer_reserve(&buffer, expected_size(descriptor, ceiling) + 1);
    taper_status status = buffer.status;
    while (status == TAPER_OK) {
        size_t room = buffer.capacity - buffer.size;
        ssize_t got = read_some(descriptor, buffer.data + buffer.size, room);
        if (got < 0) {
            status = formats_fail_errno(error, errno, "read");
            formats_buffer_free(&buffer);
            return status;
        }
        if (got == 0) break;
        buffer.size += (size_t)got;
        if (buffer.size > ceiling)
            status = TAPER_ERR_LIMIT;
        else if (buffer.size == buffer.capacity)
            status = formats_buffer_reserve(&buffer, 1);
    }
    if (status == TAPER_OK) {
        *bytes = formats_buffer_take(&buffer, size);
        return TAPER_OK;
    }
    formats_buffer_free(&buffer);
    if (status == TAPER_ERR_LIMIT)
        return formats_fail_fact(
            error, status, TAPER_FACT_MAX_MEMORY, formats_memory_step(limits, ceiling),
            "is larger than the limit of %llu bytes", (unsigned long long)ceiling);
    return formats_fail(error, status, "no memory to hold the file");
}

static int open_for_reading(const char *path, taper_status *status, taper_error *error) {
    int descriptor;
    do descriptor = open(path, O_RDONLY | O_CLOEXEC);
    while (descriptor < 0 && errno == EINTR);
    if (descriptor < 0) *status = formats_fail_errno(error, errno, "open");
    return descriptor;
}

taper_status formats_file_read(const char *path, uint64_t ceiling, uint8_t **bytes, size_t *size,
                               taper_error *error) {
    const taper_limits limits = {.max_memory = ceiling};
    return formats_file_read_within(path, &limits, bytes, size, error);
}

taper_status formats_file_read_within(const char *path, const taper_limits *limits, uint8_t **bytes,
                                      size_t *size, taper_error *error) {
    const uint64_t ceiling = limits->max_memory;
    *bytes = NULL;
    *size = 0;
    taper_status status = TAPER_OK;
    int descriptor = open_for_reading(path, &status, error);
    if (descriptor < 0) return status;
    struct stat st;
    /* a known size above the ceiling is refused before reading */
    if (fstat(descriptor, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size > ceiling)
        status = formats_fail_fact(error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY,
                                   formats_memory_needed(limits, (uint64_t)st.st_size),
                                   "has %llu bytes, more than the limit of %llu",
                                   (unsigned long long)st.st_size, (unsigned long long)ceiling);
    else
        status = formats_descriptor_read(descriptor, limits, bytes, size, error);
    close(descriptor);
    return status;
}

int formats_has_extension(const char *path, const char *extension) {
    size_t n = strlen(path), m = strlen(extension);
    return n > m && strcasecmp(path + n - m, extension) == 0;
}

taper_status formats_file_peek(const char *path, void *to, size_t n, size_t *got,
                               taper_error *error) {
    *got = 0;
    taper_status status = TAPER_OK;
    int failed = 0, descriptor = open_for_reading(path, &status, error);
    if (descriptor < 0) return status;
    while (*got < n) {
        ssize_t more = read_some(descriptor, (uint8_t *)to + *got, n - *got);
        if (more < 0) failed = errno;
        if (more <= 0) break;
        *got += (size_t)more;
    }
    close(descriptor);
    return failed ? formats_fail_errno(error, failed, "read") : TAPER_OK;
}

taper_status formats_file_open(formats_file **out, const char *path, taper_error *error) {
    *out = NULL;
    taper_status status = TAPER_OK;
    int descriptor = open_for_reading(path, &status, error);
    if (descriptor < 0) return status;
    struct stat st;
    if (fstat(descriptor, &st) != 0)
        status = formats_fail_errno(error, errno, "examine");
    else if (S_ISDIR(st.st_mode))
        status = formats_fail_errno(error, EISDIR, "read");
    else if (!S_ISREG(st.st_mode))
        status = formats_fail(error, TAPER_ERR_UNSUPPORTED,
                              "is not a regular file and cannot be read at random; copy it to a "
                              "file first");
    formats_file *file = status == TAPER_OK ? malloc(sizeof *file) : NULL;
    if (!file) {
        close(descriptor);
        if (status != TAPER_OK) return status;
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to open the file");
    }
    file->descriptor = descriptor;
    file->size = (uint64_t)st.st_size;
    *out = file;
    return TAPER_OK;
}

void formats_file_close(formats_file *file) {
    if (!file) return;
    close(file->descriptor);
    free(file);
}

taper_status formats_descriptor_read_at(int descriptor, uint64_t offset, void *to, size_t n) {
    uint8_t *p = to;
    while (n) {
        size_t step = n < (size_t)1 << 30 ? n : (size_t)1 << 30;
        ssize_t got = pread(descriptor, p, step, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return TAPER_ERR_IO;
        if (got == 0) return TAPER_ERR_TRUNCATED;
        p += got;
        offset += (uint64_t)got;
        n -= (size_t)got;
    }
    return TAPER_OK;
}

static taper_status file_source_read(void *user, uint64_t offset, void *to, size_t n) {
    const formats_file *file = user;
    if (offset > file->size || n > file->size - offset) return TAPER_ERR_TRUNCATED;
    return formats_descriptor_read_at(file->descriptor, offset, to, n);
}

taper_source formats_file_source(formats_file *file) {
    return (taper_source){.user = file, .size = file->size, .read = file_source_read};
}

static taper_status memory_source_read(void *user, uint64_t offset, void *to, size_t n) {
    const formats_memory *memory = user;
    if (offset > memory->size || n > memory->size - offset) return TAPER_ERR_TRUNCATED;
    if (n) memcpy(to, memory->bytes + offset, n);
    return TAPER_OK;
}

taper_source formats_memory_source(formats_memory *memory) {
    return (taper_source){.user = memory, .size = memory->size, .read = memory_source_read};
}

taper_status formats_descriptor_map(int descriptor, const void **bytes, uint64_t *size,
                                    taper_error *error) {
    struct stat st;
    *bytes = NULL, *size = 0;
    if (fstat(descriptor, &st) != 0) return formats_fail_errno(error, errno, "open it");
    if (!S_ISREG(st.st_mode))
        return formats_fail(error, TAPER_ERR_IO, "it is no regular file, which cannot be mapped");
    if (!st.st_size) return formats_fail(error, TAPER_ERR_TRUNCATED, "the file is empty");
    void *at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (at == MAP_FAILED) return formats_fail_errno(error, errno, "map it");
    *bytes = at, *size = (uint64_t)st.st_size;
    return TAPER_OK;
}

taper_status formats_file_map(const char *path, const void **bytes, uint64_t *size,
                              taper_error *error) {
    *bytes = NULL, *size = 0;
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return formats_fail_errno(error, errno, "open it");
    const taper_status status = formats_descriptor_map(descriptor, bytes, size, error);
    close(descriptor);
    return status;
}

void formats_file_unmap(const void *bytes, uint64_t size) {
    if (bytes) munmap((void *)(uintptr_t)bytes, (size_t)size);
}

taper_status formats_source_read(const taper_source *source, uint64_t offset, void *to, size_t n,
                                 taper_error *error) {
    taper_status status = TAPER_ERR_TRUNCATED;
    if (offset <= source->size && n <= source->size - offset)
        status = source->read(source->user, offset, to, n);
    if (status == TAPER_OK) return TAPER_OK;
    return formats_fail(error, status, "cannot read %zu bytes at offset %llu of %llu: %s", n,
                        (unsigned long long)offset, (unsigned long long)source->size,
                        formats_status_name(status));
}
