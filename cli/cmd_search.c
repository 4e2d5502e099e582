/* cmd_search.c -- finds the nearest images of an index, or of a set of images. */
#include "cli/cli.h"
#include "cli/common/inputs.h"
#include "cli/copies/copies.h"
#include "cli/index/duplicates.h"
#include "cli/index/nested_rows.h"
#include "cli/index/search_lines.h"
#include "cli/index/search_page.h"
#include "formats/bytes.h"
#include "formats/file.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct settings {
    cli_common common;
    const char *output, *model, *html, *where;
    cli_strings images, members, codes;
    int64_t k, neighbourhood, within;
    double recall;
    int exact, margins, duplicates, turned, alpha, follow_links, frames;
} settings;

enum {
    USE_QUERIES = 1,
    USE_PAIRS = 2,
    USE_NEAREST = 4,
    USE_RECALL = 8,
    USE_MARGINS = 16,
    USE_PAGE = 32,
    USE_COPIES = 64
};
static const char *const uses[] = {"queries",
                                   "--duplicates",
                                   "nearest neighbours",
                                   "nearest neighbours without --exact",
                                   "nearest neighbours of queries that are files",
                                   "--html",
                                   "--duplicates without --within",
                                   NULL};
static const cli_option options[] = {
    {"neighbours", 'k', CLI_INT, "N", offsetof(settings, k), .initial = "10", .min = 1,
     .max = 1000000, .help = "number of images to find for each query", .uses = USE_NEAREST},
    {"image", 'i', CLI_STRINGS, "LIST", offsetof(settings, members),
     .help =
         "images of the index as queries, by number from 1, range, name, end of a name or pattern",
     .uses = USE_QUERIES},
    {"code", 0, CLI_STRINGS, "HEX", offsetof(settings, codes),
     .help = "a code as a query, in hexadecimal digits", .uses = USE_QUERIES},
    {"model", 'm', CLI_STRING, "MODEL", offsetof(settings, model),
     .help = "the model of the index; needed if queries are images and it is not built in"},
    {"recall", 0, CLI_DOUBLE, "R", offsetof(settings, recall), .initial = "0.95", .min = 0.01,
     .max = 1, .help = "share of the nearest images to find; less is faster", .uses = USE_RECALL},
    {"exact", 0, CLI_FLAG, .offset = offsetof(settings, exact), .help = "--recall 1",
     .uses = USE_NEAREST},
    {"margins", 0, CLI_FLAG, .offset = offsetof(settings, margins),
     .help = "rank by the distance of differing bits from their thresholds", .uses = USE_MARGINS},
    {"neighbourhood", 0, CLI_INT, "R", offsetof(settings, neighbourhood), .initial = "0", .min = 0,
     .max = 4294967295.0, .uses = USE_QUERIES,
     .help =
         "find the smallest subtree of leading bits with at least R images; 0: find the nearest"},
    {"where", 0, CLI_STRING, "label=CLASS", offsetof(settings, where),
     .help = "find only images of this class", .uses = USE_NEAREST},
    {"duplicates", 0, CLI_FLAG, .offset = offsetof(settings, duplicates),
     .help = "find groups of images that are copies of each other"},
    {"turned", 0, CLI_FLAG, .offset = offsetof(settings, turned), .uses = USE_COPIES,
     .help = "also copies that are mirrored, or turned by 90, 180 or 270 degrees"},
    {"within", 0, CLI_INT, "D", offsetof(settings, within), .initial = "-1", .min = -1,
     .max = 4294967294.0, .uses = USE_PAIRS,
     .help = "list pairs of codes within distance D instead; -1: compare pictures"},
    {"html", 0, CLI_STRING, "FILE", offsetof(settings, html),
     .help = "write a page here, with pictures of the queries and results, or of the groups"},
    {"images", 0, CLI_STRINGS, "SET", offsetof(settings, images),
     .help = "the indexed images, for pictures: a folder, file or container",
     .uses = USE_PAGE | USE_PAIRS},
    {"output", 'o', CLI_STRING, "FILE", offsetof(settings, output),
     .help = "write the results here, not to standard output"},
    CLI_FOLLOW_OPTION(settings),
    CLI_FRAMES_OPTION(settings),
    CLI_ALPHA_OPTION(settings, "refuse"),
    CLI_THREADS_OPTION(settings),
    CLI_OUTPUT_OPTIONS(settings),
    CLI_MESSAGE_OPTIONS(settings),
    CLI_JSON_OPTION(settings),
    CLI_LIMIT_OPTIONS(settings),
    {0}};

