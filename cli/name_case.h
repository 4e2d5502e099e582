/* name_case.h -- names of images that differ by case alone: files of their own here, and one file
 * on a system that ignores case. */
#ifndef CLI_NAME_CASE_H
#define CLI_NAME_CASE_H
#include <stdint.h>

/* How many of n names another differs from by case alone, of each such set of names all but one;
 * UINT64_MAX without memory. NULLs and what is there twice do not count. *example: one of them, or
 * as it was. */
uint64_t cli_name_case_clashes(const char *const *name, uint64_t n, const char **example);

#define CLI_NAME_CASE_ELSEWHERE "on a system that ignores case their files would be one"

/* One sentence of them, which ends as said; nothing where clashes is 0. */
void cli_name_case_warn(const char *verb, const char *path, uint64_t clashes, const char *example,
                        const char *end);

/* Both, of a container that is written. Returns an exit code: without memory it prints that. */
int cli_name_case_look(const char *verb, const char *path, const char *const *name, uint64_t n);

#endif
