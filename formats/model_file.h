/* model_file.h -- the envelope of a .tpm file: magic, version, sizes, checksums, zstd. codec/model/
 * reads the payload; SPEC.md, "Model files", has the layout. */
#ifndef FORMATS_MODEL_FILE_H
#define FORMATS_MODEL_FILE_H
#include "formats/bytes.h"

/* Version that is written and read; size of the header; least size of a payload, in bytes. */
enum { FORMATS_MODEL_VERSION = 3, FORMATS_MODEL_HEADER = 40, FORMATS_MODEL_LEAST = 241 };

/* The model id, by which containers name a model: XXH3-64 (seed 0) of the unpacked payload. */
uint64_t formats_model_id(const void *payload, size_t size);

/* Append the envelope around payload to out. TAPER_ERR_ARG: less than FORMATS_MODEL_LEAST. */
taper_status formats_model_pack(const void *payload, size_t size, formats_buffer *out,
                                taper_error *error);

/* Unpack the payload. *payload is malloc'd and the caller's to free; NULL on failure. Header,
 * length and limits->max_model_bytes are checked before anything is unpacked. Bytes after the end
 * of the envelope are TAPER_ERR_CORRUPT. */
taper_status formats_model_unpack(const void *bytes, size_t size, const taper_limits *limits,
                                  uint8_t **payload, size_t *payload_size, uint64_t *id,
                                  taper_error *error);

/* 1 if the header says that these bytes are the complete file of the model with this id. Does not
 * read the payload. */
int formats_model_is(const void *bytes, size_t size, uint64_t id);

#endif
