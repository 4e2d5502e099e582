/* strip_writer.h -- encoding a large image strip by strip, from codes that wait in a file. The
 * bytes are those of codec_strips_encode with all strips in memory. */
#ifndef CODEC_STRIP_WRITER_H
#define CODEC_STRIP_WRITER_H
#include "codec/groups/group_writer.h"
#include "codec/groups/strip_codes.h"

/* As codec_group_write, for a group of this image. Coding does not end early at a limit by itself:
 * passes that are surely behind it are left out, and all are encoded if that was wrong. */
taper_status codec_strips_write(const codec_group_writer *writer, const codec_strip_codes *codes,
                                formats_buffer *out, codec_written_group *written,
                                taper_error *error);
/* Upper bound of its memory, as far as the data of an image are not larger than usual. */
uint64_t codec_strips_write_bytes(const taper_model *model, const taper_image *image, int measure);

#endif
