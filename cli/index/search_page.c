/* search_page.c -- see search_page.h. Pictures are read as they are put on the page. */
#include "cli/index/search_page.h"
#include "cli/common/page.h"
#include "cli/common/plain_text.h"
#include <string.h>

enum { MOST_COLUMNS = 10, MOST_QUERIES = 200 };

/* --- a row: a query, and what was found ------------------------------------------------- */

static taper_status put_query(const cli_found *f, size_t i, cli_indexed_pictures *pictures,
                              FILE *to) {
    const cli_query_codes *q = f->queries;
    const bool is_member = q->self[i] >= 0;
    const size_t shown = pictures->shown;
    const char *own = is_member ? taper_index_name(f->index, (uint64_t)q->self[i]) : NULL;
    const cli_indexed_picture picture = {.name = own ? own : q->name[i], .first = "the query"};
    const taper_status status =
        is_member ? cli_indexed_pictures_put(pictures, &picture, to)
                  : cli_indexed_pictures_put_other(pictures, q->set, q->image[i], &picture, to);
    pictures->shown = shown; /* a query's picture is none of those found */
    return status;
}

static taper_status put_found(const cli_found *f, size_t at, cli_indexed_pictures *pictures,
                              FILE *to) {
    char distance[32], caption[320], file[256];
    const uint32_t image = f->image[at];
    if (image == UINT32_MAX) return TAPER_OK;
    snprintf(distance, sizeof distance, f->least ? "%u bit%s" : "distance %u", f->distance[at],
             formats_plural(f->distance[at], "s"));
    const char *path = cli_index_list_path(f->list, image);
    if (!path) return cli_indexed_pictures_put_image(pictures, f->index, image, distance, to);
    cli_plain_text(file, sizeof file, strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
    snprintf(caption, sizeof caption, "%s, %s", distance, file);
    return cli_indexed_pictures_put_image(pictures, f->index, image, caption, to);
}

/* The name of the query above its first row; of neighbourhoods what each row is. */
static taper_status put_row(const cli_found *f, size_t row, size_t columns,
                            cli_indexed_pictures *pictures, FILE *to) {
    char plain[2 * CLI_IMAGE_NAME];
    const size_t query = row / f->rows_a_query;
    const bool is_first = row % f->rows_a_query == 0;
    taper_status status = TAPER_OK;
    if (is_first) {
        cli_plain_text(plain, sizeof plain, f->queries->name[query]);
        cli_page_subheading(to, plain);
    }
    if (f->least) cli_page_label(to, f->label[row]);
    cli_page_pictures_begin(to, true);
    if (is_first) status = put_query(f, query, pictures, to);
    for (size_t j = 0; j < columns && !status; j++)
        status = put_found(f, row * f->k + j, pictures, to);
    cli_page_pictures_end(to);
    return status;
}

/* What was searched for. */
static void put_beginning(const cli_found *f, FILE *to) {
    const taper_index_info info = cli_index_info(f->index);
    char about[280];
    if (f->least)
        snprintf(about, sizeof about,
                 "Of %llu images with codes of %u bits, those that share a query's first bits: the "
                 "smallest neighbourhood of at least %llu, then of four times as many, and so on.",
                 (unsigned long long)info.images, info.bits, (unsigned long long)f->least);
    else
        snprintf(about, sizeof about,
                 "The nearest of %llu images by codes of %u bits%s. Distances count differing "
                 "bits%s.",
                 (unsigned long long)info.images, info.bits,
                 f->is_filtered ? ", of the class that was asked for" : "",
                 info.is_weighted ? ", earlier ones more" : "");
    cli_page_begin(to, f->least ? "Neighbourhoods" : "Neighbours", about);
}

static taper_status put_page(const cli_found *f, cli_indexed_pictures *pictures, FILE *to) {
    const size_t columns = f->k < MOST_COLUMNS ? f->k : MOST_COLUMNS;
    const size_t queries = f->queries->n < MOST_QUERIES ? f->queries->n : MOST_QUERIES;
    char more[120];
    taper_status status = TAPER_OK;
    put_beginning(f, to);
    if (queries < f->queries->n) {
        snprintf(more, sizeof more, "The first %zu of %zu queries.", queries, f->queries->n);
        cli_page_text(to, more);
    }
    for (size_t row = 0; row < queries * f->rows_a_query && !status; row++)
        if (!f->least || f->label[row][0]) status = put_row(f, row, columns, pictures, to);
    cli_page_end(to, f->least ? "Below each image stands how many leading bits it shares with the "
                                "query, and its label where it has one, and its file's name."
                              : "Below each neighbour stands its distance, and its label where it "
                                "has one, and its file's name.");
    return status;
}

int cli_search_page_write(const cli_found *found, const cli_code_set *set, const char *path,
                          const cli_common *common) {
    cli_indexed_page page;
    int code = cli_indexed_page_open(&page, set, path, common);
    if (code != CLI_DONE) return code;
    return cli_indexed_page_close(&page, put_page(found, &page.pictures, page.text.to));
}
