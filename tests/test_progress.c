/* test_progress.c -- the progress line's words, its silence off a terminal, and the clean-up on
 * signals. */
#include "cli/common/progress.h"
#include "cli/common/signals.h"
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
/* after the four headers it needs */
#include <cmocka.h>

static void the_line_says_rate_and_time_left(void **state) {
    (void)state;
    cli_progress p;
    char text[256];
    cli_progress_start(&p, NULL, "encoding", 10000, "images");
    cli_progress_format(&p, 0, 80, text, sizeof text);
    assert_string_equal(text, "encoding  0 of 10,000 images  0 %");
    cli_progress_add(&p, 1200);
    cli_progress_format(&p, 2, 80, text, sizeof text);
    assert_string_equal(text, "encoding  1,200 of 10,000 images  12 %  600/s  15 s left");
    snprintf(p.extra, sizeof p.extra, "loss 3.5");
    cli_progress_set(&p, 10000);
    cli_progress_format(&p, 5000, 80, text, sizeof text);
    assert_string_equal(text, "encoding  10,000 of 10,000 images  100 %  2/s  loss 3.5");
    cli_progress_format(&p, 5000, 20, text, sizeof text);
    assert_int_equal(strlen(text), 19); /* a wrapped line could not be cleared */
    cli_progress_end(&p);
    cli_progress_start(&p, NULL, "reading", 0, "bytes");
    cli_progress_add(&p, 1);
    cli_progress_format(&p, 4, 80, text, sizeof text);
    assert_string_equal(text, "reading  1 byte  0.25/s");
    cli_progress_end(&p);
}

static void silent_off_a_terminal(void **state) {
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    int err = dup(2);
    dup2(fileno(file), 2);
    cli_progress p;
    cli_progress_start(&p, NULL, "encoding", 10, "images");
    cli_progress_say(&p, "loss %d", 3);
    cli_progress_add(&p, 10);
    cli_progress_end(&p);
    dup2(err, 2);
    close(err);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    assert_int_equal(ftell(file), 0);
    fclose(file);
}

/* In the child: one output is committed, one begun, one guarded by hand, one released; then the
 * signal. */
static void begin_and_die(const char *folder, int number) {
    if (chdir(folder) != 0) _exit(1);
    signal(number, SIG_DFL);
    cli_signals_install();
    const formats_atomic_watch *watch = cli_signals_watch();
    formats_atomic_file *file;
    if (formats_file_write("done", "abc", 3, 0, watch, NULL) != TAPER_OK) _exit(2);
    if (formats_atomic_file_open(&file, "begun", 0, watch, NULL) != TAPER_OK) _exit(3);
    fclose(fopen("guarded", "w"));
    fclose(fopen("released", "w"));
    if (!cli_signals_guard("guarded") || !cli_signals_guard("released")) _exit(4);
    cli_signals_release("released");
    cli_signals_release("never guarded");
    raise(number);
    _exit(5);
}

/* After the signal only what was complete is there, and the process died of that signal. */
static void a_signal_leaves_nothing_half_written(void **state) {
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        char folder[] = "/tmp/taper-signals-XXXXXX", path[64];
        assert_non_null(mkdtemp(folder));
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) begin_and_die(folder, signals[i]);
        int how;
        assert_int_equal(waitpid(child, &how, 0), child);
        if (!WIFSIGNALED(how)) fail_msg("the child left with code %d", WEXITSTATUS(how));
        assert_int_equal(WTERMSIG(how), signals[i]);
        snprintf(path, sizeof path, "%s/done", folder);
        assert_int_equal(unlink(path), 0);
        snprintf(path, sizeof path, "%s/released", folder);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(rmdir(folder), 0); /* nothing else was left */
    }
}

static void the_table_of_guarded_paths_ends(void **state) {
    (void)state;
    for (int i = 0; i < CLI_GUARDED_PATHS; i++)
        assert_true(cli_signals_guard(i == 5 ? "five" : "no-such-file"));
    assert_false(cli_signals_guard("one-too-many"));
    cli_signals_release("five");
    assert_true(cli_signals_guard("again"));
    cli_signals_release("again");
    for (int i = 1; i < CLI_GUARDED_PATHS; i++) cli_signals_release("no-such-file");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_line_says_rate_and_time_left),
                                       cmocka_unit_test(silent_off_a_terminal),
                                       cmocka_unit_test(a_signal_leaves_nothing_half_written),
                                       cmocka_unit_test(the_table_of_guarded_paths_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
