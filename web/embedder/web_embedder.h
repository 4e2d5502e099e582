/* web_embedder.h -- codes of pictures in a browser: the functions that JavaScript calls
 * (web/js/embedder.js), on codec/taper_model.h alone. A module of its own, which is loaded when a
 * code is wanted: the decoder stays as small as it is.
 *
 * Pointers are addresses in the module's memory, of which JavaScript takes pieces by
 * web_embedder_alloc. One thread uses a module. */
#ifndef WEB_EMBEDDER_H
#define WEB_EMBEDDER_H
#include "codec/taper_model.h"

#ifdef __wasm__
#define WEB_EXPORT(name) __attribute__((export_name(#name)))
#else
#define WEB_EXPORT(name)
#endif

typedef struct web_embedder web_embedder;

/* Memory for what JavaScript passes: NULL if there is none. NULL may be freed. */
void *web_embedder_alloc(size_t size);
void web_embedder_release(void *memory);

/* An embedder of a complete .tpm file, whose bytes may be released then. NULL: no memory. Whether
 * it can be used, web_embedder_status tells: a taper_status, then web_embedder_error has the
 * sentence. */
web_embedder *web_embedder_open(const void *bytes, size_t size);
void web_embedder_close(web_embedder *embedder); /* NULL is allowed */
int web_embedder_status(const web_embedder *embedder);
const char *web_embedder_error(const web_embedder *embedder);

/* Numbers of a code, 0 of an embedder that cannot be used; 1 if they are margins of bits, above 0
 * where the bit is 1; the id, 16 hexadecimal digits. */
uint32_t web_embedder_units(const web_embedder *embedder);
int web_embedder_is_binary(const web_embedder *embedder);
const char *web_embedder_id(const web_embedder *embedder);

/* The code of a picture: float32[units], valid until the next call. rgba[4 * width * height]: 8
 * bits a sample, alpha not premultiplied; it becomes other pixels. Transparency is blended onto
 * white. A picture without colours counts as grey. NULL: see web_embedder_status. */
const float *web_embedder_code(web_embedder *embedder, uint8_t *rgba, uint32_t width,
                               uint32_t height);
#endif