const cli_verb cli_verb_search = {
    .name = "search",
    .run = cmd_search,
    .what = "find images like a query, or copies of each other",
    .synopsis = "[options] INDEX... QUERY...",
    .options = options,
    .uses = uses,
    .about =
        "INDEX is a file made by `taper index`. It may also be a container, or images: an index of "
        "them is then made for this search. Queries are images or containers, which the binary "
        "model of the index converts to codes; or images of the index, or codes. A model of your "
        "own is given with -m, unless a container carries it (`encode --embed-search-model`); the "
        "built-in one, search, is found.\n\n"
        "Several index files, such as those of shards, are searched as one: what is found, and in "
        "which order, is what one index of all images would give (`taper index -o ALL.tpx "
        "INDEX...`), if searches are exact. Images are numbered one index after the other, as "
        "given; at equal distance the lower number comes first. A last column, index, names the "
        "file of each image. All must have the same model, bits and weights.\n\n"
        "For each query the -k nearest images are found: those whose codes differ in the fewest "
        "bits, where earlier bits may count more (`taper index --weights`). Standard output has "
        "CSV under the heading query,rank,name,label,distance,image, where image is the number "
        "in the index, from 1. --json writes a line per query. A query that is in the index is "
        "not one of its own neighbours.\n\n"
        "--recall is the share of the true nearest images that the search should find. It is an "
        "expectation, calibrated on images of the index and on the query, and not a guarantee; "
        "usually more are found. If only a few images are like the query, and these differ from "
        "it mainly in their first bits, most may be missed. --exact finds all, as does any "
        "search among at most 16,384 images.\n\n"
        "With --margins five times as many images are found, at least fifty. They are ranked by "
        "the distance of the query's differing bits from their thresholds, if the query is an "
        "image; the printed distances are unchanged. Distances can be compared only within one "
        "index, because the weights depend on the length of the codes.\n\n"
        "--neighbourhood follows the tree of leading bits down to the smallest subtree with at "
        "least R images: microseconds, for an index of any size. The number of shared bits is "
        "printed. With --html the page also shows neighbourhoods of four times as many images, "
        "and so on.\n\n"
        "--duplicates finds copies by their pixels, without a model: images that were scaled, "
        "packed, cropped, framed, made lighter or grey, written on or tilted a little. All "
        "operands are images, folders or containers (-m MODEL for those that lack theirs); of an "
        "index, give --images. The output is CSV under the heading group,image,keep. keep is 1 "
        "for one image of each group: that of most pixels, of equal ones the first; and for those "
        "that do not agree with it, only with others of the group. It is link for "
        "another name of a file of the group, and else 0. --json has a line per image, with its "
        "score: how well it agrees with the kept one, 0 to 1; and whether all pixels are equal. "
        "Flat images are copies only if they are equal. --turned also finds copies that are "
        "mirrored "
        "or turned by quarter turns.\n\n"
        "With --within D it lists pairs of images of the index whose codes are within a distance "
        "of D, nearest first, as name,other,distance,image,other_image.\n\n"
        "--html writes a page that works offline; with --duplicates it shows the copies of an "
        "image in a row, the one to keep first. Its pictures come from --images, or from "
        "INDEX if that is a container or images.",
    .examples =
        "taper search photos.tpx query.jpg\n"
        "taper search own.tpx -m own.tpm query.jpg\n"
        "taper search photos.tpx -i holiday/0042.jpg -k 5 --html found.html --images photos/\n"
        "taper search set.taper -i 17 --html found.html\n"
        "taper search shard-*.tpx query.jpg\n"
        "head -c 20000 set.taper >cut.taper; taper search cut.taper -m set.tpm -i 17\n"
        "taper search --duplicates --html copies.html photos/ >copies.csv\n"};

