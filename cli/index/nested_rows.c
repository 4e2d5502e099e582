/* nested_rows.c -- see nested_rows.h. */
#include "cli/index/nested_rows.h"
#include <stdlib.h>

enum { COLUMNS = 8, TIMES = 4 };

static uint32_t shared_bits(const uint64_t *a, const uint64_t *b, uint32_t bits) {
    uint32_t j = 0;
    while (j < bits && !((a[j / 64] ^ b[j / 64]) >> (63 - j % 64) & 1)) j++;
    return j;
}

/* The images of a row: spread over the neighbourhood. code: [words]. */
static void put_row(cli_found *f, size_t query, size_t row, const taper_index_range *range,
                    uint64_t *code) {
    const cli_query_codes *q = f->queries;
    snprintf(f->label[row], sizeof f->label[row], "%u bit%s: %llu image%s", range->depth,
             formats_plural(range->depth, "s"), (unsigned long long)range->count,
             formats_plural(range->count, "s"));
    size_t at = row * COLUMNS;
    for (size_t j = 0; j < COLUMNS; j++) {
        const uint64_t place = range->first + j * range->count / COLUMNS;
        const uint32_t image = taper_index_code(f->index, place, code);
        const bool is_twice = at > row * COLUMNS && f->image[at - 1] == image;
        if (is_twice || image == q->self[query]) continue;
        f->image[at] = image;
        f->distance[at++] = shared_bits(q->code + query * q->words, code, q->known_bits[query]);
    }
}

static taper_status put_query(cli_found *f, size_t query, uint64_t least, uint64_t *code,
                              taper_error *error) {
    const cli_query_codes *q = f->queries;
    const uint64_t images = cli_index_info(f->index).images;
    if (least > images) least = images;
    for (size_t r = 0; r < CLI_NESTED_ROWS; r++) {
        taper_index_range range = {.size = sizeof(taper_index_range)};
        TAPER_TRY(taper_index_neighbourhood(f->index, q->code + query * q->words,
                                            q->known_bits[query], least, &range, error));
        put_row(f, query, query * CLI_NESTED_ROWS + r, &range, code);
        if (range.count >= images) break;
        least = range.count > images / TIMES ? images : range.count * TIMES;
    }
    return TAPER_OK;
}

taper_status cli_nested_rows(cli_found *f, uint64_t least, taper_error *error) {
    const size_t rows = f->queries->n * CLI_NESTED_ROWS;
    uint64_t *code = malloc((f->queries->words + 1) * sizeof *code);
    f->least = least;
    f->k = COLUMNS;
    f->rows_a_query = CLI_NESTED_ROWS;
    f->image = malloc((rows * COLUMNS + 1) * sizeof *f->image);
    f->distance = malloc((rows * COLUMNS + 1) * sizeof *f->distance);
    f->label = calloc(rows + 1, sizeof *f->label);
    taper_status status = code && f->image && f->distance && f->label
                              ? TAPER_OK
                              : formats_fail(error, TAPER_ERR_NOMEM, "no memory for a page");
    for (size_t i = 0; i < rows * COLUMNS && !status; i++) f->image[i] = UINT32_MAX;
    for (size_t i = 0; i < f->queries->n && !status; i++)
        status = put_query(f, i, least, code, error);
    free(code);
    return status;
}

void cli_nested_rows_free(cli_found *f) {
    free(f->image), free(f->distance), free(f->label);
    f->image = f->distance = NULL;
    f->label = NULL;
}
