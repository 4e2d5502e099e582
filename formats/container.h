/* container.h -- the front matter of a .taper file: header, section table, directory, names,
 * labels, model. SPEC.md specifies the layout; codec/bitplane/chunk_coder.h codes the chunks.
 *
 * A writer fills a formats_front and calls formats_front_write. A reader gets a checked
 * formats_front from formats_front_read: all counts, offsets and products in it are consistent.
 *
 * Directory formats/: containers, models and indexes on disk. Files of other programs are read in
 * formats/images/ and formats/imageset/, which the library does not contain.
 *
 *   containers, models and indexes
 *     front            the front matter of a .taper file in memory
 *     container        reads and writes the front matter
 *     directory        reads and writes the contents of its sections
 *     root, leaf       the root and the leaves of a front matter in pages
 *     name_pages       its pages of hashes of names
 *     paging           front matter in one piece to pages, and back
 *     metadata_reader  reads the metadata of images
 *     metadata_writer  makes the section of the metadata of images
 *     also             further names of images
 *     set_part         which part of a set a container has
 *     packed           contents that may be zstd frames
 *     name_block       finds the names of a section, and whether they are legal
 *     name_escape      escapes control characters in names; legal names
 *     holds            which cuts are rendered as a shorter cut
 *     model_file       the envelope of a .tpm file
 *     index_file       a .tpx file
 *     index_set_part   its record of the part of a set that it has
 *     merge_names      names and classes of containers that are merged
 *     merge_metadata   metadata of containers that are merged
 *
 *   basic types and files
 *     taper_types      types that all modules share: status, error, image, limits, source, sink
 *     status           the error convention and the default limits
 *     sized            public structs that may grow
 *     account layout   the memory that a handle uses; the arrays of an object in one block
 *     bytes            bounds-checked reading and writing in memory, varints, CRC32C
 *     image            creates, checks and converts images
 *     file             reads files and descriptors
 *     path_lines       lists of paths in a file
 *     atomic_file      output files that appear whole or not at all
 *
 * teaching_decoder.py and teaching_index.py are decoders in Python, written to be read. */
#ifndef FORMATS_CONTAINER_H
#define FORMATS_CONTAINER_H
#include "formats/root.h"

/* *need: how many bytes from the start of the file formats_front_read needs next. It names the
 * header first, then the section table, then all sections. *need <= size: the front matter is
 * complete. Errors as formats_front_read. */
taper_status formats_front_need(const void *bytes, size_t size, uint64_t *need, taper_error *error);

/* Parse the front matter from the first bytes of a file. On success *out is the caller's: free it
 * with formats_front_free. On failure it needs no free.
 * TAPER_ERR_TRUNCATED: more bytes are needed; the text says how many.
 * TAPER_ERR_VERSION: the file requires an unknown feature or section.
 * TAPER_ERR_CORRUPT, TAPER_ERR_LIMIT, TAPER_ERR_NOMEM. */
taper_status formats_front_read(const void *bytes, size_t size, const taper_limits *limits,
                                formats_front *out, taper_error *error);
/* The same for readers of some images. Of a paged container (root.h), the bytes before its leaves
 * are needed, and *out has no images: formats_leaf_read reads these. Codes and models for search
 * are read only if they lie before the leaves. *root has leaves 0 if the container is not paged;
 * then all sections are needed, and *out is complete. Free both. */
taper_status formats_head_need(const void *bytes, size_t size, uint64_t *need, taper_error *error);
taper_status formats_head_read(const void *bytes, size_t size, const taper_limits *limits,
                               formats_front *out, formats_root *root, taper_error *error);

/* Append the front matter to out; sets front_size. More than FORMATS_LEAF_IMAGES images are written
 * in pages, if there are two leaves or more (paging.h). */
taper_status formats_front_write(formats_front *front, formats_buffer *out, taper_error *error);
/* The same with leaves of at least `each` images. */
taper_status formats_front_write_paged(formats_front *front, uint32_t each, formats_buffer *out,
                                       taper_error *error);

#endif
