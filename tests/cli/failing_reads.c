/* failing_reads.c -- to be preloaded: reads of the file that FAIL_READ names, but for those of its
 * front, end in EIO, and all reads of the one that FAIL_FRONT names; memory of FAIL_MALLOC to
 * FAIL_UPTO bytes is not there. For glibc. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t n);

ssize_t read(int descriptor, void *to, size_t n) {
    const char *front = getenv("FAIL_FRONT"), *name = front ? front : getenv("FAIL_READ");
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t size = name && (front || n > 512) ? readlink(link, path, sizeof path - 1) : -1;
    if (size >= 0) {
        path[size] = 0;
        if (strstr(path, name)) {
            errno = EIO;
            return -1;
        }
    }
    return syscall(SYS_read, descriptor, to, n);
}

void *malloc(size_t n) {
    static size_t least = 1, most; /* 1: not asked yet */
    if (least == 1) {
        const char *from = getenv("FAIL_MALLOC"), *upto = getenv("FAIL_UPTO");
        least = from ? strtoul(from, NULL, 10) : 0;
        most = upto ? strtoul(upto, NULL, 10) : least;
    }
    if (!least || n < least || n > most) return __libc_malloc(n);
    errno = ENOMEM;
    return NULL;
}
