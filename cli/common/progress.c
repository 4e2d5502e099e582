/* progress.c -- the progress line; see progress.h. */
#include "cli/common/progress.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { REDRAW_NS = 100000000 }; /* ten times a second */

static pthread_mutex_t screen = PTHREAD_MUTEX_INITIALIZER; /* guards the next two and `extra` */
static cli_progress *shown;                                /* the progress that is shown, or NULL */
static atomic_bool drawn;                                  /* the line is not empty */

int64_t cli_now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

bool cli_stderr_is_terminal(void) {
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && (!term || strcmp(term, "dumb") != 0);
}

static int terminal_columns(void) {
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* 1234567 -> "1,234,567" */
static char *with_commas(uint64_t n, char to[32]) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n), used = 0;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) to[used++] = ',';
        to[used++] = digits[i];
    }
    to[used] = 0;
    return to;
}

static void show_time(double seconds, char to[24]) {
    if (seconds < 90)
        snprintf(to, 24, "%.0f s", seconds);
    else if (seconds < 5400)
        snprintf(to, 24, "%.0f min", seconds / 60);
    else if (seconds < 3.6e8)
        snprintf(to, 24, "%.1f h", seconds / 3600);
    else
        snprintf(to, 24, "long");
}

/* Append to to[0 .. *used). */
static void append(char *to, size_t room, size_t *used, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void append(char *to, size_t room, size_t *used, const char *format, ...) {
    if (*used >= room) return;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(to + *used, room - *used, format, args);
    va_end(args);
    if (n > 0) *used += (size_t)n;
}

/* The unit, in the singular if n is 1. */
static int unit_length(const char *unit, uint64_t n) {
    size_t length = strlen(unit);
    return (int)(length - (n == 1 && length && unit[length - 1] == 's'));
}

void cli_progress_format(const cli_progress *p, double seconds, int columns, char *to,
                         size_t room) {
    char done_text[32], total_text[32], rate_text[32], left_text[24];
    uint64_t done = atomic_load(&p->done);
    size_t used = 0;
    if (columns > 0 && (size_t)columns < room)
        room = (size_t)columns; /* a wrapped line could not be cleared */
    append(to, room, &used, "%s  %s", p->what, with_commas(done, done_text));
    if (p->total) append(to, room, &used, " of %s", with_commas(p->total, total_text));
    append(to, room, &used, " %.*s", unit_length(p->unit, p->total ? p->total : done), p->unit);
    if (p->total) append(to, room, &used, "  %.0f %%", 100.0 * (double)done / (double)p->total);
    if (done && seconds >= 0.5) { /* an earlier rate would be too inaccurate */
        double rate = (double)done / seconds;
        if (rate >= 10)
            append(to, room, &used, "  %s/s", with_commas((uint64_t)rate, rate_text));
        else
            append(to, room, &used, "  %.2g/s", rate);
        if (p->total > done) {
            show_time((double)(p->total - done) / rate, left_text);
            append(to, room, &used, "  %s left", left_text);
        }
    }
    if (p->extra[0]) append(to, room, &used, "  %s", p->extra);
}

/* With the lock held. */
static void draw(cli_progress *p, int64_t now) {
    char text[256];
    const int64_t elapsed = now > p->start_ns ? now - p->start_ns : 0;
    cli_progress_format(p, (double)elapsed * 1e-9, terminal_columns(), text, sizeof text);
    fprintf(stderr, "\r%s\033[K", text);
    fflush(stderr);
    drawn = true;
}

static void clear(void) {
    if (drawn) fputs("\r\033[K", stderr);
    drawn = false;
}

void cli_progress_start(cli_progress *p, const cli_common *common, const char *what, uint64_t total,
                        const char *unit) {
    memset(p, 0, sizeof *p);
    p->what = what;
    p->unit = unit;
    p->total = total;
    atomic_init(&p->done, 0);
    p->start_ns = cli_now_ns();
    atomic_init(&p->next_draw_ns, p->start_ns + REDRAW_NS);
    if (!cli_stderr_is_terminal() || (common && common->quiet)) return;
    if (common && common->json && isatty(STDOUT_FILENO)) return; /* another progress is shown */
    pthread_mutex_lock(&screen);
    if (!shown) {
        shown = p;
        p->visible = true;
        draw(p, p->start_ns);
    }
    pthread_mutex_unlock(&screen);
}

/* Draw if it is time; the thread that advances next_draw_ns draws. */
static void update(cli_progress *p) {
    if (!p->visible) return;
    int64_t now = cli_now_ns(), due = atomic_load(&p->next_draw_ns);
    if (now < due || !atomic_compare_exchange_strong(&p->next_draw_ns, &due, now + REDRAW_NS))
        return;
    pthread_mutex_lock(&screen);
    draw(p, now);
    pthread_mutex_unlock(&screen);
}

void cli_progress_add(cli_progress *p, uint64_t n) {
    atomic_fetch_add(&p->done, n);
    update(p);
}

void cli_progress_set(cli_progress *p, uint64_t done) {
    atomic_store(&p->done, done);
    update(p);
}

void cli_progress_say(cli_progress *p, const char *format, ...) {
    if (!p->visible) return;
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&screen);
    vsnprintf(p->extra, sizeof p->extra, format, args);
    pthread_mutex_unlock(&screen);
    va_end(args);
}

void cli_progress_end(cli_progress *p) {
    if (!p->visible) return;
    pthread_mutex_lock(&screen);
    clear();
    shown = NULL;
    p->visible = false;
    pthread_mutex_unlock(&screen);
}

void cli_progress_hide(void) {
    pthread_mutex_lock(&screen);
    clear();
    pthread_mutex_unlock(&screen);
}

void cli_progress_abandon(void) {
    if (drawn && write(STDERR_FILENO, "\n", 1) < 0) return; /* the process ends */
}
