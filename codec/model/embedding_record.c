/* embedding_record.c -- see embedding_record.h. */
#include "codec/model/embedding_record.h"
#include "codec/model/model_payload.h"
#include "formats/front.h"
#include "formats/model_file.h"
#include <string.h>

/* Nonzero for lower-case letters, digits and hyphens, with a final 0 within the array. */
static int is_name(const char *text) {
    for (size_t i = 0; i < TAPER_OBJECTIVE_BYTES; i++) {
        char c = text[i];
        if (!c) return 1;
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-') return 0;
    }
    return 0;
}

const char *codec_embedding_record_fault(const taper_model_info *info) {
    if (!is_name(info->objective)) return "objective";
    if (info->alpha != 0 && !(info->alpha > 1e-20f && info->alpha < 1e20f)) /* NaN too */
        return "degrees of freedom";
    if (info->classes == 1 || info->classes > FORMATS_MAX_CLASSES) return "number of classes";
    return "";
}

taper_status codec_embedding_record_write(const taper_model_info *info, formats_buffer *out) {
    formats_write_bytes(out, info->objective, strlen(info->objective) + 1);
    codec_write_float(out, info->alpha);
    formats_write_u32le(out, info->classes);
    while (out->status == TAPER_OK && out->size < FORMATS_MODEL_LEAST) formats_write_u8(out, 0);
    return out->status;
}

static void read_name(char *name, formats_cursor *in) {
    size_t n = 0;
    do name[n] = (char)formats_read_u8(in); /* 0 after the payload's end */
    while (name[n] && ++n < TAPER_OBJECTIVE_BYTES);
}

taper_status codec_embedding_record_read(taper_model_info *info, formats_cursor *in,
                                         taper_error *error) {
    read_name(info->objective, in);
    info->alpha = codec_read_float(in);
    info->classes = formats_read_u32le(in);
    TAPER_TRY(formats_cursor_check(in, "model: the record of its training", error));
    const char *fault = codec_embedding_record_fault(info);
    if (*fault)
        return formats_fail(error, TAPER_ERR_CORRUPT, "model: its record has an illegal %s", fault);
    while (in->at < FORMATS_MODEL_LEAST && formats_cursor_left(in))
        if (formats_read_u8(in))
            return formats_fail(error, TAPER_ERR_CORRUPT, "model: its padding is not 0");
    return TAPER_OK;
}
