/* failing_clock.c -- to be preloaded: a clock that goes back by ten seconds each time it is asked,
 * whichever it is. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <time.h>

int clock_gettime(clockid_t which, struct timespec *to) {
    static atomic_long asked;
    (void)which;
    to->tv_sec = 1000000000 - 10 * atomic_fetch_add(&asked, 1);
    to->tv_nsec = 0;
    return 0;
}
