/* model_payload.h -- extracts the payload of a model file and packs it again, for tests of illegal
 * payloads. */
#ifndef TESTS_MODEL_PAYLOAD_H
#define TESTS_MODEL_PAYLOAD_H
#include "cmocka_all.h"
#include "codec/taper_model.h"
#include "formats/model_file.h"
#include <stdlib.h>

/* formats_buffer_free. */
static inline formats_buffer payload_of(const formats_buffer *file) {
    formats_model_contents c;
    assert_int_equal(formats_model_unpack(file->data, file->size, 0, NULL, &c, NULL), TAPER_OK);
    formats_buffer out = formats_buffer_make(1 << 24);
    formats_write_bytes(&out, c.payload, c.size);
    free(c.payload);
    return out;
}

/* A file of one stage, in which all parts of any model may lie. */
static inline taper_status pack_payload(const void *payload, size_t size, formats_buffer *file) {
    const formats_model_stages one = {1, {size}};
    return formats_model_pack(payload, &one, file, NULL);
}

/* Pack the payload into a file and load it. */
static inline taper_status load_payload(const formats_buffer *payload, taper_error *error) {
    formats_buffer file = formats_buffer_make(1 << 24);
    taper_model *m;
    *error = (taper_error){0};
    assert_int_equal(pack_payload(payload->data, payload->size, &file), 0);
    taper_status status = taper_model_load(&m, file.data, file.size, NULL, error);
    assert_int_equal(status, error->status);
    taper_model_free(m);
    formats_buffer_free(&file);
    return status;
}

#endif
