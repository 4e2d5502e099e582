/* container.h -- the front matter of a .taper file: header, section table, directory, names,
 * labels, model. codec/bitplane/chunk_coder.h has the chunks, SPEC.md the layout, field by field.
 *
 * Writers fill a formats_front and call formats_front_write. Readers get it from
 * formats_front_read, checked: every count, offset and product in it is then consistent with every
 * other.
 *
 * The room formats/: bytes on disk.
 *   front container       the front matter of a .taper file in memory; read and written
 *   holds                 which cuts of it are drawn as shorter ones
 *   directory             what its sections hold
 *   model_file            the envelope of a .tpm file
 *   taper_types           the types that all modules share: status, error, image, limits, source
 *   status, account       the error convention and default limits; the memory of a handle
 *   bytes                 checked reading and writing in memory, varints, CRC32C
 *   file, folder_walk     reading files and folders; foreign: formats that are not read, by name
 *   atomic_file           outputs that appear whole or not at all
 *   image                 making, comparing and converting images, every size checked
 *   png, pnm, jpeg, gzip  files in memory; png_text: the text chunks of a PNG; own_mark: what a
 *                         picture says of who wrote it
 *   metadata              what they hold besides pixels; exif, xmp: which way up; icc: colours
 *   idx, cifar            files of many images
 *   labels                from IDX, CSV and folder names; label_index: lines by name;
 *                         label_names: which image a name means
 *   npy                   arrays as numpy reads them
 *   image_names           relative, safe, unique names; merge_names: those of joined sets
 *   name_key              names to compare, in one normal form; decompositions: its table
 *   name_escape           names as text, without control characters
 *   index_file            a .tpx file
 *   imageset              a set of images from any of these; image_list: its files and places,
 *                         recognise: what a file is, imageset_inputs: what there is,
 *                         imageset_names: its names, imageset_labels: its labels,
 *                         skip: what gives no image
 * SPEC.md is the format; teaching_decoder.py a decoder to read, page after page of Python. */
#ifndef FORMATS_CONTAINER_H
#define FORMATS_CONTAINER_H
#include "formats/front.h"

/* How many bytes of the file's start are needed to know more: the header, then the section table,
 * then all sections; <= size once the front is whole. Errors as formats_front_read's. */
taper_status formats_front_need(const void *bytes, size_t size, uint64_t *need, taper_error *error);

/* Parse the front from the file's first bytes. TAPER_ERR_TRUNCATED: "incomplete header, need N more
 * bytes". TAPER_ERR_CORRUPT, _VERSION (unknown required feature or section), _LIMIT, _NOMEM. On
 * failure nothing is held. */
taper_status formats_front_read(const void *bytes, size_t size, const taper_limits *limits,
                                formats_front *out, taper_error *error);
/* Append the front matter to out; sets front_size. */
taper_status formats_front_write(formats_front *front, formats_buffer *out, taper_error *error);

#endif
