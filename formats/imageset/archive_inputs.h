/* archive_inputs.h -- collects the images in an archive.
 *
 * Members that may be images are copied to the spool of the list, where they are read on demand:
 * memory does not grow with the archive. Their names become those of images. Links, devices, hidden
 * files and system folders are passed over, and a name that leads out of the archive is refused. */
#ifndef FORMATS_ARCHIVE_INPUTS_H
#define FORMATS_ARCHIVE_INPUTS_H
#include "formats/imageset/recognise.h"

/* 1 if a file that begins with these n bytes may be an archive, also one packed with gzip. */
int formats_is_archive(const uint8_t *front, size_t n);

/* Add the images of an archive. c: its path, name and first bytes. descriptor: of the file, or of a
 * stream of which these bytes have been read. Errors as formats_imageset_add_input. */
taper_status formats_imageset_add_archive(list_builder *b, int descriptor, candidate *c);

#endif
