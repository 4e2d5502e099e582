/* imageset_inputs.h -- collects the images of an input: file, folder, list or stream. */
#ifndef FORMATS_IMAGESET_INPUTS_H
#define FORMATS_IMAGESET_INPUTS_H
#include "formats/imageset/image_list.h"

/* Add the images of path: a file, a folder or "-". A file that cannot be used is reported to skip.
 * Errors are returned only when the set cannot continue: memory, limits, failing disks. */
taper_status formats_imageset_add_input(list_builder *b, const char *path);
/* Add the files that a text file lists, one per line (null_ended: each ended by NUL), relative to
 * the folder of the list. */
taper_status formats_imageset_add_list(list_builder *b, const char *list_path, int null_ended);

#endif
