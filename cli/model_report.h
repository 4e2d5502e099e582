/* model_report.h -- what `taper info` prints of a model. */
#ifndef CLI_MODEL_REPORT_H
#define CLI_MODEL_REPORT_H
#include "cli/common/inputs.h"

/* Print a model to standard output, as text or as a line of JSON: common->json. path: the name it
 * was given by. common->verbose: 1: also its layers; 2: also its units. */
void cli_model_report(const taper_model *model, const char *path, const cli_common *common);

#endif
