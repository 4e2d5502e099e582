/* test_signals.c -- a signal at any instant leaves nothing half-written; what is no failure.
 *
 * The system calls behind an output are taken over here, so that a signal can be raised before and
 * after each of them in turn, in a child that then ends by it. */
#define _GNU_SOURCE /* syscall */
#include "cli/common/signals.h"
#include "cmocka_all.h"
#include "formats/file.h"
#include "scratch.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static char folder[SCRATCH_PATH];
static atomic_int events, raise_at; /* raise_at 0: never */
static int raised = SIGTERM;
static int no_links, folders_fail; /* what the file system lacks */

static void event(void) {
    int errnum = errno;
    if (raise_at && ++events == raise_at) kill(getpid(), raised);
    errno = errnum;
}

static long after(long result) {
    event();
    return result;
}

int openat(int at, const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    unsigned mode = flags & O_CREAT ? va_arg(list, unsigned) : 0;
    va_end(list);
    event();
    return (int)after(syscall(SYS_openat, at, path, flags, mode));
}

ssize_t write(int descriptor, const void *bytes, size_t n) {
    event();
    return after(syscall(SYS_write, descriptor, bytes, n));
}

int fsync(int descriptor) {
    struct stat st;
    event();
    if (folders_fail && fstat(descriptor, &st) == 0 && S_ISDIR(st.st_mode)) {
        errno = folders_fail;
        return -1;
    }
    return (int)after(syscall(SYS_fsync, descriptor));
}

int linkat(int from_at, const char *from, int to_at, const char *to, int flags) {
    event();
    if (no_links) {
        errno = EPERM;
        return -1;
    }
    return (int)after(syscall(SYS_linkat, from_at, from, to_at, to, flags));
}

int renameat(int from_at, const char *from, int to_at, const char *to) {
    event();
    return (int)after(syscall(SYS_renameat2, from_at, from, to_at, to, 0));
}

int unlinkat(int at, const char *path, int flags) {
    event();
    return (int)after(syscall(SYS_unlinkat, at, path, flags));
}

static int make_folder(void **state) {
    (void)state;
    scratch_make(folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    scratch_remove(folder);
    return 0;
}

/* --- at every instant --- */

static char target[SCRATCH_PATH];
enum { CONTENT = 100000 };
static uint8_t content[CONTENT];

static int write_target(unsigned flags) {
    return formats_file_write(target, content, sizeof content, flags, cli_signals_watch(), NULL);
}

/* Run in a child that a signal ends at event n. True when it came to its end before. */
static bool ends_before(int n, int (*run)(unsigned), unsigned flags) {
    int outcome;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGTERM, SIG_DFL);
        cli_signals_install();
        raise_at = n;
        _exit(run(flags));
    }
    assert_int_equal(waitpid(child, &outcome, 0), child);
    if (WIFEXITED(outcome)) {
        assert_int_equal(WEXITSTATUS(outcome), 0);
        return true;
    }
    assert_true(WIFSIGNALED(outcome));
    assert_int_equal(WTERMSIG(outcome), SIGTERM);
    return false;
}

/* Size of the target, or -1. */
static long target_size(void) {
    struct stat st;
    return stat(target, &st) == 0 ? (long)st.st_size : -1;
}

static void interrupt_everywhere(unsigned flags, long size_before) {
    int n = 1, whole = 0;
    for (bool done = false; !done; n++) {
        unlink(target);
        if (size_before >= 0) scratch_write(folder, "out", content, (size_t)size_before);
        done = ends_before(n, write_target, flags);
        long size = target_size();
        if (size != size_before && size != CONTENT)
            fail_msg("interrupted at %d: %ld bytes in the target", n, size);
        if (done || size == CONTENT) whole++;
        int files = size >= 0;
        if (scratch_count(folder) != files) fail_msg("interrupted at %d: a file is left", n);
        assert_true(n < 100);
    }
    assert_true(n > 8); /* the calls came through here */
    assert_true(whole > 1 && whole < n - 4);
}

static void no_instant_leaves_a_temporary(void **state) {
    (void)state;
    scratch_path(target, folder, "out");
    memset(content, 7, sizeof content);
    interrupt_everywhere(0, -1);
    interrupt_everywhere(FORMATS_ATOMIC_OVERWRITE, 10);
    interrupt_everywhere(FORMATS_ATOMIC_OVERWRITE, -1);
    no_links = 1; /* a placeholder takes the name first */
    interrupt_everywhere(0, -1);
    no_links = 0;
}

enum { THREADS = 3, FILES = 40 };

