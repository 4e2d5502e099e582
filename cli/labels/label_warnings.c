/* label_warnings.c -- see label_warnings.h. */
#include "cli/labels/label_warnings.h"
#include "cli/common/messages.h"
#include "cli/common/plain_text.h"
#include "formats/bytes.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMED = 5, NAME_ROOM = 200, LINE = 1200 };

/* --- classes of few images --------------------------------------------------------------- */

static bool is_small(size_t members) { return members && members < CLI_FEW_IMAGES; }

/* The small class with the fewest images after the class `before`; SIZE_MAX: none. */
static size_t next_small(const size_t *members, size_t classes, size_t before) {
    size_t next = SIZE_MAX;
    for (size_t c = 0; c < classes; c++) {
        if (!is_small(members[c])) continue;
        const bool is_later = before == SIZE_MAX || members[c] > members[before] ||
                              (members[c] == members[before] && c > before);
        if (is_later && (next == SIZE_MAX || members[c] < members[next])) next = c;
    }
    return next;
}

size_t cli_warn_small_classes(const char *verb, const char *const *name, const size_t *members,
                              size_t classes) {
    char line[LINE] = "", plain[NAME_ROOM];
    size_t n = 0, used = 0;
    for (size_t c = 0; c < classes; c++) n += is_small(members[c]);
    if (!n) return 0;
    for (size_t i = 0, c = SIZE_MAX; i < formats_smaller(n, MOST_NAMED); i++) {
        c = next_small(members, classes, c);
        cli_plain_text(plain, sizeof plain, name[c]);
        used += (size_t)snprintf(line + used, sizeof line - used, "%s'%s' (%zu)", i ? ", " : "",
                                 plain, members[c]);
    }
    if (n > MOST_NAMED)
        snprintf(line + used, sizeof line - used, " and %zu more", n - (size_t)MOST_NAMED);
    cli_warning(verb, NULL,
                "%zu class%s fewer than %d labelled images: %s; their errors are uncertain: add "
                "images of them",
                n, n == 1 ? " has" : "es have", CLI_FEW_IMAGES, line);
    return n;
}

void cli_warn_unequal_classes(const char *verb, const char *const *name, const size_t *members,
                              size_t classes) {
    char least_name[NAME_ROOM], most_name[NAME_ROOM];
    size_t least = SIZE_MAX, most = SIZE_MAX;
    for (size_t c = 0; c < classes; c++) {
        if (!members[c]) continue;
        if (least == SIZE_MAX || members[c] < members[least]) least = c;
        if (most == SIZE_MAX || members[c] > members[most]) most = c;
    }
    if (least == SIZE_MAX || members[most] / CLI_UNEQUAL < members[least]) return;
    cli_plain_text(least_name, sizeof least_name, name[least]);
    cli_plain_text(most_name, sizeof most_name, name[most]);
    cli_warning(
        verb, NULL,
        "class '%s' has %zu labelled images and class '%s' %zu, which are often outvoted: "
        "look at the balanced error, and give --votes balanced if new images of all classes "
        "are equally likely",
        most_name, members[most], least_name, members[least]);
}

void cli_warn_few_tested(const char *verb, uint64_t tested, const char *remedy) {
    if (tested >= CLI_FEW_TESTED) return;
    cli_warning(verb, NULL, "the interval is of %llu tested image%s only, below %d: %s",
                (unsigned long long)tested, formats_plural(tested, "s"), CLI_FEW_TESTED, remedy);
}

/* --- equal images ------------------------------------------------------------------------ */

void cli_seen_images_add(cli_seen_images *s, cli_seen_image image) {
    if (s->n == s->room) {
        const size_t room = s->room ? 2 * s->room : 1024;
        cli_seen_image *item = s->is_full ? NULL : realloc(s->item, room * sizeof *item);
        if (!item) {
            s->is_full = true;
            return;
        }
        s->item = item, s->room = room;
    }
    s->item[s->n++] = image;
}

void cli_seen_images_free(cli_seen_images *s) {
    free(s->item);
    *s = (cli_seen_images){.n = 0};
}

static int by_hash(const void *a, const void *b) {
    const cli_seen_image *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    if (x->set != y->set) return x->set < y->set ? -1 : 1;
    return x->image < y->image ? -1 : x->image > y->image;
}

/* Of the equal images item[0 .. n): the first of another class than the first, or 0. */
static size_t other_class(const cli_seen_image *item, size_t n) {
    for (size_t i = 1; i < n; i++)
        if (item[i].label != item[0].label) return i;
    return 0;
}

static void name_pair(const char *verb, const cli_seen_image *a, const cli_seen_image *b,
                      const cli_twin_names *names) {
    char first[NAME_ROOM], second[NAME_ROOM], class[NAME_ROOM], other[NAME_ROOM], room[4200];
    cli_plain_text(first, sizeof first, names->image(names->user, a, room, sizeof room));
    cli_plain_text(second, sizeof second, names->image(names->user, b, room, sizeof room));
    cli_plain_text(class, sizeof class, names->class(names->user, a->label));
    cli_plain_text(other, sizeof other, names->class(names->user, b->label));
    cli_warning(verb, NULL,
                "'%s' (class '%s') and '%s' (class '%s') have the same pixels: correct a label, or "
                "remove one",
                first, class, second, other);
}

size_t cli_warn_twins(const char *verb, cli_seen_images *s, const cli_twin_names *names) {
    size_t kinds = 0, twins = 0;
    if (s->n) qsort(s->item, s->n, sizeof *s->item, by_hash);
    for (size_t i = 0, n; i < s->n; i += n) {
        const cli_seen_image *item = &s->item[i];
        for (n = 1; i + n < s->n && item[n].hash == item->hash; n++) {
        }
        const size_t other = other_class(item, n);
        if (!other) continue;
        twins += n;
        if (kinds++ < MOST_NAMED) name_pair(verb, item, &item[other], names);
    }
    if (kinds > MOST_NAMED)
        cli_warning(verb, NULL, "%zu more picture%s there under two labels; %zu images in all",
                    kinds - (size_t)MOST_NAMED, kinds - MOST_NAMED == 1 ? " is" : "s are", twins);
    return twins;
}

size_t cli_warn_known(const char *verb, const cli_seen_images *s, const cli_twin_names *names) {
    const cli_seen_image *known = NULL, *first = NULL;
    size_t n = 0, tested = 0;
    for (size_t i = 0; i < s->n; i++) {
        const cli_seen_image *at = &s->item[i];
        if (!at->set) known = at;
        tested += at->set;
        if (!at->set || !known || known->hash != at->hash) continue;
        if (!n++) first = at;
    }
    if (!n) return 0;
    char plain[NAME_ROOM], room[4200];
    cli_plain_text(plain, sizeof plain, names->image(names->user, first, room, sizeof room));
    cli_warning(verb, NULL,
                "%zu of %zu tested image%s %s the pixels of a labelled one ('%s'%s): the error is "
                "too low; test other images, or give --leave-one-out",
                n, tested, formats_plural(tested, "s"), n == 1 ? "has" : "have", plain,
                n == 1 ? "" : " is the first");
    return n;
}
