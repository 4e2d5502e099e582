/* joined_shards.c -- see joined_shards.h. */
#include "cli/joined_shards.h"
#include "cli/common/messages.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef cli_joined_shard shard;

/* One of one part is a whole set, as --resume makes it. */
static bool is_shard(const taper_part *part) { return part->parts > 1; }

static int compare(const void *a, const void *b) {
    const shard *x = a, *y = b;
    return x->part.part < y->part.part ? -1 : x->part.part > y->part.part;
}

/* In what two shards differ that must be equal; NULL: in nothing. */
static const char *difference(const taper_part *a, const taper_part *b) {
    if (a->how_digest != b->how_digest) return "has another model or other options";
    if (a->parts != b->parts) return "is a part of another number of shards";
    if (a->set_digest != b->set_digest || a->images != b->images)
        return "is of another list of inputs";
    return NULL;
}

/* All must be shards of the same set as the first. */
static int check_alike(const char *verb, const shard *of, size_t n) {
    for (size_t i = 1; i < n; i++) {
        const shard *a = &of[0], *b = &of[i];
        if (is_shard(&a->part) != is_shard(&b->part)) {
            const shard *whole = is_shard(&a->part) ? b : a;
            cli_error(verb, whole->path,
                      "is not one of the shards of a set, as the others are; join the shards "
                      "first");
            return CLI_USAGE;
        }
        const char *what = difference(&a->part, &b->part);
        if (!what || !is_shard(&a->part)) continue;
        cli_error(verb, b->path, "%s than %s, so they are not shards of one set", what, a->path);
        return CLI_USAGE;
    }
    return CLI_DONE;
}

static bool has_images(const taper_part *p, uint32_t part) {
    return p->images * part / p->parts < p->images * (part + 1) / p->parts;
}

/* Write the numbers of the shards that should be there and are not, the first few of them: "3",
 * "3 and 5", "1, 2, 3 and 40 more". Returns how many are missing. `of` is sorted. */
static uint32_t list_missing(const shard *of, size_t n, char *list, size_t room) {
    enum { MOST = 8 };
    uint32_t missing = 0, number[MOST];
    size_t i = 0, at = 0;
    for (uint32_t part = 0; part < of->part.parts; part++) {
        if (i < n && of[i].part.part == part) {
            i++;
        } else if (has_images(&of->part, part)) {
            if (missing < MOST) number[missing] = part + 1;
            missing++;
        }
    }
    for (uint32_t k = 0; k < missing && k < MOST; k++) {
        const char *before = !k ? "" : k + 1 == missing ? " and " : ", ";
        at += (size_t)snprintf(list + at, room - at, "%s%u", before, number[k]);
    }
    if (missing > MOST) snprintf(list + at, room - at, " and %u more", missing - MOST);
    return missing;
}

static int check_complete(const char *verb, const shard *of, size_t n, bool allows_missing,
                          const cli_common *common) {
    char list[128] = "";
    for (size_t i = 1; i < n; i++)
        if (of[i].part.part == of[i - 1].part.part) {
            cli_error(verb, of[i].path, "is shard %u of %u, and so is %s", of[i].part.part + 1,
                      of[i].part.parts, of[i - 1].path);
            return CLI_USAGE;
        }
    const uint32_t missing = list_missing(of, n, list, sizeof list);
    const char *s = missing > 1 ? "s" : "", *is = missing > 1 ? "are" : "is";
    if (!missing) return CLI_DONE;
    if (allows_missing)
        cli_note(common, verb, "shard%s %s of %u %s missing", s, list, of->part.parts, is);
    else
        cli_error(verb, NULL,
                  "shard%s %s of %u %s missing; make what is missing, or give --partial to join "
                  "the others",
                  s, list, of->part.parts, is);
    return allows_missing ? CLI_DONE : CLI_USAGE;
}

/* Images that --dedup of encode found equal have no code, though they could be used. */
static void tell_left_out(const char *verb, const shard *of, size_t n, const cli_common *common) {
    uint64_t left_out = 0;
    for (size_t i = 0; i < n; i++) left_out += of[i].part.left_out;
    if (left_out && !strcmp(verb, "index"))
        cli_note(common, verb,
                 "%llu image%s of the set ha%s no code: they could not be used, or equal others",
                 (unsigned long long)left_out, left_out == 1 ? "" : "s",
                 left_out == 1 ? "s" : "ve");
    else if (left_out)
        cli_note(common, verb, "%llu image%s of the set could not be used, and %s in no shard",
                 (unsigned long long)left_out, left_out == 1 ? "" : "s",
                 left_out == 1 ? "is" : "are");
}

int cli_joined_shards_sort(const char *verb, cli_joined_shard *of, size_t n, bool allows_missing,
                           const cli_common *common) {
    int code = check_alike(verb, of, n);
    if (code != CLI_DONE || !is_shard(&of->part)) return code;
    qsort(of, n, sizeof *of, compare);
    code = check_complete(verb, of, n, allows_missing, common);
    if (code == CLI_DONE) tell_left_out(verb, of, n, common);
    return code;
}