typedef struct state {
    settings s;
    cli_model model;
    cli_embedder embedder;
    cli_index index;
    size_t indexes;        /* operands that are index files; 0: the first is what to make one of */
    cli_index_list list;   /* several index files; `index` is then unused */
    const taper_index *at; /* what is searched */
    cli_code_set indexed;  /* images of the index: INDEX itself, or --images; may be closed */
    cli_code_set inputs;   /* queries */
    cli_query_codes queries;
    uint8_t *wanted;
    uint32_t *image, *distance;
    cli_output out;
    bool has_output;
} state;

/* --- opening ---------------------------------------------------------------------------- */

/* The model that embeds images if none is given: that of the index, if it is built in, or of
 * indexes that are made here; NULL: there is none, or none is needed. */
static const char *builtin_model(const state *st) {
    if (!st->at) return CLI_SEARCH_MODEL;
    return st->inputs.set ? taper_model_builtin_of(cli_index_info(st->at).model_id) : NULL;
}

static int open_model(state *st) {
    const settings *s = &st->s;
    const char *name = s->model ? s->model : builtin_model(st);
    if (!s->model && st->indexed.containers) return cli_code_set_model(&st->indexed, &st->model);
    if (!s->model && st->inputs.containers) return cli_code_set_model(&st->inputs, &st->model);
    return name ? cli_model_open(&st->model, "search", name, &s->common) : CLI_DONE;
}

static int check_model(const state *st) {
    const taper_model_info model = cli_model_info(st->model.model);
    const taper_index_info index = cli_index_info(st->at);
    if (index.model_id == model.id) return CLI_DONE;
    cli_error("search", st->s.model,
              "the index's codes are of model %016llx, and this is %016llx: give the model that "
              "made the index",
              (unsigned long long)index.model_id, (unsigned long long)model.id);
    return CLI_USAGE;
}

/* Open the embedder, if there are images. Images of any size are scaled. */
static int open_embedder(state *st) {
    const taper_model_info info = cli_model_info(st->model.model);
    int code = cli_index_check_model("search", &info, st->s.model);
    if (code == CLI_DONE)
        code = cli_code_sets_embedder((cli_code_set *const[]){&st->indexed, &st->inputs}, 2,
                                      st->model.model, st->s.model, 0, &st->embedder);
    st->embedder.scales = true; /* accept images whose size differs from the model's window */
    st->embedder.keeps_margins = st->s.margins;
    return code;
}

/* Open n index files, and the indexed images. */
static int open_indexes(state *st, char *const *paths, size_t n) {
    const settings *s = &st->s;
    int code = n > 1 ? cli_index_list_open(&st->list, "search", paths, n, &s->common)
                     : cli_index_open(&st->index, "search", paths[0], &s->common);
    st->at = n > 1 ? st->list.all.index : st->index.index;
    if (code == CLI_DONE && s->images.count)
        code = cli_code_set_open(&st->indexed, (char **)s->images.item, s->images.count);
    return code;
}

/* Open the images or containers from which to make an index. */
static int open_indexed(state *st, char *path) {
    const settings *s = &st->s;
    if (!s->model && !strcmp(path, "-")) {
        cli_error("search", "standard input", "cannot be an index or a container: give its file");
        return CLI_USAGE;
    }
    return cli_code_set_open(&st->indexed, &path, 1);
}

/* Check that an input can be opened, and is no output. */
static int check_input(const settings *s, char *path) {
    struct stat there;
    if (strcmp(path, "-") != 0 && stat(path, &there) != 0) {
        taper_error error = {0};
        return cli_fail("search", path, formats_fail_errno(&error, errno, "open"), &error);
    }
    const int code = cli_inputs_check("search", &path, 1);
    if (code != CLI_DONE) return code;
    if (s->output && cli_output_check("search", s->output, path) != CLI_DONE) return CLI_USAGE;
    if (s->html && cli_output_check("search", s->html, path) != CLI_DONE) return CLI_USAGE;
    return CLI_DONE;
}

