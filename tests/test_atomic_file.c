/* test_atomic_file.c -- outputs appear whole or not at all; reading files and sources. */
#include "cmocka_all.h"
#include "formats/atomic_file.h"
#include "formats/file.h"
#include "scratch.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static char folder[SCRATCH_PATH];

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

static void assert_content(const char *name, const char *expected) {
    char path[SCRATCH_PATH];
    uint8_t *bytes;
    size_t n;
    assert_int_equal(formats_file_read(scratch_path(path, folder, name), 1 << 20, &bytes, &n, NULL),
                     TAPER_OK);
    assert_int_equal(n, strlen(expected));
    assert_memory_equal(bytes, expected, n);
    free(bytes);
}

static taper_status write_text(const char *name, const char *text, unsigned flags,
                               taper_error *error) {
    char path[SCRATCH_PATH];
    return formats_file_write(scratch_path(path, folder, name), text, strlen(text), flags, NULL,
                              error);
}

typedef struct watched {
    int live, created;
    char last[SCRATCH_PATH];
} watched;

static void on_create(void *user, const char *temporary) {
    watched *w = user;
    w->live++;
    w->created++;
    assert_int_equal(access(temporary, F_OK), -1); /* announced before it is there */
    snprintf(w->last, sizeof w->last, "%s", temporary);
}

static void on_gone(void *user, const char *temporary) {
    watched *w = user;
    w->live--;
    assert_string_equal(w->last, temporary);
    assert_int_equal(access(temporary, F_OK), -1);
}

static void target_appears_at_commit_only(void **state) {
    (void)state;
    char path[SCRATCH_PATH];
    formats_atomic_file *file;
    watched w = {0};
    const formats_atomic_watch watch = {.user = &w, .will_create = on_create, .gone = on_gone};
    scratch_path(path, folder, "out");
    assert_int_equal(formats_atomic_file_open(&file, path, 0, &watch, NULL), TAPER_OK);
    assert_int_equal(formats_atomic_file_write(file, "hello ", 6, NULL), TAPER_OK);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(access(w.last, F_OK), 0);
    assert_int_equal(formats_atomic_file_write(file, "world", 5, NULL), TAPER_OK);
    assert_int_equal(formats_atomic_file_commit(file, NULL), TAPER_OK);
    assert_content("out", "hello world");
    assert_int_equal(scratch_count(folder), 1);
}

static void large_outputs_pass_the_buffer(void **state) {
    (void)state;
    char path[SCRATCH_PATH];
    formats_atomic_file *file;
    enum { STEP = 7001, STEPS = 100, BIG = 200000 };
    uint8_t *block = malloc(BIG), *bytes;
    for (int i = 0; i < BIG; i++) block[i] = (uint8_t)(i * 37 >> 3);
    scratch_path(path, folder, "large");
    assert_int_equal(formats_atomic_file_open(&file, path, FORMATS_ATOMIC_NO_SYNC, NULL, NULL),
                     TAPER_OK);
    for (int i = 0; i < STEPS; i++)
        assert_int_equal(formats_atomic_file_write(file, block, STEP, NULL), TAPER_OK);
    assert_int_equal(formats_atomic_file_write(file, block, BIG, NULL), TAPER_OK);
    assert_int_equal(formats_atomic_file_commit(file, NULL), TAPER_OK);
    size_t n;
    assert_int_equal(formats_file_read(path, 1 << 20, &bytes, &n, NULL), TAPER_OK);
    assert_int_equal(n, STEP * STEPS + BIG);
    for (int i = 0; i < STEPS; i++) assert_memory_equal(bytes + i * STEP, block, STEP);
    assert_memory_equal(bytes + STEPS * STEP, block, BIG);
    free(bytes);
    free(block);
}

static void abort_leaves_everything_as_it_was(void **state) {
    (void)state;
    char path[SCRATCH_PATH];
    formats_atomic_file *file;
    assert_int_equal(write_text("kept", "old", 0, NULL), TAPER_OK);
    int before = scratch_count(folder);
    scratch_path(path, folder, "kept");
    assert_int_equal(formats_atomic_file_open(&file, path, FORMATS_ATOMIC_OVERWRITE, NULL, NULL),
                     TAPER_OK);
    assert_int_equal(formats_atomic_file_write(file, "new", 3, NULL), TAPER_OK);
    formats_atomic_file_abort(file);
    formats_atomic_file_abort(NULL);
    assert_content("kept", "old");
    assert_int_equal(scratch_count(folder), before);
}

