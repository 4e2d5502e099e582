/* picture_names.h -- what the files of decoded images are called: as the images, with the suffix of
 * the format that is written. */
#ifndef CLI_PICTURE_NAMES_H
#define CLI_PICTURE_NAMES_H
#include "cli/picture_plan.h"

/* Fill in name[count] and change[count] of a plan; names that it has are replaced. Those of the
 * whole set are made, so that a file's does not depend on which images are chosen. folding: no two
 * differ by case alone. TAPER_ERR_NOMEM. */
taper_status cli_picture_names_make(cli_picture_plan *plan, const cli_decode_request *request,
                                    const taper_decoder *decoder, bool folding);

/* Say which files are not called as their images are. */
void cli_picture_names_tell(const cli_picture_plan *plan, const cli_decode_request *request,
                            const taper_decoder *decoder);

#endif
