/* signals.c -- clean-up of temporary files on signals; see signals.h. */
#include "signals.h"
#include "progress.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_PATH = 4096 };

/* Read by the handler, which takes no lock: a slot's path is complete and constant while it is
 * live. */
static struct {
    atomic_bool live;
    char path[LONGEST_PATH];
} guarded[CLI_GUARDED_PATHS];
static pthread_mutex_t changing =
    PTHREAD_MUTEX_INITIALIZER; /* among those who fill and empty slots */

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
enum { ENDING_COUNT = sizeof ending / sizeof ending[0] };

static void on_signal(int number) {
    for (int i = 0; i < CLI_GUARDED_PATHS; i++)
        if (atomic_load(&guarded[i].live)) unlink(guarded[i].path);
    cli_progress_abandon();
    signal(number, SIG_DFL);
    raise(number); /* blocked while this runs: it ends the process on return */
}

static void ending_set(sigset_t *set) {
    sigemptyset(set);
    for (int i = 0; i < ENDING_COUNT; i++) sigaddset(set, ending[i]);
}

void cli_signals_install(void) {
    struct sigaction action = {.sa_handler = on_signal}, before;
    ending_set(&action.sa_mask);
    for (int i = 0; i < ENDING_COUNT; i++)
        if (sigaction(ending[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(ending[i], &action, NULL);
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

const formats_atomic_watch *cli_signals_watch(void) {
    static const formats_atomic_watch watch = {.will_create = watch_create, .gone = watch_gone};
    return &watch;
}
