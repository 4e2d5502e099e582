/* parallel.h -- run a function over the numbers 0..n-1 on several threads. */
#ifndef CLI_COMMON_PARALLEL_H
#define CLI_COMMON_PARALLEL_H
#include <stddef.h>

/* work(user, item, thread) for every item, each once, in no fixed order; thread is 0..threads-1,
 * and two calls with the same thread never overlap. Returns when all are done. Threads that cannot
 * be started are done without. */
void cli_parallel(unsigned threads, size_t n,
                  void (*work)(void *user, size_t item, unsigned thread), void *user);
#endif
