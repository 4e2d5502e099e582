/* version.h -- what this build is. */
#ifndef CLI_VERSION_H
#define CLI_VERSION_H
#include <stdbool.h>
#include <stdio.h>

/* "taper 0.1.0"; with details also the kernels that run on this machine and the libraries'
 * versions. */
void cli_version(FILE *to, bool details);

#endif
