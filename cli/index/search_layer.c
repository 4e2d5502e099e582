/* search_layer.c -- see search_layer.h. */
#include "cli/index/search_layer.h"
#include "cli/index/index_file.h"
#include "codec/taper_quality.h"
#include "formats/bytes.h"
#include "formats/image.h"
#include <stdlib.h>

/* Check the model, and get ready for images. path: for messages. */
static int prepare(cli_search_layer *l, const char *verb, const char *path,
                   const cli_common *common) {
    taper_error error = {0};
    const taper_model_info info = cli_model_info(l->model.model);
    const int code = cli_index_check_model(verb, &info, path);
    if (code != CLI_DONE) return code;
    if (l->bits > info.units) {
        cli_error(verb, path, "its codes have %u bits, not %u: give --search-bits of at most that",
                  info.units, l->bits);
        return CLI_USAGE;
    }
    if (!l->bits) l->bits = info.units;
    const taper_status status =
        cli_embedder_open(&l->embedder, l->model.model, 0, true, cli_threads(common), &error);
    if (status) return cli_fail(verb, path, status, &error);
    l->embedder.scales = true;
    l->numbers = malloc(CLI_SEARCH_LAYER_WAITING * l->embedder.width * sizeof *l->numbers);
    return l->numbers ? CLI_DONE : (int)cli_fail(verb, NULL, TAPER_ERR_NOMEM, NULL);
}

int cli_search_layer_open(cli_search_layer *l, const char *verb, const char *path, uint32_t bits,
                          const cli_common *common) {
    *l = (cli_search_layer){.bits = bits};
    const int code = cli_model_open(&l->model, verb, path, common);
    return code == CLI_DONE ? prepare(l, verb, path, common) : code;
}

int cli_search_layer_take_model(cli_search_layer *l, const char *verb, const taper_model *model,
                                uint32_t bits, const cli_common *common) {
    *l = (cli_search_layer){.bits = bits, .model = {.model = model}};
    return prepare(l, verb, NULL, common);
}

void cli_search_layer_close(cli_search_layer *l) {
    for (size_t i = 0; i < l->held; i++) formats_image_free(&l->waiting[i]);
    free(l->numbers), free(l->codes);
    cli_embedder_close(&l->embedder);
    cli_model_close(&l->model);
    *l = (cli_search_layer){.n = 0};
}

taper_status cli_search_layer_check(const cli_search_layer *l, const taper_image *image,
                                    taper_error *error) {
    return cli_embedder_check(&l->embedder, image, error);
}

/* Compute the codes of the waiting images. */
static taper_status flush(cli_search_layer *l, taper_error *error) {
    const size_t words = (l->bits + 63) / 64;
    taper_status status = TAPER_OK;
    if (l->n + l->held > l->room) {
        const size_t room = 2 * l->room + CLI_SEARCH_LAYER_WAITING;
        uint64_t *codes = realloc(l->codes, room * words * sizeof *codes);
        if (!codes) return TAPER_ERR_NOMEM;
        l->codes = codes, l->room = room;
    }
    if (l->held) status = cli_embedder_codes(&l->embedder, l->waiting, l->held, l->numbers, error);
    if (!status)
        status = taper_index_pack(l->numbers, l->held, l->embedder.width, l->bits,
                                  l->codes + l->n * words, error);
    for (size_t i = 0; i < l->held; i++) formats_image_free(&l->waiting[i]);
    l->n += l->held;
    l->held = 0;
    return status;
}

taper_status cli_search_layer_take(cli_search_layer *l, const taper_image *image,
                                   taper_error *error) {
    TAPER_TRY(taper_image_scale(image, l->embedder.window.width, l->embedder.window.height,
                                &l->waiting[l->held], NULL));
    l->held++;
    return l->held == CLI_SEARCH_LAYER_WAITING ? flush(l, error) : TAPER_OK;
}

taper_status cli_search_layer_finish(cli_search_layer *l, taper_encoder *encoder,
                                     taper_error *error) {
    const taper_status status = flush(l, error);
    if (status) return formats_fail(error, status, "no memory for the codes for search");
    const taper_search_codes codes = {.size = sizeof(taper_search_codes),
                                      .model_id = cli_model_info(l->model.model).id,
                                      .bits = l->bits,
                                      .n = l->n,
                                      .codes = l->codes,
                                      .model_bytes = l->carries_model ? l->model.bytes : NULL,
                                      .model_size = l->model.size};
    return taper_encoder_set_search_codes(encoder, &codes, error);
}