static void existing_targets_need_leave(void **state) {
    (void)state;
    taper_error error;
    char path[SCRATCH_PATH], link_path[SCRATCH_PATH];
    assert_int_equal(write_text("there", "old", 0, NULL), TAPER_OK);
    assert_int_equal(write_text("there", "new", 0, &error), TAPER_ERR_EXISTS);
    assert_int_equal(error.status, TAPER_ERR_EXISTS);
    assert_int_equal(error.fact, TAPER_FACT_OVERWRITE);
    assert_content("there", "old");
    assert_int_equal(chmod(scratch_path(path, folder, "there"), 0640), 0);
    assert_int_equal(write_text("there", "new", FORMATS_ATOMIC_OVERWRITE, NULL), TAPER_OK);
    assert_content("there", "new");
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    /* a link stays a link and its target is replaced; a link to nothing exists too */
    assert_int_equal(symlink("there", scratch_path(link_path, folder, "link")), 0);
    assert_int_equal(write_text("link", "by link", 0, NULL), TAPER_ERR_EXISTS);
    assert_int_equal(write_text("link", "by link", FORMATS_ATOMIC_OVERWRITE, NULL), TAPER_OK);
    assert_int_equal(lstat(link_path, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_content("there", "by link");
    assert_int_equal(symlink("nowhere", scratch_path(link_path, folder, "dangling")), 0);
    assert_int_equal(write_text("dangling", "x", 0, NULL), TAPER_ERR_EXISTS);
}

static taper_status write_in(const char *name, unsigned flags, taper_error *error) {
    int below = open(folder, O_RDONLY | O_DIRECTORY);
    assert_true(below >= 0);
    formats_atomic_file *file;
    watched w = {0};
    const formats_atomic_watch watch = {.user = &w, .will_create = on_create, .gone = on_gone};
    taper_status status =
        formats_atomic_file_open_in(&file, below, folder, name, flags, &watch, error);
    if (status == TAPER_OK) {
        assert_int_equal(strncmp(w.last, folder, strlen(folder)), 0);
        assert_int_equal(access(w.last, F_OK), 0);
        status = formats_atomic_file_write(file, "in", 2, error);
        assert_int_equal(status, TAPER_OK);
        status = formats_atomic_file_commit(file, error);
    }
    close(below);
    return status;
}

/* In an open folder: links are replaced, not followed; names are plain; a refused one is told apart
 * from a failure of the disk. */
static void nothing_outside_of_an_open_folder_is_written(void **state) {
    (void)state;
    taper_error error;
    struct stat st;
    char path[SCRATCH_PATH], long_name[400];
    assert_int_equal(write_in("inside", 0, NULL), TAPER_OK);
    assert_content("inside", "in");
    assert_int_equal(write_in("inside", 0, NULL), TAPER_ERR_EXISTS);
    assert_int_equal(write_text("outside", "old", 0, NULL), TAPER_OK);
    scratch_path(path, folder, "leading-out");
    assert_int_equal(symlink("outside", path), 0);
    assert_int_equal(write_in("leading-out", 0, NULL), TAPER_ERR_EXISTS);
    assert_int_equal(write_in("leading-out", FORMATS_ATOMIC_OVERWRITE, NULL), TAPER_OK);
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISREG(st.st_mode));
    assert_content("outside", "old");
    assert_content("leading-out", "in");
    static const char *const bad[] = {"", ".", "..", "a/b", "/etc"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(write_in(bad[i], FORMATS_ATOMIC_OVERWRITE, NULL), TAPER_ERR_ARG);
    assert_int_equal(mkfifo(scratch_path(path, folder, "fifo"), 0600), 0);
    assert_int_equal(write_in("fifo", FORMATS_ATOMIC_OVERWRITE, &error), TAPER_ERR_IO);
    memset(long_name, 'n', sizeof long_name);
    long_name[sizeof long_name - 1] = 0;
    int before = scratch_count(folder);
    assert_int_equal(write_in(long_name, 0, &error), TAPER_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "refuses this name: File name too long"));
    assert_int_equal(write_text(long_name, "x", 0, &error), TAPER_ERR_IO);
    assert_int_equal(scratch_count(folder), before);
}

/* The target comes into being between open and commit: it is not lost. */
static void a_race_for_the_name_is_lost_cleanly(void **state) {
    (void)state;
    char path[SCRATCH_PATH];
    formats_atomic_file *file;
    scratch_path(path, folder, "race");
    assert_int_equal(formats_atomic_file_open(&file, path, 0, NULL, NULL), TAPER_OK);
    assert_int_equal(formats_atomic_file_write(file, "mine", 4, NULL), TAPER_OK);
    scratch_write(folder, "race", "theirs", 6);
    int before = scratch_count(folder);
    taper_error error;
    assert_int_equal(formats_atomic_file_commit(file, &error), TAPER_ERR_EXISTS);
    assert_content("race", "theirs");
    assert_int_equal(scratch_count(folder), before - 1); /* the temporary is gone */
}

static void bad_places_are_named(void **state) {
    (void)state;
    taper_error error;
    char path[SCRATCH_PATH];
    formats_atomic_file *file;
    scratch_join(path, folder, "no/such/folder/out");
    assert_int_equal(formats_atomic_file_open(&file, path, 0, NULL, &error), TAPER_ERR_IO);
    assert_non_null(strstr(error.text, "No such file or directory"));
    assert_null(file);
    assert_int_equal(
        formats_atomic_file_open(&file, folder, FORMATS_ATOMIC_OVERWRITE, NULL, &error),
        TAPER_ERR_IO);
    assert_non_null(strstr(error.text, "Is a directory"));
    assert_int_equal(formats_atomic_file_open(&file, "", 0, NULL, &error), TAPER_ERR_ARG);
    if (geteuid() == 0) {
        print_message("skipped: read-only folder (root may write anywhere); /proc instead\n");
        assert_int_equal(formats_atomic_file_open(&file, "/proc/taper-out", 0, NULL, &error),
                         TAPER_ERR_IO);
        return;
    }
    scratch_path(path, folder, "readonly/out");
    scratch_join(path, folder, "readonly");
    assert_int_equal(chmod(path, 0555), 0);
    assert_int_equal(write_text("readonly/out", "x", 0, &error), TAPER_ERR_IO);
    assert_non_null(strstr(error.text, "Permission denied"));
    assert_int_equal(scratch_count(path), 0);
    assert_int_equal(chmod(path, 0755), 0);
}

/* A limit on file sizes fails writes as a full disk does. Run in a child: the limit is for good. */
static int write_over_limit(const char *path) {
    struct rlimit limit = {100000, 100000};
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
    static uint8_t bytes[300000];
    taper_error error = {.status = TAPER_OK}, again;
    formats_atomic_file *file;
    if (formats_atomic_file_open(&file, path, FORMATS_ATOMIC_OVERWRITE, NULL, &error)) return 3;
    if (formats_atomic_file_write(file, bytes, sizeof bytes, &error) != TAPER_ERR_IO) return 4;
    if (!strstr(error.text, "File too large")) return 5;
    if (formats_atomic_file_write(file, "more", 4, NULL) != TAPER_ERR_IO) return 6;
    if (formats_atomic_file_problem(file)->status != TAPER_ERR_IO) return 7;
    if (formats_atomic_file_commit(file, &again) != TAPER_ERR_IO) return 8;
    return strcmp(again.text, error.text) ? 9 : 0;
}

static void a_full_disk_loses_nothing(void **state) {
    (void)state;
    char path[SCRATCH_PATH];
    assert_int_equal(write_text("precious", "old", 0, NULL), TAPER_OK);
    int before = scratch_count(folder), outcome;
    scratch_path(path, folder, "precious");
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(write_over_limit(path));
    assert_int_equal(waitpid(child, &outcome, 0), child);
    assert_true(WIFEXITED(outcome));
    assert_int_equal(WEXITSTATUS(outcome), 0);
    assert_content("precious", "old");
    assert_int_equal(scratch_count(folder), before);
}

static void devices_are_written_in_place(void **state) {
    (void)state;
    taper_error error;
    assert_int_equal(formats_file_write("/dev/null", "x", 1, 0, NULL, NULL), TAPER_OK);
    struct stat st;
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    if (access("/dev/full", W_OK) != 0) {
        print_message("skipped: no /dev/full\n");
        return;
    }
    assert_int_equal(formats_file_write("/dev/full", "x", 1, 0, NULL, &error), TAPER_ERR_IO);
    assert_non_null(strstr(error.text, "No space left"));
    assert_non_null(strstr(error.text, "free some space"));
}

static void temporaries_are_announced_and_retracted(void **state) {
    (void)state;
    char path[SCRATCH_PATH];
    watched w = {0};
    const formats_atomic_watch watch = {.user = &w, .will_create = on_create, .gone = on_gone};
    scratch_path(path, folder, "watched");
    assert_int_equal(formats_file_write(path, "1", 1, 0, &watch, NULL), TAPER_OK);
    assert_int_equal(w.created, 1);
    assert_int_equal(w.live, 0);
    formats_atomic_file *file;
    assert_int_equal(formats_atomic_file_open(&file, path, FORMATS_ATOMIC_OVERWRITE, &watch, NULL),
                     TAPER_OK);
    assert_int_equal(w.live, 1);
    assert_int_equal(access(w.last, F_OK), 0);
    formats_atomic_file_abort(file);
    assert_int_equal(w.live, 0);
    scratch_join(path, folder, "missing/out");
    assert_int_equal(formats_atomic_file_open(&file, path, 0, &watch, NULL), TAPER_ERR_IO);
    assert_int_equal(w.live, 0);
}

static void reading_holds_its_ceiling(void **state) {
    (void)state;
    char path[SCRATCH_PATH];
    uint8_t *bytes;
    size_t n;
    taper_error error;
    const taper_limits nine = {.size = sizeof(taper_limits), .max_memory = 9};
    scratch_write(folder, "ten", "0123456789", 10);
    scratch_path(path, folder, "ten");
    assert_int_equal(formats_file_read(path, 10, &bytes, &n, NULL), TAPER_OK);
    assert_int_equal(n, 10);
    free(bytes);
    assert_int_equal(formats_file_read(path, 9, &bytes, &n, &error), TAPER_ERR_LIMIT);
    assert_int_equal(error.fact, TAPER_FACT_MAX_MEMORY);
    assert_null(bytes);
    assert_int_equal(formats_file_read(folder, 9, &bytes, &n, &error), TAPER_ERR_IO);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "0123456789", 10), 10);
    assert_int_equal(close(ends[1]), 0);
    assert_int_equal(formats_descriptor_read(ends[0], &nine, &bytes, &n, &error), TAPER_ERR_LIMIT);
    assert_null(bytes);
    close(ends[0]);
    scratch_write(folder, "empty", "", 0);
    scratch_path(path, folder, "empty");
    assert_int_equal(formats_file_read(path, 0, &bytes, &n, NULL), TAPER_OK);
    assert_int_equal(n, 0);
    assert_non_null(bytes);
    free(bytes);
}

