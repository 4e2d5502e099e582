/* signals.c -- see signals.h. */
#include "cli/common/signals.h"
#include "cli/common/messages.h"
#include "cli/common/progress.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_PATH = 4096 };

/* Read by the handler without a lock: the path of a slot is complete and constant while it is live.
 *  */
static struct {
    atomic_bool live;
    char path[LONGEST_PATH];
} guarded[CLI_GUARDED_PATHS];
static pthread_mutex_t changing =
    PTHREAD_MUTEX_INITIALIZER; /* for threads that fill and empty slots */

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT, SIGXCPU};
enum { ENDING_COUNT = sizeof ending / sizeof ending[0] };

/* Number of threads between hold and let_go, and the pending signal, or 0. hold increments the
 * first, then reads the second; the handler sets the second, then reads the first. So at least one
 * of them sees the other. */
static atomic_int holding, came;

static void end(int number) {
    for (int i = 0; i < CLI_GUARDED_PATHS; i++)
        if (atomic_load(&guarded[i].live)) unlink(guarded[i].path);
    cli_progress_abandon();
    signal(number, SIG_DFL);
    raise(number); /* it is blocked in the handler, and ends the process on return */
}

static void on_signal(int number) {
    int none = 0;
    atomic_compare_exchange_strong(&came, &none, number);
    if (atomic_load(&holding) == 0) end(number); /* else the last let_go does it */
}

void cli_signals_let_go(void) {
    if (atomic_fetch_sub(&holding, 1) == 1 && atomic_load(&came)) end(atomic_load(&came));
}

void cli_signals_hold(void) {
    atomic_fetch_add(&holding, 1);
    if (!atomic_load(&came)) return;
    cli_signals_let_go();
    for (;;) pause(); /* the process is ending: no file may be created */
}

static void ending_set(sigset_t *set) {
    sigemptyset(set);
    for (int i = 0; i < ENDING_COUNT; i++) sigaddset(set, ending[i]);
}

void cli_signals_install(void) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;
    ending_set(&action.sa_mask);
    for (int i = 0; i < ENDING_COUNT; i++)
        if (sigaction(ending[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(ending[i], &action, NULL);
    signal(SIGXFSZ, SIG_IGN); /* write returns EFBIG instead */
}

bool cli_signals_guard(const char *path) {
    size_t n = strlen(path) + 1;
    if (n > LONGEST_PATH) return false;
    bool found = false;
    pthread_mutex_lock(&changing);
    for (int i = 0; i < CLI_GUARDED_PATHS && !found; i++) {
        if (atomic_load(&guarded[i].live)) continue;
        memcpy(guarded[i].path, path, n);
        atomic_store(&guarded[i].live, true);
        found = true;
    }
    pthread_mutex_unlock(&changing);
    return found;
}

void cli_signals_release(const char *path) {
    pthread_mutex_lock(&changing);
    for (int i = 0; i < CLI_GUARDED_PATHS; i++) {
        if (!atomic_load(&guarded[i].live) || strcmp(guarded[i].path, path) != 0) continue;
        atomic_store(&guarded[i].live, false);
        break;
    }
    pthread_mutex_unlock(&changing);
}

static void watch_create(void *user, const char *temporary) {
    (void)user;
    cli_signals_guard(temporary);
}

static void watch_gone(void *user, const char *temporary) {
    (void)user;
    cli_signals_release(temporary);
}

static void watch_hold(void *user) {
    (void)user;
    cli_signals_hold();
}

static void watch_let_go(void *user) {
    (void)user;
    cli_signals_let_go();
}

static void watch_not_synced(void *user, const char *target, const taper_error *why) {
    (void)user;
    cli_warning(NULL, target, "is written, but may not survive a power failure: %s",
                cli_explain(why).text);
}

const formats_atomic_watch *cli_signals_watch(void) {
    static const formats_atomic_watch watch = {.will_create = watch_create,
                                               .gone = watch_gone,
                                               .hold = watch_hold,
                                               .let_go = watch_let_go,
                                               .not_synced = watch_not_synced};
    return &watch;
}
