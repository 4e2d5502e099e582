/* index_info.h -- prints the contents of an index. */
#ifndef CLI_INDEX_INFO_H
#define CLI_INDEX_INFO_H
#include "cli/index/index_file.h"

/* Print some lines of text, or one line of JSON ("kind":"index"), on standard output. */
void cli_index_report(const cli_index *index, const char *path, const cli_common *common);

#endif
