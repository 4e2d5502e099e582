/* name_case.h -- names of images that differ by case only: different files here, but one file on a
 * system that ignores case. */
#ifndef CLI_NAME_CASE_H
#define CLI_NAME_CASE_H
#include <stdint.h>

/* How many of n names differ from an earlier name by case only. NULL and exact duplicates do not
 * count. *example: one such name; unchanged if there is none. UINT64_MAX without memory. */
uint64_t cli_name_case_clashes(const char *const *name, uint64_t n, const char **example);

#define CLI_NAME_CASE_ELSEWHERE "on a system that ignores case their files would be one"

/* Print a warning with this example, which ends in `end`; nothing if clashes is 0. */
void cli_name_case_warn(const char *verb, const char *path, uint64_t clashes, const char *example,
                        const char *end);

/* Count the clashes of a container that is being written, and warn. Returns an exit code; without
 * memory it prints a message. */
int cli_name_case_look(const char *verb, const char *path, const char *const *name, uint64_t n);

#endif
