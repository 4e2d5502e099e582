/* model_file.h -- the envelope of a .tpm file: magic, version, sizes, checksums, zstd. codec/model/
 * has what lies inside, SPEC.md section "Model files" the layout. */
#ifndef FORMATS_MODEL_FILE_H
#define FORMATS_MODEL_FILE_H
#include "formats/bytes.h"

/* The version that is written and read; bytes of the header; bytes of a payload, at least. */
enum { FORMATS_MODEL_VERSION = 3, FORMATS_MODEL_HEADER = 40, FORMATS_MODEL_LEAST = 241 };

/* XXH3-64 (seed 0) of the unpacked payload: the id containers refer to. */
uint64_t formats_model_id(const void *payload, size_t size);

/* Append the envelope around payload to out. TAPER_ERR_ARG: less than FORMATS_MODEL_LEAST. */
taper_status formats_model_pack(const void *payload, size_t size, formats_buffer *out,
                                taper_error *error);

/* *payload is malloc'd, the caller's to free; NULL on failure. Nothing is unpacked before header,
 * length and limits->max_model_bytes have been checked. Bytes after the envelope's end are
 * TAPER_ERR_CORRUPT. */
taper_status formats_model_unpack(const void *bytes, size_t size, const taper_limits *limits,
                                  uint8_t **payload, size_t *payload_size, uint64_t *id,
                                  taper_error *error);

/* Does the header of these bytes say that they are the whole file of the model of this id? What is
 * packed is not read. */
int formats_model_is(const void *bytes, size_t size, uint64_t id);

#endif
