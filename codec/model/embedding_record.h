/* embedding_record.h -- what an embedding model says of its training, for people and tools: the
 * last part of its payload (SPEC.md, 6.9). In memory it is objective, alpha and classes of a
 * taper_model_info, whose comments have the legal ranges. */
#ifndef CODEC_EMBEDDING_RECORD_H
#define CODEC_EMBEDDING_RECORD_H
#include "codec/taper_model.h"
#include "formats/bytes.h"

/* "" or which of the three fields is not legal. */
const char *codec_embedding_record_fault(const taper_model_info *info);

/* Append the record, and zeros up to FORMATS_MODEL_LEAST bytes in all: `out` holds the payload from
 * its beginning. TAPER_ERR_NOMEM. The record is legal. */
taper_status codec_embedding_record_write(const taper_model_info *info, formats_buffer *out);

/* Read the record and these zeros; `in` is over the payload. TAPER_ERR_CORRUPT: a field is not
 * legal, or the payload ends early. */
taper_status codec_embedding_record_read(taper_model_info *info, formats_cursor *in,
                                         taper_error *error);

#endif
