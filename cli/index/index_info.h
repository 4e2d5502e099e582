/* index_info.h -- what is in an index, for people and programs. */
#ifndef CLI_INDEX_INFO_H
#define CLI_INDEX_INFO_H
#include "cli/index/index_file.h"

/* On standard output: some lines for people, or one of JSON ("kind":"index"). */
void cli_index_report(const cli_index *index, const char *path, const cli_common *common);

#endif
