/* embedding_record.h -- how an embedding model was trained, for information: the last part of its
 * payload (SPEC.md, 6.9). In memory: objective, alpha and classes of taper_model_info, which
 * documents the legal ranges. */
#ifndef CODEC_EMBEDDING_RECORD_H
#define CODEC_EMBEDDING_RECORD_H
#include "codec/taper_model.h"
#include "formats/bytes.h"

/* The name of the first field that is not legal, or "". */
const char *codec_embedding_record_fault(const taper_model_info *info);

/* Append the record, which must be legal, and zeros up to a payload of FORMATS_MODEL_LEAST bytes.
 * out: the payload from its beginning. TAPER_ERR_NOMEM. */
taper_status codec_embedding_record_write(const taper_model_info *info, formats_buffer *out);

/* Read the record and these zeros. in: a cursor over the payload. TAPER_ERR_CORRUPT: a field is not
 * legal, or the payload is too short. */
taper_status codec_embedding_record_read(taper_model_info *info, formats_cursor *in,
                                         taper_error *error);

#endif