/* Open the inputs before the queries: index files, or what to make an index of. */
static int open_files(state *st, char **paths) {
    const size_t n = st->indexes ? st->indexes : 1;
    int code = CLI_DONE;
    for (size_t i = 0; i < n && code == CLI_DONE; i++) code = check_input(&st->s, paths[i]);
    if (code != CLI_DONE) return code;
    return st->indexes ? open_indexes(st, paths, n) : open_indexed(st, paths[0]);
}

static int make_index(state *st) {
    const cli_index_options o = {.common = &st->s.common,
                                 .model_id = cli_model_info(st->model.model).id};
    const int code = cli_index_make(&st->index, &st->indexed, &st->embedder, &o);
    st->at = st->index.index;
    return code;
}

/* The number of operands before the queries. */
static size_t first_query(const state *st) { return st->indexes ? st->indexes : 1; }

static int open_all(state *st, char **paths, size_t n) {
    const size_t queries = n - first_query(st);
    int code = open_files(st, paths);
    if (code == CLI_DONE && queries)
        code = cli_code_set_open(&st->inputs, paths + n - queries, queries);
    if (code == CLI_DONE) code = open_model(st);
    if (code != CLI_DONE) return code;
    if (st->model.model) code = open_embedder(st);
    if (code == CLI_DONE && !st->at) return make_index(st);
    if (code == CLI_DONE && st->model.model) return check_model(st);
    if (code != CLI_DONE || !queries) return code;
    cli_error("search", NULL,
              "queries that are images need the model that made the index: -m MODEL");
    return CLI_USAGE;
}

/* --- queries ---------------------------------------------------------------------------- */

static int take_queries(state *st) {
    const settings *s = &st->s;
    int code = CLI_DONE;
    cli_query_codes_open(&st->queries, st->at, st->s.margins);
    if (st->inputs.set || st->inputs.containers)
        code = cli_query_codes_embed(&st->queries, &st->inputs, &st->embedder);
    for (size_t i = 0; i < s->members.count && code == CLI_DONE; i++)
        code = cli_query_codes_member(&st->queries, st->at, s->members.item[i]);
    for (size_t i = 0; i < s->codes.count && code == CLI_DONE; i++)
        code = cli_query_codes_digits(&st->queries, s->codes.item[i]);
    if (code == CLI_DONE && st->list.n) code = cli_query_codes_tell_apart(&st->queries, &st->list);
    return code;
}

/* --where: the images that may be results. */
static int choose_wanted(state *st) {
    const taper_index_info info = cli_index_info(st->at);
    const char *class = st->s.where;
    if (!class) return CLI_DONE;
    if (!strncmp(class, "label=", 6)) class += 6;
    if (!info.has_labels) {
        cli_error("search", NULL, "--where: the index has no labels");
        return CLI_USAGE;
    }
    uint32_t k = 0;
    while (k < info.classes && strcmp(taper_index_class_name(st->at, k), class) != 0) k++;
    if (k == info.classes) {
        cli_error("search", NULL, "--where: none of the index's %u classes ('%s', ...) is '%s'",
                  info.classes, taper_index_class_name(st->at, 0), class);
        return CLI_USAGE;
    }
    st->wanted = malloc(info.images);
    if (!st->wanted) return cli_fail("search", NULL, TAPER_ERR_NOMEM, NULL);
    for (uint64_t i = 0; i < info.images; i++)
        st->wanted[i] = taper_index_label(st->at, i) == (int32_t)k;
    return CLI_DONE;
}

/* --- nearest ---------------------------------------------------------------------------- */

/* Remove each query that is in the index from its own neighbours: rows of `room` become rows of k.
 *  */
static void drop_selves(state *st, size_t room, size_t k) {
    for (size_t i = 0; i < st->queries.n; i++) {
        const uint32_t *image = st->image + i * room, *distance = st->distance + i * room;
        size_t held = 0;
        for (size_t j = 0; j < room && held < k; j++) {
            if ((int64_t)image[j] == st->queries.self[i]) continue;
            st->image[i * k + held] = image[j];
            st->distance[i * k + held++] = distance[j];
        }
        for (; held < k; held++) st->image[i * k + held] = UINT32_MAX;
    }
}