static void sources_read_in_range_only(void **state) {
    (void)state;
    char path[SCRATCH_PATH], to[8];
    taper_error error;
    formats_file *file;
    scratch_write(folder, "source", "0123456789", 10);
    scratch_path(path, folder, "source");
    assert_int_equal(formats_file_open(&file, path, NULL), TAPER_OK);
    formats_memory memory = {(const uint8_t *)"0123456789", 10};
    const taper_source sources[2] = {formats_file_source(file), formats_memory_source(&memory)};
    for (int i = 0; i < 2; i++) {
        const taper_source *s = &sources[i];
        assert_int_equal(s->size, 10);
        assert_int_equal(s->read(s->user, 7, to, 3), TAPER_OK);
        assert_memory_equal(to, "789", 3);
        assert_int_equal(s->read(s->user, 10, to, 0), TAPER_OK);
        assert_int_equal(s->read(s->user, 8, to, 3), TAPER_ERR_TRUNCATED);
        assert_int_equal(s->read(s->user, UINT64_MAX, to, 2), TAPER_ERR_TRUNCATED);
        assert_int_equal(formats_source_read(s, 8, to, 3, &error), TAPER_ERR_TRUNCATED);
        assert_non_null(strstr(error.text, "offset 8 of 10"));
    }
    assert_int_equal(truncate(path, 5), 0); /* the file shrinks behind our back */
    assert_int_equal(sources[0].read(sources[0].user, 4, to, 3), TAPER_ERR_TRUNCATED);
    formats_file_close(file);
    assert_int_equal(formats_file_open(&file, folder, &error), TAPER_ERR_IO);
    assert_int_equal(formats_file_open(&file, "/dev/null", &error), TAPER_ERR_UNSUPPORTED);
    assert_null(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(target_appears_at_commit_only),
        cmocka_unit_test(large_outputs_pass_the_buffer),
        cmocka_unit_test(abort_leaves_everything_as_it_was),
        cmocka_unit_test(existing_targets_need_leave),
        cmocka_unit_test(nothing_outside_of_an_open_folder_is_written),
        cmocka_unit_test(a_race_for_the_name_is_lost_cleanly),
        cmocka_unit_test(bad_places_are_named),
        cmocka_unit_test(a_full_disk_loses_nothing),
        cmocka_unit_test(devices_are_written_in_place),
        cmocka_unit_test(temporaries_are_announced_and_retracted),
        cmocka_unit_test(reading_holds_its_ceiling),
        cmocka_unit_test(sources_read_in_range_only),
    };
    return cmocka_run_group_tests_name("atomic_file", tests, make_folder, remove_folder);
}
