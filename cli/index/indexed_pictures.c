/* indexed_pictures.c -- see indexed_pictures.h. Pictures are read as they are put on the page. */
#include "cli/index/indexed_pictures.h"
#include "cli/common/page.h"
#include "cli/common/plain_text.h"
#include "cli/index/index_file.h"
#include "cli/search/thumbnail.h"
#include "formats/image.h"
#include <stdlib.h>
#include <string.h>

enum { CAPTION = 80 };

static int by_name(const void *a, const void *b) {
    const cli_named_image *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : (x->image > y->image) - (x->image < y->image);
}

static void close_pictures(cli_indexed_pictures *p) {
    for (size_t i = 0; i < p->n; i++) free(p->at[i].name);
    free(p->at), free(p->is_told);
}

static taper_status open_pictures(cli_indexed_pictures *p, const cli_code_set *set) {
    char room[CLI_IMAGE_NAME];
    const size_t images = set ? cli_code_set_images(set) : 0;
    *p = (cli_indexed_pictures){.set = set,
                                .at = malloc((images + 1) * sizeof *p->at),
                                .is_told = calloc(images + 1, sizeof *p->is_told)};
    if (!p->at || !p->is_told) return TAPER_ERR_NOMEM;
    for (; p->n < images; p->n++) {
        char *name = cli_index_name(cli_index_path(set, p->n, room));
        if (!name) return TAPER_ERR_NOMEM;
        p->at[p->n] = (cli_named_image){name, p->n};
    }
    qsort(p->at, p->n, sizeof *p->at, by_name);
    return TAPER_OK;
}

static const cli_named_image *find(const cli_indexed_pictures *p, const char *name) {
    size_t low = 0, high = p->n;
    while (name && low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strcmp(p->at[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return name && low < p->n && !strcmp(p->at[low].name, name) ? &p->at[low] : NULL;
}

static void tell_unread(cli_indexed_pictures *p, bool is_own, int64_t image, const char *name,
                        const taper_error *why) {
    if (is_own && p->is_told[image]) return;
    cli_error("search", name, "the page shows no picture of it: %s", cli_explain(why).text);
    if (is_own) p->is_told[image] = true;
    p->unread++;
}

taper_status cli_indexed_pictures_put_other(cli_indexed_pictures *p, const cli_code_set *set,
                                            int64_t i, const cli_indexed_picture *of, FILE *to) {
    char plain[2 * CLI_IMAGE_NAME], worth[CAPTION + 64];
    taper_image image = {.pixels = NULL};
    taper_error error = {0};
    const bool is_there = set && i >= 0;
    cli_plain_text(plain, sizeof plain, of->name);
    if (is_there) TAPER_TRY(cli_thumbnail_read(set, (size_t)i, &image, &error));
    if (is_there && !image.pixels) tell_unread(p, set == p->set, i, of->name, &error);
    const char *file = strrchr(plain, '/') ? strrchr(plain, '/') + 1 : plain;
    snprintf(worth, sizeof worth, "%s%s%.40s", of->class ? of->class : "", of->class ? ", " : "",
             file);
    p->shown += image.pixels != NULL;
    const cli_page_picture picture = {.image = image.pixels ? &image : NULL,
                                      .why = plain,
                                      .alt = plain,
                                      .first = of->first,
                                      .second = worth};
    const taper_status status = cli_page_put_picture(to, &picture, NULL);
    formats_image_free(&image);
    return status == TAPER_ERR_NOMEM ? status : TAPER_OK;
}

taper_status cli_indexed_pictures_put(cli_indexed_pictures *p, const cli_indexed_picture *of,
                                      FILE *to) {
    const cli_named_image *own = find(p, of->name);
    return cli_indexed_pictures_put_other(p, p->set, own ? (int64_t)own->image : -1, of, to);
}

static const char *class_of(const taper_index *index, uint32_t image, char room[CAPTION]) {
    const int32_t label = taper_index_label(index, image);
    const char *class = label < 0 ? NULL : taper_index_class_name(index, (uint32_t)label);
    if (!class) return NULL;
    cli_plain_text(room, CAPTION, class);
    return room;
}

taper_status cli_indexed_pictures_put_image(cli_indexed_pictures *p, const taper_index *index,
                                            uint32_t image, const char *first, FILE *to) {
    char room[CAPTION];
    const char *name = taper_index_name(index, image);
    const cli_indexed_picture picture = {name ? name : "", first, class_of(index, image, room)};
    return cli_indexed_pictures_put(p, &picture, to);
}

/* --- a page -------------------------------------------------------------------------------- */

int cli_indexed_page_open(cli_indexed_page *page, const cli_code_set *set, const char *path,
                          const cli_common *common) {
    const int code = cli_output_open(&page->out, "search", path, common);
    if (code != CLI_DONE) return code;
    const taper_status status = open_pictures(&page->pictures, set);
    if (status == TAPER_OK && cli_text_open(&page->text) == TAPER_OK) return CLI_DONE;
    close_pictures(&page->pictures);
    return cli_output_close(&page->out, NULL, TAPER_ERR_NOMEM, NULL);
}

int cli_indexed_page_close(cli_indexed_page *page, taper_status status) {
    const cli_indexed_pictures *p = &page->pictures;
    const taper_sink sink = cli_output_sink(&page->out);
    const char *path = page->out.path;
    if (status == TAPER_OK)
        status = cli_text_write(&page->text, &sink);
    else
        cli_text_free(&page->text);
    int code = cli_output_close(&page->out, NULL, status, NULL);
    if (code == CLI_DONE && p->unread)
        code = CLI_SOME_FAILED;
    else if (code == CLI_DONE && !p->shown)
        cli_warning("search", strcmp(path, "-") != 0 ? path : "the page",
                    "none of what was found has its picture there: give what was indexed with "
                    "--images, by the same paths");
    close_pictures(&page->pictures);
    return code;
}
