/* no_models.c -- for the decoder alone (tests/decoder_sources.txt), which carries no models: it
 * takes the place of builtin_models.c and models.S. The library is made without it. */
#include "codec/model/builtin_models.h"

int codec_builtin_model_of(uint64_t id, codec_builtin_model *out) {
    (void)id, (void)out;
    return 0;
}

/* Never called: there is no built-in model to open. */
taper_status codec_builtin_model_open(const codec_builtin_model *builtin,
                                      const taper_limits *limits, taper_model **out,
                                      taper_error *error) {
    (void)builtin, (void)limits, (void)out;
    return formats_fail(error, TAPER_ERR_MODEL, "no model is built in");
}
