/* model_file.h -- the envelope of a .tpm file: magic, version, and a table of stages, each with its
 * size, checksum and zstd frame. codec/model/ reads the payload, which is the contents of all
 * stages in a row; SPEC.md, "Model files", has the layout. */
#ifndef FORMATS_MODEL_FILE_H
#define FORMATS_MODEL_FILE_H
#include "formats/bytes.h"

/* Version that is written and read; size of the header without its table, and of an entry of the
 * table; least size of a payload, in bytes. */
enum {
    FORMATS_MODEL_VERSION = 4,
    FORMATS_MODEL_HEADER = 24,
    FORMATS_MODEL_ENTRY = 20,
    FORMATS_MODEL_LEAST = 241,
    FORMATS_MODEL_MOST_STAGES = 16,
    FORMATS_MODEL_ID_AT = 16
};

/* The end of each stage in the payload. */
typedef struct formats_model_stages {
    uint32_t n; /* 1 .. FORMATS_MODEL_MOST_STAGES */
    size_t end[FORMATS_MODEL_MOST_STAGES];
} formats_model_stages;

typedef struct formats_model_contents {
    uint8_t *payload; /* of the known stages; malloc'd, the caller's to free */
    size_t size;
    uint64_t id;
    formats_model_stages stages; /* ends of unknown ones are above size */
    uint32_t known;              /* the first stages, whose bytes are there */
    uint64_t file_bytes;         /* of the whole file */
} formats_model_contents;

/* The model id, by which containers name a model: XXH3-64 (seed 0) of the unpacked payload. */
uint64_t formats_model_id(const void *payload, size_t size);

/* Append the envelope around a payload, which ends with the last stage, to out. TAPER_ERR_ARG: less
 * than FORMATS_MODEL_LEAST, or a stage without bytes. */
taper_status formats_model_pack(const void *payload, const formats_model_stages *stages,
                                formats_buffer *out, taper_error *error);

/* Unpack the payload. On failure *out is zeroed. The header, the sizes of all stages and
 * limits->max_model_bytes (of the known stages formats_most_model_bytes) are checked before
 * anything is unpacked. Bytes after the end are TAPER_ERR_CORRUPT.
 *
 * prefix 0: all stages must be there, else TAPER_ERR_TRUNCATED; the id is compared. prefix 1: the
 * first one must be; of the others, those are unpacked that are whole. The checksums of known
 * stages are compared. */
taper_status formats_model_unpack(const void *bytes, size_t size, int prefix,
                                  const taper_limits *limits, formats_model_contents *out,
                                  taper_error *error);

/* Where the stages of a model end in its file, by its first bytes, and their checksums. */
typedef struct formats_model_places {
    uint32_t n, known; /* stages; the first of them that are whole */
    uint64_t end[FORMATS_MODEL_MOST_STAGES];
    uint32_t crc[FORMATS_MODEL_MOST_STAGES]; /* of the stored bytes */
    uint64_t id;
} formats_model_places;
/* Read that from the header and the table. TAPER_ERR_CORRUPT, TAPER_ERR_VERSION;
 * TAPER_ERR_TRUNCATED: the table is not there. */
taper_status formats_model_find_stages(const void *bytes, size_t size, formats_model_places *out,
                                       taper_error *error);

/* 1 if the header says that these bytes are the complete file of the model with this id. Does not
 * read the payload. */
int formats_model_is(const void *bytes, size_t size, uint64_t id);

#endif
