/* rewrite_model.c -- writes a model that is built in as a .tpm file of the version that this source
 * writes, with the same weights. It takes the constants that an earlier build has made of the file
 * (unpack_model.c), so that no reader of earlier versions is needed:
 *
 *   cc -std=gnu11 -O2 -I. -DMODEL=models_photo_constant -o rewrite \
 *      models/rewrite_model.c OLD/models/photo_constant.c OLD/models/photo_arrays.S \
 *      codec/model/model_write.c $(cat tests/decoder_sources.txt) -lzstd -lxxhash -lm -pthread
 *   ./rewrite [HEAD_END] >models/photo.tpm
 *
 * HEAD_END: the head corrects pictures of fewer passes only (SPEC.md 11), and loses later stages.
 * OLD is the build folder of the earlier commit. Members of structs that are new since then are 0,
 * and must mean nothing then. models/README.md says when this was done. */
#include "codec/bitplane/conditional.h"
#include "codec/model/model.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const taper_model MODEL;

static void *copy_of(const void *from, size_t size) {
    void *to = malloc(size);
    if (!to) exit(1);
    return memcpy(to, from, size);
}

int main(int argc, char **argv) {
    taper_model m = MODEL;
    codec_conditional head;
    if (argc > 1 && m.tables.head) {
        head = *m.tables.head;
        head.end = (uint32_t)atoi(argv[1]);
        while (head.stages > 1 && head.begin[head.stages - 1] >= head.end) head.stages--;
        m.tables.head = &head;
    }
    const codec_weight_precision precision = {.linear_mse = 0.25}; /* as they were trained */
    const size_t inputs = m.network.inputs;
    formats_buffer out = formats_buffer_make(FORMATS_MOST_BYTES);
    taper_error error = {0};
    m.is_constant = 0;
    m.window.lap = m.lap.reach ? &m.lap : NULL;
    m.network.mean = copy_of(m.network.mean, inputs * sizeof(float));
    m.network.synthesis =
        copy_of(m.network.synthesis, m.network.units * inputs * sizeof *m.network.synthesis);
    if (codec_model_write(&m, &precision, &out, &error) != TAPER_OK ||
        fwrite(out.data, 1, out.size, stdout) != out.size) {
        fprintf(stderr, "rewrite_model: %s\n", error.text);
        return 1;
    }
    formats_buffer_free(&out);
    free(m.network.mean), free(m.network.synthesis);
    return 0;
}
