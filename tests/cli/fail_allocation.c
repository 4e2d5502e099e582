/* fail_allocation.c -- preloaded by out-of-memory.sh: the FAIL_AT-th allocation since main began
 * fails, and no other. FAIL_COUNT names a file that gets the number of them all when the process
 * ends. C++'s operator new comes through malloc. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t n);
void *__libc_memalign(size_t alignment, size_t n);

static atomic_ulong made;
static unsigned long fail_at;
static int begun; /* before there is another thread */

static int fails(void) {
    if (!begun || atomic_fetch_add(&made, 1) + 1 != fail_at) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t n) { return fails() ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return fails() ? NULL : __libc_calloc(n, size); }
void *realloc(void *old, size_t n) { return fails() ? NULL : __libc_realloc(old, n); }
void *memalign(size_t alignment, size_t n) {
    return fails() ? NULL : __libc_memalign(alignment, n);
}
void *aligned_alloc(size_t alignment, size_t n) { return memalign(alignment, n); }
int posix_memalign(void **to, size_t alignment, size_t n) {
    void *at = memalign(alignment, n);
    if (at) *to = at;
    return at ? 0 : ENOMEM;
}

typedef int main_fn(int, char **, char **);
static main_fn *real_main;

static int counted_main(int n, char **arguments, char **environment) {
    const char *text = getenv("FAIL_AT");
    fail_at = text ? strtoul(text, NULL, 10) : 0;
    begun = 1;
    return real_main(n, arguments, environment);
}

int __libc_start_main(main_fn *of_program, int n, char **arguments, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void *stack_end) {
    typedef int start_fn(main_fn *, int, char **, void (*)(void), void (*)(void), void (*)(void),
                         void *);
    start_fn *start;
    *(void **)&start = dlsym(RTLD_NEXT, "__libc_start_main");
    real_main = of_program;
    return start(counted_main, n, arguments, init, fini, loader_fini, stack_end);
}

__attribute__((destructor)) static void say(void) {
    const char *path = getenv("FAIL_COUNT");
    int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    if (file < 0) return;
    char text[24];
    int n = snprintf(text, sizeof text, "%lu\n", atomic_load(&made));
    if (write(file, text, (size_t)n) != n) _exit(99);
    close(file);
}
