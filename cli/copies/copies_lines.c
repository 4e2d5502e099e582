/* copies_lines.c -- see copies_lines.h. */
#include "cli/copies/copies_lines.h"
#include "cli/common/json.h"
#include "cli/common/outputs.h"
#include "cli/common/plain_text.h"
#include "formats/imageset/imageset.h"
#include <math.h>
#include <string.h>

/* True if another image comes of the same file: a frame, or an image of a pack. (Equal ones are the
 * same file, given twice.) */
static bool share_file(const cli_found_copies *f, size_t i, size_t k) {
    const formats_imageset *files = f->set->set;
    return f->small->digest[i] != f->small->digest[k] &&
           !strcmp(formats_imageset_path(files, i), formats_imageset_path(files, k));
}

static bool shares_file(const cli_found_copies *f, size_t i) {
    return (i > 0 && share_file(f, i, i - 1)) || (i + 1 < f->small->n && share_file(f, i, i + 1));
}

const char *cli_copy_name(const cli_found_copies *f, size_t image, char room[CLI_IMAGE_NAME]) {
    const cli_code_set *set = f->set;
    const formats_imageset *files = set->set;
    if (files && formats_imageset_name(files, image) && !shares_file(f, image))
        return formats_imageset_path(files, image);
    if (files || cli_container_set_name(set->containers, image))
        return cli_code_set_name(set, image, room);
    snprintf(room, CLI_IMAGE_NAME, "%zu", image + 1);
    return room;
}

static void put_csv(const cli_found_copies *f, const cli_found_copy *c, FILE *to) {
    static const char *const keeps[] = {"0", "1", "link", "1"};
    char room[CLI_IMAGE_NAME];
    fprintf(to, "%llu,", c->group + 1ULL);
    cli_put_csv_name(to, cli_copy_name(f, c->image, room));
    fprintf(to, ",%s\n", keeps[c->kind]);
}

static void put_json(const cli_found_copies *f, const cli_found_copy *c, FILE *to) {
    char room[CLI_IMAGE_NAME];
    cli_json j;
    cli_json_begin(&j, to);
    cli_json_string(&j, "kind", "copy");
    cli_json_uint(&j, "group", c->group + 1ULL);
    cli_json_string(&j, "image", cli_copy_name(f, c->image, room));
    cli_json_uint(&j, "number", c->image + 1ULL);
    cli_json_bool(&j, "keep", c->kind == CLI_COPY_KEPT || c->kind == CLI_COPY_UNLIKE);
    cli_json_number(&j, "score", round(c->agreement.score * 1000.0) / 1000.0);
    if (f->set->set) cli_json_bool(&j, "equal", c->agreement.is_equal);
    cli_json_uint(&j, "width", f->small->width[c->image]);
    cli_json_uint(&j, "height", f->small->height[c->image]);
    if (c->agreement.turn) {
        cli_json_uint(&j, "turned", 90U * (c->agreement.turn & 3U));
        cli_json_bool(&j, "mirrored", c->agreement.turn & 4U);
    }
    if (c->kind == CLI_COPY_LINK) cli_json_string(&j, "link_to", cli_copy_name(f, c->target, room));
    cli_json_end(&j);
}

taper_status cli_put_copies_lines(const cli_found_copies *f, const taper_sink *sink) {
    enum { AT_ONCE = 512 };
    static const char heading[] = "group,image,keep\n";
    const bool json = f->set->common->json;
    if (!json) TAPER_TRY(sink->write(sink->user, heading, strlen(heading)));
    for (size_t i = 0; i < f->n; i += AT_ONCE) {
        cli_text text;
        TAPER_TRY(cli_text_open(&text));
        for (size_t k = i; k < i + AT_ONCE && k < f->n; k++)
            (json ? put_json : put_csv)(f, &f->copy[k], text.to);
        TAPER_TRY(cli_text_write(&text, sink));
    }
    return TAPER_OK;
}