/* Rank by the margins of the queries that are images. */
static taper_status rank(state *st, size_t room, taper_error *error) {
    const cli_query_codes *q = &st->queries;
    const taper_index_ranking ranking = {sizeof(taper_index_ranking), q->code, q->margin, q->n,
                                         room};
    if (!st->s.margins) return TAPER_OK;
    return taper_index_rank(st->at, &ranking, st->image, st->distance, error);
}

/* Number to search for, so that k remain after the query itself is removed. */
static size_t room_for(const state *st, size_t k, uint64_t images) {
    enum { TIMES = 5, LEAST = 50 };
    const size_t of_margins = TIMES * k < LEAST ? LEAST : TIMES * k;
    const size_t room = (st->s.margins ? of_margins : k) + 1;
    return room < images ? room : (size_t)images;
}

static int find_nearest(state *st, size_t *k) {
    const uint64_t images = cli_index_info(st->at).images;
    const cli_query_codes *q = &st->queries;
    taper_error error = {0};
    *k = (size_t)st->s.k;
    if (*k > images) {
        *k = (size_t)images;
        cli_note(&st->s.common, "search", "-k %lld: the index has %llu image%s", (long long)st->s.k,
                 (unsigned long long)images, formats_plural(images, "s"));
    }
    const size_t room = room_for(st, *k, images);
    st->image = malloc((q->n + 1) * room * sizeof *st->image);
    st->distance = malloc((q->n + 1) * room * sizeof *st->distance);
    if (!st->image || !st->distance) return cli_fail("search", NULL, TAPER_ERR_NOMEM, NULL);
    const taper_index_search search = {.size = sizeof(taper_index_search),
                                       .queries = q->code,
                                       .n_queries = q->n,
                                       .known_bits = q->known_bits,
                                       .k = room,
                                       .recall = st->s.exact ? 1 : st->s.recall,
                                       .wanted = st->wanted,
                                       .threads = cli_threads(&st->s.common)};
    taper_status status =
        taper_index_nearest(st->at, &search, st->image, st->distance, NULL, &error);
    if (status == TAPER_OK) status = rank(st, room, &error);
    if (status) return cli_fail("search", NULL, status, &error);
    drop_selves(st, room, *k);
    return CLI_DONE;
}

static int write_page(const state *st, const cli_found *found) {
    const bool is_open = st->indexed.set || st->indexed.containers;
    return cli_search_page_write(found, is_open ? &st->indexed : NULL, st->s.html, &st->s.common);
}

static int write_nested_page(state *st, cli_found *found) {
    taper_error error = {0};
    const taper_status status = cli_nested_rows(found, (uint64_t)st->s.neighbourhood, &error);
    const int code =
        status ? (int)cli_fail("search", st->s.html, status, &error) : write_page(st, found);
    cli_nested_rows_free(found);
    return code;
}

/* --- the verb --------------------------------------------------------------------------- */

/* Both outputs are finished before either appears. */
static int finish_output(state *st, taper_status status) {
    if (st->has_output) return cli_output_finish(&st->out, NULL, status, NULL);
    return status ? (int)cli_fail("search", NULL, status, NULL) : CLI_DONE;
}

