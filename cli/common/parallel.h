/* parallel.h -- run a function over the numbers 0..n-1 on several threads. */
#ifndef CLI_COMMON_PARALLEL_H
#define CLI_COMMON_PARALLEL_H
#include <stddef.h>

/* Calls work(user, item, thread) once for every item, in no fixed order. thread: 0..threads-1;
 * calls with the same thread never overlap. Returns when all items are done. If threads cannot be
 * started, the others do their work. */
void cli_parallel(unsigned threads, size_t n,
                  void (*work)(void *user, size_t item, unsigned thread), void *user);
#endif
