/* raise_signal.c -- loaded before a program's libraries: raises a signal at the RAISE_AT-th step in
 * the life of its temporary files. Steps are the moments before and after each call that makes,
 * writes, flushes, renames or removes one. RAISE_COUNT names a file for the number of steps. Only
 * for tests. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST = 1024 };
static atomic_int steps;
static atomic_bool ours[MOST]; /* descriptors */

static void step(void) {
    int errnum = errno;
    const char *at = getenv("RAISE_AT");
    int now = ++steps;
    if (at && now == strtol(at, NULL, 10)) kill(getpid(), SIGINT);
    errno = errnum;
}

static long after(long result) {
    step();
    return result;
}

static int is_temporary(const char *path) {
    return strstr(path, ".taper-") || strstr(path, "/taper-");
}

static int mine(int descriptor) { return descriptor >= 0 && descriptor < MOST && ours[descriptor]; }

/* The names that programs with large files use come here too. */
int openat64(int at, const char *path, int flags, ...) __attribute__((alias("openat")));
int mkstemp64(char *path) __attribute__((alias("mkstemp")));

int openat(int at, const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    unsigned mode = flags & O_CREAT ? va_arg(list, unsigned) : 0;
    va_end(list);
    if (!is_temporary(path)) return (int)syscall(SYS_openat, at, path, flags, mode);
    step();
    int descriptor = (int)syscall(SYS_openat, at, path, flags, mode);
    if (descriptor >= 0 && descriptor < MOST) ours[descriptor] = 1;
    return (int)after(descriptor);
}

int mkstemp(char *path) {
    static const char letters[] = "abcdefghijklmnop";
    step();
    unsigned long salt = (unsigned long)getpid() * 2654435761u + (unsigned)steps;
    for (char *x = path + strlen(path) - 6; *x; x++, salt >>= 4) *x = letters[salt & 15];
    return (int)after(syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL, 0600u));
}

int close(int descriptor) {
    if (descriptor >= 0 && descriptor < MOST) ours[descriptor] = 0;
    return (int)syscall(SYS_close, descriptor);
}

ssize_t write(int descriptor, const void *bytes, size_t n) {
    if (!mine(descriptor)) return syscall(SYS_write, descriptor, bytes, n);
    step();
    return after(syscall(SYS_write, descriptor, bytes, n));
}

int fsync(int descriptor) {
    if (!mine(descriptor)) return (int)syscall(SYS_fsync, descriptor);
    step();
    return (int)after(syscall(SYS_fsync, descriptor));
}

int linkat(int from_at, const char *from, int to_at, const char *to, int flags) {
    step();
    return (int)after(syscall(SYS_linkat, from_at, from, to_at, to, flags));
}

int renameat(int from_at, const char *from, int to_at, const char *to) {
    step();
    return (int)after(syscall(SYS_renameat2, from_at, from, to_at, to, 0));
}

static int remove_at(int at, const char *path, int flags) {
    if (!is_temporary(path)) return (int)syscall(SYS_unlinkat, at, path, flags);
    step();
    return (int)after(syscall(SYS_unlinkat, at, path, flags));
}

int unlinkat(int at, const char *path, int flags) { return remove_at(at, path, flags); }
int unlink(const char *path) { return remove_at(AT_FDCWD, path, 0); }

__attribute__((destructor)) static void tell(void) {
    const char *path = getenv("RAISE_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%d\n", (int)steps);
    fclose(file);
}