static void *write_many(void *first) {
    for (int i = 0; i < FILES; i++) {
        char path[SCRATCH_PATH + 32];
        snprintf(path, sizeof path, "%s/many/%d-%d", folder, *(const int *)first, i);
        formats_file_write(path, content, 1000, FORMATS_ATOMIC_NO_SYNC, cli_signals_watch(), NULL);
    }
    return NULL;
}

static int write_from_threads(unsigned flags) {
    (void)flags;
    pthread_t thread[THREADS];
    static int number[THREADS];
    for (int t = 0; t < THREADS; t++) {
        number[t] = t;
        if (pthread_create(&thread[t], NULL, write_many, &number[t]) != 0) return 1;
    }
    for (int t = 0; t < THREADS; t++) pthread_join(thread[t], NULL);
    return 0;
}

/* The handler runs on one thread while others are about to make their next file. */
static void no_thread_leaves_a_temporary(void **state) {
    (void)state;
    char many[SCRATCH_PATH];
    scratch_join(many, folder, "many");
    for (int n = 1; n < 700; n += 17) {
        scratch_remove(many);
        assert_int_equal(mkdir(many, 0777), 0);
        assert_false(ends_before(n, write_from_threads, 0));
        DIR *dir = opendir(many);
        assert_non_null(dir);
        for (const struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
            char path[2 * SCRATCH_PATH];
            struct stat st;
            if (entry->d_name[0] == '.' && entry->d_name[1] == 't')
                fail_msg("interrupted at %d: %s is left", n, entry->d_name);
            if (entry->d_name[0] == '.') continue;
            snprintf(path, sizeof path, "%s/%s", many, entry->d_name);
            assert_int_equal(stat(path, &st), 0);
            assert_int_equal(st.st_size, 1000);
        }
        closedir(dir);
    }
    scratch_remove(many);
}

/* --- what is no end --- */

static int write_over_limit(void) {
    struct rlimit limit = {CONTENT / 2, CONTENT / 2};
    taper_error error;
    cli_signals_install();
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
    if (formats_file_write(target, content, sizeof content, FORMATS_ATOMIC_OVERWRITE,
                           cli_signals_watch(), &error) != TAPER_ERR_IO)
        return 3;
    return strstr(error.text, "File too large") ? 0 : 4;
}

static void a_file_too_large_is_a_failed_write(void **state) {
    (void)state;
    int outcome;
    scratch_path(target, folder, "out");
    unlink(target);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGXFSZ, SIG_DFL);
        _exit(write_over_limit());
    }
    assert_int_equal(waitpid(child, &outcome, 0), child);
    assert_true(WIFEXITED(outcome));
    assert_int_equal(WEXITSTATUS(outcome), 0);
    assert_int_equal(scratch_count(folder), 0);
}

typedef struct witness {
    int calls;
    char target[SCRATCH_PATH], text[256];
} witness;

static void on_not_synced(void *user, const char *path, const taper_error *why) {
    witness *w = user;
    w->calls++;
    snprintf(w->target, sizeof w->target, "%s", path);
    snprintf(w->text, sizeof w->text, "%s", why->text);
}

static void a_folder_that_is_not_flushed_is_no_failure(void **state) {
    (void)state;
    witness w = {0};
    const formats_atomic_watch watch = {.user = &w, .not_synced = on_not_synced};
    scratch_path(target, folder, "out");
    folders_fail = EIO;
    assert_int_equal(formats_file_write(target, "new", 3, 0, &watch, NULL), TAPER_OK);
    assert_int_equal(w.calls, 1);
    assert_string_equal(w.target, target);
    assert_non_null(strstr(w.text, "Input/output error"));
    assert_int_equal(target_size(), 3);
    assert_int_equal(formats_file_write(target, "newer", 5, FORMATS_ATOMIC_OVERWRITE, NULL, NULL),
                     TAPER_OK);
    assert_int_equal(target_size(), 5);
    taper_error error;
    assert_int_equal(formats_folder_sync(folder, &error), TAPER_ERR_IO);
    folders_fail = EINVAL; /* nothing to flush there */
    assert_int_equal(formats_file_write(target, "n", 1, FORMATS_ATOMIC_OVERWRITE, &watch, NULL),
                     TAPER_OK);
    assert_int_equal(w.calls, 1);
    folders_fail = 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_instant_leaves_a_temporary),
        cmocka_unit_test(no_thread_leaves_a_temporary),
        cmocka_unit_test(a_file_too_large_is_a_failed_write),
        cmocka_unit_test(a_folder_that_is_not_flushed_is_no_failure),
    };
    return cmocka_run_group_tests_name("signals", tests, make_folder, remove_folder);
}
