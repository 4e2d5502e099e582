/* copies.c -- see copies.h. */
#include "cli/copies/copies.h"
#include "cli/copies/copies_lines.h"
#include "cli/copies/copies_page.h"

static void tell(const cli_found_copies *f) {
    cli_note(f->set->common, f->set->verb, "%zu group%s of copies, %zu of %zu image%s", f->groups,
             formats_plural(f->groups, "s"), f->n, f->small->read,
             formats_plural(f->small->read, "s"));
    if (f->links)
        cli_note(f->set->common, f->set->verb,
                 "%zu of these %s another name of a file of the group (link)", f->links,
                 f->links == 1 ? "is" : "are");
}

static int put_found(const cli_copies_options *o, const cli_found_copies *found,
                     const taper_sink *sink, taper_status *written) {
    *written = cli_put_copies_lines(found, sink);
    if (*written != TAPER_OK) return CLI_DONE;
    tell(found);
    return o->html ? cli_copies_page_write(found, o->html) : CLI_DONE;
}

static int find(const cli_copies_options *o, const cli_small_set *small, cli_found_copies *found) {
    taper_error error = {0};
    cli_groups groups;
    taper_status status = cli_groups_find(&groups, small, o->are_turned, o->set->common, &error);
    if (status == TAPER_OK)
        status = cli_found_copies_make(found, o->set, small, &groups, o->are_turned);
    cli_groups_free(&groups);
    return status == TAPER_OK ? CLI_DONE : (int)cli_fail(o->set->verb, NULL, status, &error);
}

int cli_put_copies(const cli_copies_options *o, const taper_sink *sink, taper_status *written) {
    cli_small_set small;
    cli_found_copies found = {.n = 0};
    *written = TAPER_OK;
    int code = cli_small_set_read(&small, o->set, o->model);
    if (code == CLI_DONE) code = find(o, &small, &found);
    if (code == CLI_DONE) code = put_found(o, &found, sink, written);
    cli_found_copies_free(&found);
    cli_small_set_free(&small);
    return code;
}
