/* manual.h -- manual pages (roff) and shell completions, made from the option tables. `make
 * install` writes them with the hidden verbs `taper __man VERB` and `taper __completion SHELL`. */
#ifndef CLI_MANUAL_H
#define CLI_MANUAL_H
#include "cli/common/options.h"

/* taper-VERB(1). */
void cli_manual_verb(const cli_verb *verb, FILE *to);
/* taper(1): the verbs (a NULL-terminated list), and what they have in common. */
void cli_manual_main(const cli_verb *const *verbs, FILE *to);

/* Completion scripts for bash (source it, or install it as completions/taper) and for zsh (install
 * it as _taper on fpath). */
void cli_completion_bash(const cli_verb *const *verbs, FILE *to);
void cli_completion_zsh(const cli_verb *const *verbs, FILE *to);

#endif
