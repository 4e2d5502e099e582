/* picture_names.h -- names the files of decoded images: as the images, with the suffix of the
 * output format. */
#ifndef CLI_PICTURE_NAMES_H
#define CLI_PICTURE_NAMES_H
#include "cli/picture_plan.h"

/* Set name[count] and change[count] of a plan, replacing earlier names. The name of a file does not
 * depend on which other images are chosen. folding: true if no two names may differ by case only.
 * TAPER_ERR_NOMEM. */
taper_status cli_picture_names_make(cli_picture_plan *plan, const cli_decode_request *request,
                                    const taper_container *container, bool folding);

/* True if a file of this format has the name of an image as it is, unless an image before it has
 * the same name. */
bool cli_picture_names_keep(cli_picture_format format, const char *name);

/* Print which files have other names than their images. */
void cli_picture_names_report(const cli_picture_plan *plan, const cli_decode_request *request,
                              const taper_container *container);

#endif