static int put_found(state *st) {
    const taper_sink sink = cli_output_text_sink(st->has_output ? &st->out : NULL);
    cli_found found = {.index = st->at,
                       .list = st->list.n ? &st->list : NULL,
                       .queries = &st->queries,
                       .rows_a_query = 1,
                       .is_filtered = st->s.where != NULL};
    taper_status status;
    int code = CLI_DONE;
    if (st->s.neighbourhood) {
        code = cli_put_neighbourhoods(&found, (uint64_t)st->s.neighbourhood, &st->s.common, &sink,
                                      &status);
        if (code == CLI_DONE) code = finish_output(st, status);
        if (code == CLI_DONE && st->s.html) code = write_nested_page(st, &found);
    } else {
        code = find_nearest(st, &found.k);
        found.image = st->image, found.distance = st->distance;
        status = code == CLI_DONE ? cli_put_nearest(&found, &st->s.common, &sink) : TAPER_OK;
        if (code == CLI_DONE) code = finish_output(st, status);
        if (code == CLI_DONE && st->s.html) code = write_page(st, &found);
    }
    if ((code != CLI_DONE && code != CLI_SOME_FAILED) || !st->has_output) return code;
    const int written = cli_output_close(&st->out, NULL, TAPER_OK, NULL);
    return written == CLI_DONE ? code : written;
}

static int open_output(state *st) {
    const settings *s = &st->s;
    if (!s->output || !strcmp(s->output, "-")) return CLI_DONE;
    const int code = cli_output_open(&st->out, "search", s->output, &s->common);
    st->has_output = code == CLI_DONE;
    return code;
}

/* code: of what was written; a page may lack some pictures. */
static int close_output(state *st, int code, taper_status status) {
    if (code != CLI_DONE && code != CLI_SOME_FAILED) return code;
    const int closed = st->has_output ? cli_output_close(&st->out, NULL, status, NULL)
                       : status       ? (int)cli_fail("search", NULL, status, NULL)
                                      : CLI_DONE;
    return closed == CLI_DONE ? code : closed;
}

static int put_pairs(state *st) {
    const taper_sink sink = cli_output_text_sink(st->has_output ? &st->out : NULL);
    const cli_duplicates d = {.index = st->at,
                              .list = st->list.n ? &st->list : NULL,
                              .set =
                                  st->indexed.set || st->indexed.containers ? &st->indexed : NULL,
                              .common = &st->s.common,
                              .html = st->s.html,
                              .within = (uint32_t)st->s.within};
    taper_status status = TAPER_OK;
    const int code = cli_put_duplicates(&d, &sink, &status);
    return close_output(st, code, status);
}

/* --- copies, by pixels ------------------------------------------------------------------ */

static bool finds_copies(const settings *s) { return s->duplicates && s->within < 0; }

/* Open the images or containers that are compared: the operands, or --images of an index. */
static int open_compared(state *st, char **paths, size_t n) {
    const settings *s = &st->s;
    int code = CLI_DONE;
    for (size_t i = 0; i < n && code == CLI_DONE; i++) code = check_input(s, paths[i]);
    if (code == CLI_DONE && st->indexes)
        code = cli_code_set_open(&st->indexed, (char **)s->images.item, s->images.count);
    else if (code == CLI_DONE)
        code = cli_code_set_open(&st->indexed, paths, n);
    if (code == CLI_DONE) code = cli_code_set_spares(&st->indexed, paths, n, s->output);
    if (code == CLI_DONE) code = cli_code_set_spares(&st->indexed, paths, n, s->html);
    if (code == CLI_DONE && s->model && st->indexed.containers)
        return cli_model_open(&st->model, "search", s->model, &s->common);
    if (code == CLI_DONE && s->model)
        cli_note(&s->common, "search", "-m is not needed: copies are found by pixels");
    return code;
}

static int find_copies(state *st, char **paths, size_t n) {
    int code = open_compared(st, paths, n);
    if (code == CLI_DONE) code = open_output(st);
    if (code != CLI_DONE) return code;
    const taper_sink sink = cli_output_text_sink(st->has_output ? &st->out : NULL);
    const cli_copies_options o = {.set = &st->indexed,
                                  .model = st->model.model,
                                  .are_turned = st->s.turned,
                                  .html = st->s.html};
    taper_status status = TAPER_OK;
    return close_output(st, cli_put_copies(&o, &sink, &status), status);
}

/* Before the work: an existing page is replaced only if that was asked. */
static int check_page(const settings *s) {
    struct stat there;
    if (!s->html || s->common.force || stat(s->html, &there) != 0 || !S_ISREG(there.st_mode))
        return CLI_DONE;
    cli_error("search", s->html, "exists; choose another name, or replace it (-f)");
    return CLI_IO;
}

