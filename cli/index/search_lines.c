/* search_lines.c -- see search_lines.h. */
#include "cli/index/search_lines.h"
#include "cli/common/json.h"
#include "cli/common/plain_text.h"
#include <stdlib.h>
#include <string.h>

/* Name of image i, or ""; its class, or NULL. */
static const char *name_of(const taper_index *index, uint32_t i) {
    const char *name = taper_index_name(index, i);
    return name ? name : "";
}

static const char *class_of(const taper_index *index, uint32_t i) {
    const int32_t label = taper_index_label(index, i);
    return label < 0 ? NULL : taper_index_class_name(index, (uint32_t)label);
}

/* "name,label" */
static void put_image(const taper_index *index, uint32_t i, FILE *to) {
    const char *class = class_of(index, i);
    cli_put_csv_name(to, name_of(index, i));
    fputc(',', to);
    if (class) cli_put_csv(to, class);
}

/* The file of an image, as the last column, if there are several; and the end of the line. */
static void end_line(const cli_found *f, uint32_t i, FILE *to) {
    const char *path = cli_index_list_path(f->list, i);
    if (path) fputc(',', to), cli_put_csv_name(to, path);
    fputc('\n', to);
}

static void json_image(cli_json *j, const cli_found *f, uint32_t i) {
    const char *path = cli_index_list_path(f->list, i);
    cli_json_open(j, NULL, '{');
    cli_json_string(j, "name", taper_index_name(f->index, i));
    cli_json_string(j, "label", class_of(f->index, i));
    cli_json_uint(j, "image", (uint64_t)i + 1);
    if (path) cli_json_string(j, "index", path);
}

/* --- the nearest ------------------------------------------------------------------------ */

static void nearest_csv(const cli_found *f, size_t i, FILE *to) {
    for (size_t r = 0; r < f->k; r++) {
        const uint32_t image = f->image[i * f->k + r];
        if (image == UINT32_MAX) break;
        cli_put_csv_name(to, f->queries->name[i]);
        fprintf(to, ",%zu,", r + 1);
        put_image(f->index, image, to);
        fprintf(to, ",%u,%llu", f->distance[i * f->k + r], image + 1ULL);
        end_line(f, image, to);
    }
}

static void nearest_json(const cli_found *f, size_t i, FILE *to) {
    cli_json j;
    cli_json_begin(&j, to);
    cli_json_string(&j, "kind", "neighbours");
    cli_json_string(&j, "query", f->queries->name[i]);
    cli_json_uint(&j, "known_bits", f->queries->known_bits[i]);
    cli_json_open(&j, "neighbours", '[');
    for (size_t r = 0; r < f->k && f->image[i * f->k + r] != UINT32_MAX; r++) {
        json_image(&j, f, f->image[i * f->k + r]);
        cli_json_uint(&j, "distance", f->distance[i * f->k + r]);
        cli_json_close(&j);
    }
    cli_json_close(&j);
    cli_json_end(&j);
}

taper_status cli_put_nearest(const cli_found *f, const cli_common *common, const taper_sink *sink) {
    cli_text text;
    for (size_t i = 0; i < f->queries->n; i++) {
        TAPER_TRY(cli_text_open(&text));
        if (!i && !common->json)
            fprintf(text.to, "query,rank,name,label,distance,image%s\n", f->list ? ",index" : "");
        if (common->json)
            nearest_json(f, i, text.to);
        else
            nearest_csv(f, i, text.to);
        TAPER_TRY(cli_text_write(&text, sink));
    }
    return TAPER_OK;
}

/* --- neighbourhoods --------------------------------------------------------------------- */

/* A neighbourhood may have any size: lines are written in blocks, not kept in memory. */
enum { AT_ONCE = 4096 };

static taper_status members_csv(const cli_found *f, size_t i, const taper_index_range *range,
                                uint64_t *code, const taper_sink *sink) {
    cli_text text;
    for (uint64_t at = 0; at < range->count; at += AT_ONCE) {
        TAPER_TRY(cli_text_open(&text));
        for (uint64_t p = at; p < range->count && p < at + AT_ONCE; p++) {
            const uint32_t image = taper_index_code(f->index, range->first + p, code);
            cli_put_csv_name(text.to, f->queries->name[i]);
            fprintf(text.to, ",%u,", range->depth);
            put_image(f->index, image, text.to);
            fprintf(text.to, ",%llu", image + 1ULL);
            end_line(f, image, text.to);
        }
        TAPER_TRY(cli_text_write(&text, sink));
    }
    return TAPER_OK;
}

static taper_status members_json(const cli_found *f, size_t i, const taper_index_range *range,
                                 uint64_t *code, const taper_sink *sink) {
    cli_text text;
    cli_json j;
    TAPER_TRY(cli_text_open(&text));
    cli_json_begin(&j, text.to);
    cli_json_string(&j, "kind", "neighbourhood");
    cli_json_string(&j, "query", f->queries->name[i]);
    cli_json_uint(&j, "bits", range->depth);
    cli_json_uint(&j, "size", range->count);
    cli_json_open(&j, "images", '[');
    for (uint64_t p = 0; p < range->count; p++) {
        json_image(&j, f, taper_index_code(f->index, range->first + p, code));
        cli_json_close(&j);
    }
    cli_json_close(&j);
    cli_json_end(&j);
    return cli_text_write(&text, sink);
}

static taper_status put_members(const cli_found *f, size_t i, const taper_index_range *range,
                                const cli_common *common, const taper_sink *sink) {
    uint64_t *code = malloc(f->queries->words * sizeof *code);
    if (!code) return TAPER_ERR_NOMEM;
    const taper_status status =
        common->json ? members_json(f, i, range, code, sink) : members_csv(f, i, range, code, sink);
    free(code);
    return status;
}

static taper_status put_heading(const cli_found *f, const cli_common *common,
                                const taper_sink *sink) {
    const char *heading =
        f->list ? "query,bits,name,label,image,index\n" : "query,bits,name,label,image\n";
    return common->json ? TAPER_OK : sink->write(sink->user, heading, strlen(heading));
}

int cli_put_neighbourhoods(const cli_found *f, uint64_t least, const cli_common *common,
                           const taper_sink *sink, taper_status *written) {
    const cli_query_codes *q = f->queries;
    const uint64_t images = cli_index_info(f->index).images;
    taper_error error = {0};
    taper_index_range range = {.size = sizeof(taper_index_range)};
    if (least > images) least = images;
    *written = put_heading(f, common, sink);
    for (size_t i = 0; i < q->n && !*written; i++) {
        const taper_status status = taper_index_neighbourhood(
            f->index, q->code + i * q->words, q->known_bits[i], least, &range, &error);
        if (status) return cli_fail("search", NULL, status, &error);
        cli_note(common, "search", "%s: %llu image%s its first %u bit%s", q->name[i],
                 (unsigned long long)range.count, range.count == 1 ? " shares" : "s share",
                 range.depth, formats_plural(range.depth, "s"));
        *written = put_members(f, i, &range, common, sink);
    }
    return CLI_DONE;
}
