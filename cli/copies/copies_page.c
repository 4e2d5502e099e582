/* copies_page.c -- see copies_page.h. Pictures are read as they are put on the page. */
#include "cli/copies/copies_page.h"
#include "cli/common/outputs.h"
#include "cli/common/page.h"
#include "cli/common/plain_text.h"
#include "cli/copies/copies_lines.h"
#include "cli/search/thumbnail.h"
#include "formats/image.h"
#include <string.h>

enum { MOST_GROUPS = 200, MOST_COPIES = 24, CAPTION = 80 };

/* "keep", "as keep 0.98, turned 90". */
static void describe(const cli_found_copy *c, char to[CAPTION]) {
    const unsigned turn = 90U * (c->agreement.turn & 3U);
    char turned[CAPTION / 2] = "";
    const char *mirrored = c->agreement.turn & 4U ? ", mirrored" : "";
    if (turn) snprintf(turned, sizeof turned, ", turned %u\u00b0", turn);
    if (c->kind == CLI_COPY_KEPT)
        snprintf(to, CAPTION, "keep");
    else if (c->kind == CLI_COPY_LINK)
        snprintf(to, CAPTION, "link, the same file");
    else
        snprintf(to, CAPTION, "%.2f%s%s", (double)c->agreement.score, turned, mirrored);
}

static taper_status put_copy(const cli_found_copies *f, const cli_found_copy *c, size_t *unread,
                             FILE *to) {
    char room[CLI_IMAGE_NAME], plain[2 * CLI_IMAGE_NAME], first[CAPTION], second[2 * CAPTION];
    taper_image image;
    taper_error error = {0};
    const char *name = cli_copy_name(f, c->image, room);
    TAPER_TRY(cli_thumbnail_read(f->set, c->image, &image, &error));
    if (!image.pixels) {
        cli_error("search", name, "the page shows no picture of it: %s", cli_explain(&error).text);
        ++*unread;
    }
    cli_plain_text(plain, sizeof plain, name);
    const char *file = strrchr(plain, '/') ? strrchr(plain, '/') + 1 : plain;
    describe(c, first);
    snprintf(second, sizeof second, "%u \u00d7 %u, %.60s", f->small->width[c->image],
             f->small->height[c->image], file);
    const cli_page_picture picture = {.image = image.pixels ? &image : NULL,
                                      .why = plain,
                                      .alt = plain,
                                      .first = first,
                                      .second = second};
    const taper_status status = cli_page_put_picture(to, &picture, NULL);
    formats_image_free(&image);
    return status == TAPER_ERR_NOMEM ? status : TAPER_OK;
}

/* The group of n images from copy on. */
static taper_status put_group(const cli_found_copies *f, const cli_found_copy *copy, size_t n,
                              size_t *unread, FILE *to) {
    char line[CAPTION];
    taper_status status = TAPER_OK;
    snprintf(line, sizeof line, "Group %llu: %zu images", copy->group + 1ULL, n);
    cli_page_label(to, line);
    cli_page_pictures_begin(to, true);
    for (size_t i = 0; i < n && i < MOST_COPIES && !status; i++)
        status = put_copy(f, &copy[i], unread, to);
    cli_page_pictures_end(to);
    snprintf(line, sizeof line, "and %zu more", n > MOST_COPIES ? n - MOST_COPIES : 0);
    if (n > MOST_COPIES) cli_page_note(to, line);
    return status;
}

static taper_status put_page(const cli_found_copies *f, size_t *unread, FILE *to) {
    char line[200];
    taper_status status = TAPER_OK;
    snprintf(line, sizeof line,
             "%zu group%s of images that show the same: %zu of %zu images. The first of each group "
             "is the one to keep.",
             f->groups, formats_plural(f->groups, "s"), f->n, f->small->read);
    cli_page_begin(to, "Near copies", line);
    for (size_t i = 0, n; i < f->n && !status; i += n) {
        for (n = 1; i + n < f->n && f->copy[i + n].group == f->copy[i].group;) n++;
        if (f->copy[i].group == MOST_GROUPS) break;
        status = put_group(f, &f->copy[i], n, unread, to);
    }
    snprintf(line, sizeof line, "The first %d of %zu groups.", (int)MOST_GROUPS, f->groups);
    if (f->groups > MOST_GROUPS) cli_page_text(to, line);
    cli_page_end(to, "Below each image stand how well it agrees with the kept one, 0 to 1, its "
                     "size in pixels, and its name.");
    return status;
}

int cli_copies_page_write(const cli_found_copies *found, const char *path) {
    cli_output out;
    cli_text text;
    size_t unread = 0;
    int code = cli_output_open(&out, "search", path, found->set->common);
    if (code != CLI_DONE) return code;
    const taper_sink sink = cli_output_sink(&out);
    taper_status status = cli_text_open(&text);
    if (status == TAPER_OK) {
        status = put_page(found, &unread, text.to);
        if (status == TAPER_OK)
            status = cli_text_write(&text, &sink);
        else
            cli_text_free(&text);
    }
    code = cli_output_close(&out, NULL, status, NULL);
    return code == CLI_DONE && unread ? CLI_SOME_FAILED : code;
}