static int search(state *st, char **paths, size_t n) {
    if (finds_copies(&st->s)) return find_copies(st, paths, n);
    int code = open_all(st, paths, n);
    if (code == CLI_DONE) code = open_output(st);
    if (code == CLI_DONE && st->s.duplicates) return put_pairs(st);
    if (code == CLI_DONE) code = take_queries(st);
    if (code == CLI_DONE) code = choose_wanted(st);
    return code == CLI_DONE ? put_found(st) : code;
}

/* queries: number of operands that are queries */
static unsigned uses_of(const settings *s, size_t queries) {
    if (s->duplicates)
        return USE_PAIRS | (s->html ? USE_PAGE : 0) | (s->within < 0 ? USE_COPIES : 0);
    unsigned bits = USE_QUERIES | (s->html ? USE_PAGE : 0);
    if (s->neighbourhood) return bits;
    return bits | USE_NEAREST | (s->exact ? 0 : USE_RECALL) | (queries ? USE_MARGINS : 0);
}

/* Check the command line of n operands. */
static int check_settings(const state *st, size_t n) {
    const settings *s = &st->s;
    const size_t before = first_query(st), queries = n > before ? n - before : 0;
    const cli_verb *v = &cli_verb_search;
    const size_t others = s->members.count + s->codes.count;
    if (!n) return cli_usage(v, "give an index, or images to search, then the queries");
    if (finds_copies(s) && others)
        return cli_usage(v, "--duplicates compares all images; omit --image and --code");
    if (finds_copies(s) && st->indexes && (!s->images.count || queries))
        return cli_usage(v,
                         "an index has no pictures: to compare these give them, and no index, or "
                         "--images SET; to compare codes give --within D");
    if (finds_copies(s) && !st->indexes && s->images.count)
        return cli_usage(v, "--images has the pictures of an index; give all images as operands");
    if (s->duplicates && !finds_copies(s) && (queries || others))
        return cli_usage(v, "--duplicates compares the index's images; omit the queries");
    if (!s->duplicates && !queries && !others)
        return cli_usage(v, "give queries: images, --image or --code; or --duplicates");
    if (s->html && !strcmp(s->html, "-") && (!s->output || !strcmp(s->output, "-")))
        return cli_usage(v, "--html and the results both go to standard output; give -o FILE");
    if (s->html && s->output && !strcmp(s->html, s->output))
        return cli_usage(v, "--html and -o name one file; give two");
    cli_options_name_idle(v, uses_of(s, queries));
    return CLI_DONE;
}

static void close_all(state *st) {
    formats_atomic_file_abort(st->out.file);
    free(st->image), free(st->distance), free(st->wanted);
    cli_query_codes_close(&st->queries);
    cli_index_close(&st->index);
    cli_index_list_close(&st->list);
    cli_embedder_close(&st->embedder);
    cli_code_set_close(&st->inputs), cli_code_set_close(&st->indexed);
    cli_model_close(&st->model);
    cli_options_free(&cli_verb_search, &st->s);
}

int cmd_search(int argc, char **argv) {
    state st = {.has_output = false};
    settings *s = &st.s;
    int first, code = cli_options_parse(&cli_verb_search, argc, argv, s, &first);
    if (code >= 0) {
        cli_options_free(&cli_verb_search, s);
        return code;
    }
    const size_t n = (size_t)(argc - first);
    st.indexes = cli_index_paths_first(argv + first, n);
    code = check_settings(&st, n);
    if (code == CLI_DONE) code = check_page(s);
    st.indexed = (cli_code_set){.common = &s->common,
                                .verb = "search",
                                .output = s->output,
                                .follow_links = s->follow_links,
                                .frames = s->frames,
                                .alpha = (formats_alpha)s->alpha};
    st.inputs = st.indexed;
    if (code == CLI_DONE) code = search(&st, argv + first, n);
    if (code == CLI_DONE && (st.indexed.left.failed || st.inputs.left.failed))
        code = CLI_SOME_FAILED;
    close_all(&st);
    return code;
}
