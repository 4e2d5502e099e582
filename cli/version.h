/* version.h -- the version of this build. */
#ifndef CLI_VERSION_H
#define CLI_VERSION_H
#include <stdbool.h>
#include <stdio.h>

/* Print "taper 1.0.0"; with details also the kernels used on this machine and the versions of
 * libraries. */
void cli_version(FILE *to, bool details);

#endif
