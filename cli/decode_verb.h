/* decode_verb.h -- `decode` for verbs that decode images in their own words: `extract`. */
#ifndef CLI_DECODE_VERB_H
#define CLI_DECODE_VERB_H
#include "cli/common/options.h"

extern const cli_option cli_decode_options[];
extern const char *const cli_decode_uses[];

/* Run `decode` as this verb, which has the options above: messages have its name, and operands
 * after the container select images. Returns the exit code. */
int cli_decode_as(const cli_verb *verb, int argc, char **argv);

#endif
