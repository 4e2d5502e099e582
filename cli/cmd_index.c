/* cmd_index.c -- makes an index for `search`: sorted binary codes of images, names and labels. */
#include "cli/cli.h"
#include "cli/common/inputs.h"
#include "cli/index/index_info.h"
#include "cli/index_shard.h"
#include "cli/joined_shards.h"
#include "formats/bytes.h"
#include <stdlib.h>
#include <string.h>

typedef struct settings {
    cli_common common;
    const char *output, *model, *filelist, *labels, *shard;
    int64_t bits;
    int resume, partial, weights, alpha, follow_links, frames, null_list;
} settings;

enum { FALLING, EVEN };
static const char *const weights[] = {"falling", "even", NULL};
enum { USE_IMAGES = 1 };
static const char *const uses[] = {"images, not indexes alone", NULL};
static const cli_option options[] = {
    {"output", 'o', CLI_STRING, "FILE", offsetof(settings, output),
     .help = "write the index here, .tpx; - is standard output"},
    {"model", 'm', CLI_STRING, "MODEL", offsetof(settings, model),
     .help = "a binary model made by `taper train-bits`; default: that in the container, for "
             "images the built-in one, search",
     .uses = USE_IMAGES},
    {"bits", 0, CLI_INT, "N", offsetof(settings, bits), .initial = "0", .min = 0, .max = 65536,
     .help = "use the first N bits of each code; 0: all that are known"},
    {"weights", 0, CLI_CHOICE, "NAME", offsetof(settings, weights), .initial = "falling",
     .choices = weights, .help = "weights of bits in distances: decreasing, or equal"},
    {"labels", 0, CLI_STRING, "FILE", offsetof(settings, labels),
     .help = "class labels: IDX, CSV `name,label`, or one label per line"},
    {"filelist", 0, CLI_STRING, "FILE", offsetof(settings, filelist),
     .help = "read paths of inputs from this file, one per line; - is standard input"},
    CLI_NULL_OPTION(settings),
    CLI_FOLLOW_OPTION(settings),
    CLI_FRAMES_OPTION(settings),
    CLI_ALPHA_OPTION(settings, "refuse"),
    CLI_SHARD_OPTIONS(settings),
    {"partial", 0, CLI_FLAG, .offset = offsetof(settings, partial), .group = "many machines",
     .help = "also join shards of a set of which others are missing"},
    CLI_THREADS_OPTION(settings),
    CLI_OUTPUT_OPTIONS(settings),
    CLI_MESSAGE_OPTIONS(settings),
    CLI_JSON_OPTION(settings),
    CLI_LIMIT_OPTIONS(settings),
    {0}};

const cli_verb cli_verb_index = {
    .name = "index",
    .run = cmd_index,
    .what = "make an index of images for search: .tpx",
    .synopsis = "[options] -o INDEX.tpx INPUT...",
    .options = options,
    .uses = uses,
    .about =
        "Each image gives a code of bits, by a binary model: the built-in one, search, which tells "
        "shapes in photographs and drawings apart by 256 bits, or one that learned from images of "
        "the kind (`taper train-bits --window whole --independent`). The index has the sorted "
        "codes, the image of each code, and names and labels. `taper search` reads it.\n\n"
        "From containers (.taper, also truncated) codes are read without decoding pixels. From "
        "truncated containers, as many bits are used as all images have.\n\n"
        "Inputs may also be indexes. Their images come first and keep their numbers. In this "
        "way an index grows by new images, and several indexes become one.\n\n"
        "With falling weights a differing bit among the first 64 counts most, among the next 64 "
        "half as much, and half as much again for each doubling of the length. Such distances "
        "are closer to how images look than even ones, and faster to search. With even weights "
        "the distance is the number of differing bits.\n\n"
        "When an index is made, the neighbours of a hundred of its images are searched exactly. "
        "These measurements calibrate --recall of `taper search`. If the codes do not fit into "
        "--max-memory, they are sorted in parts.",
    .details =
        "With --shard I/N part I of N of the images is indexed, I from 1 to N: of M images those "
        "behind the first floor((I - 1) M / N), up to floor(I M / N), as by `taper encode`. All "
        "shards must be given the same inputs and options. Given all indexes, `taper index` joins "
        "them in the order of their numbers, and names those that are missing, there twice, or of "
        "other inputs, models or options. If N is above M some have no images: they write nothing, "
        "and the exit code is 0. Classes are those of the whole set.\n\n"
        "With --resume nothing is done if the output is whole, by all its checksums, and was made "
        "of the same inputs by the same model and options; otherwise it is made again. An index "
        "that does not say what it was made of is left as it is, unless -f is given. Images are "
        "compared by paths, labels and contents; containers by their front matter, which has the "
        "checksums of all else, and by their size. The index of one container that is a shard of "
        "`encode` is that shard, so such indexes are joined like those of --shard.",
    .examples = "taper index -o photos.tpx photos/\n"
                "taper search photos.tpx query.jpg\n"
                "taper index -f -o photos.tpx photos.tpx new/\n"
                "taper index -m own.tpm -o own.tpx photos/     # a model of your own\n"
                "taper index -o set.tpx set.taper              # a container that holds its model\n"
                "taper index --shard 3/8 --resume -o part-3.tpx photos/  # job 3 of 8\n"
                "taper index -o photos.tpx part-*.tpx\n"};

typedef struct state {
    settings s;
    cli_model model;
    cli_embedder embedder;
    cli_code_set images;
    cli_index *earlier; /* [n_earlier] */
    size_t n_earlier, n_open;
    cli_shard shard;
    cli_output out;
} state;

/* Move indexes before the other paths; returns their number. */
static size_t part_paths(char **paths, size_t n) {
    size_t indexes = 0;
    for (size_t i = 0; i < n; i++) {
        if (cli_kind_of(paths[i]) != CLI_IS_INDEX) continue;
        char *path = paths[i];
        memmove(paths + indexes + 1, paths + indexes, (i - indexes) * sizeof *paths);
        paths[indexes++] = path;
    }
    return indexes;
}

static int open_earlier(state *st, char **paths) {
    st->earlier = calloc(st->n_earlier + 1, sizeof *st->earlier);
    if (!st->earlier) return cli_fail("index", NULL, TAPER_ERR_NOMEM, NULL);
    int code = CLI_DONE;
    for (; st->n_open < st->n_earlier && code == CLI_DONE; st->n_open++) {
        cli_index *index = &st->earlier[st->n_open];
        taper_error error = {0};
        code = cli_index_open(index, "index", paths[st->n_open], &st->s.common);
        if (code != CLI_DONE) return code;
        /* damaged codes must not get into a new file with valid checksums */
        const taper_status status = taper_index_check(index->index, &error);
        if (status) code = cli_fail("index", paths[st->n_open], status, &error);
    }
    return code;
}

/* Shards into the order of their numbers. */
static int sort_earlier(state *st, char **paths) {
    const size_t n = st->n_earlier;
    cli_joined_shard *of = calloc(n + 1, sizeof *of);
    cli_index *given = malloc((n + 1) * sizeof *given);
    int code = of && given ? CLI_DONE : (int)cli_fail("index", NULL, TAPER_ERR_NOMEM, NULL);
    for (size_t i = 0; i < n && code == CLI_DONE; i++) {
        of[i] = (cli_joined_shard){{.size = sizeof of[i].part}, paths[i], i};
        given[i] = st->earlier[i];
        taper_index_get_part(given[i].index, &of[i].part, NULL);
    }
    if (code == CLI_DONE && n)
        code = cli_joined_shards_sort("index", of, n, st->s.partial, &st->s.common);
    for (size_t i = 0; i < n && code == CLI_DONE; i++) st->earlier[i] = given[of[i].number];
    free(of), free(given);
    return code;
}

/* Choose the images. *is_done: the output is there already, or the shard is empty. */
static int take_shard(state *st, bool *is_done) {
    const settings *s = &st->s;
    char how[160];
    snprintf(how, sizeof how, "index 1, model %016llx, bits %lld, weights %d, alpha %d",
             (unsigned long long)cli_model_info(st->model.model).id, (long long)s->bits, s->weights,
             s->alpha);
    int code = cli_index_shard_take(&st->shard, &st->images, how);
    if (code == CLI_DONE && cli_shard_is_told(&st->shard))
        code = cli_shard_look(&st->shard, "index", s->output, &st->s.common, is_done);
    return code;
}

/* The model that was given, the containers', or the built-in one. */
static int open_model(state *st) {
    const settings *s = &st->s;
    if (!s->model && st->images.containers) return cli_code_set_model(&st->images, &st->model);
    return cli_model_open(&st->model, "index", s->model ? s->model : CLI_SEARCH_MODEL, &s->common);
}

static int open_images(state *st, char **paths, size_t n) {
    const settings *s = &st->s;
    int code = s->model ? open_model(st) : CLI_DONE; /* before a large set is listed */
    if (code == CLI_DONE) code = cli_code_set_open(&st->images, paths, n);
    if (code == CLI_DONE && !s->model) code = open_model(st);
    if (code == CLI_DONE) code = cli_code_set_spares(&st->images, paths, n, s->output);
    if (code == CLI_DONE && s->model) code = cli_output_check("index", s->output, s->model);
    if (code != CLI_DONE) return code;
    const taper_model_info info = cli_model_info(st->model.model);
    code = cli_index_check_model("index", &info, s->model);
    if (code == CLI_DONE)
        code = cli_code_sets_embedder((cli_code_set *const[]){&st->images}, 1, st->model.model,
                                      s->model, 0, &st->embedder);
    st->embedder.scales = true; /* accept images whose size differs from the model's window */
    return code;
}

static void tell(const settings *s, const cli_index *made) {
    char size[16];
    if (!made->index) return;
    const taper_index_info info = cli_index_info(made->index);
    if (s->common.json)
        cli_index_report(made, s->output, &s->common);
    else
        cli_note(&s->common, "index", "%s: %llu image%s, %u bits each, %s", s->output,
                 (unsigned long long)info.images, formats_plural(info.images, "s"), info.bits,
                 cli_show_size(made->size, size));
}

/* Report names that change because an earlier index also has them. The images of an index follow
 * those of the index before it. */
static void tell_changes(const state *st, const cli_index *made) {
    uint64_t n = 0, image = 0;
    const char *before = NULL, *after = NULL;
    for (size_t k = 0; k < st->n_earlier && made->index; k++) {
        const taper_index *earlier = st->earlier[k].index;
        const uint64_t images = cli_index_info(earlier).images;
        for (uint64_t i = 0; i < images; i++, image++) {
            const char *a = taper_index_name(earlier, i), *b = taper_index_name(made->index, image);
            if (!a || !b || !strcmp(a, b) || n++) continue;
            before = a, after = b;
        }
    }
    if (n)
        cli_note(&st->s.common, "index",
                 "%llu name%s changed, because an earlier index has the same: %.200s is %.200s%s",
                 (unsigned long long)n, n == 1 ? " is" : "s are", before, after,
                 n > 1 ? ", ..." : "");
}

/* New images get the number of bits and the weights of the first index. */
static int follow_earlier(const state *st, cli_index_options *o) {
    if (!st->n_earlier) return CLI_DONE;
    const taper_index_info first = cli_index_info(st->earlier[0].index);
    const bool is_even = !first.is_weighted && first.bits > 64;
    const bool other_bits = cli_options_given("bits") && o->bits != first.bits;
    const bool other_weights = cli_options_given("weights") && o->are_even != is_even;
    if (other_bits || other_weights) {
        cli_error("index", NULL,
                  "the first index has %u bits, of %s weights, and added images must have the "
                  "same: omit --bits and --weights",
                  first.bits, is_even ? "even" : "falling");
        return CLI_USAGE;
    }
    o->bits = first.bits, o->are_even = is_even;
    return CLI_DONE;
}

static int write_index(state *st, bool has_images) {
    const settings *s = &st->s;
    cli_index_options o = {.common = &s->common,
                           .model_id = has_images ? cli_model_info(st->model.model).id : 0,
                           .bits = (uint32_t)s->bits,
                           .are_even = s->weights == EVEN,
                           .earlier = st->earlier,
                           .n_earlier = st->n_earlier};
    taper_status written = TAPER_OK;
    const taper_part part = cli_shard_part(&st->shard, 0);
    if (cli_shard_is_told(&st->shard)) o.part = &part;
    int code = follow_earlier(st, &o);
    if (code == CLI_DONE) code = cli_output_open(&st->out, "index", s->output, &s->common);
    if (code != CLI_DONE) return code;
    const taper_sink sink = cli_output_sink(&st->out);
    code = cli_index_write(has_images ? &st->images : NULL, &st->embedder, &o, &sink, &written);
    if (code != CLI_DONE) return code;
    cli_index made = {.index = NULL};
    if (!written) code = cli_index_read_back(&made, &st->out, &s->common);
    if (code == CLI_DONE) code = cli_output_close(&st->out, NULL, written, NULL);
    if (code == CLI_DONE) tell(s, &made);
    if (code == CLI_DONE) tell_changes(st, &made);
    cli_index_close(&made);
    return code;
}

static int make_index(state *st, char **paths, size_t n) {
    const settings *s = &st->s;
    st->n_earlier = part_paths(paths, n);
    const bool has_images = n > st->n_earlier || s->filelist;
    if (!has_images && st->n_earlier < 2)
        return cli_usage(&cli_verb_index, "give images to index, or two indexes to join");
    if (!has_images && s->labels)
        return cli_usage(&cli_verb_index, "indexes have their labels; omit --labels");
    if (st->n_earlier && cli_shard_is_told(&st->shard))
        return cli_usage(&cli_verb_index, "--shard and --resume are of images and containers: "
                                          "index these alone, then join the indexes");
    cli_options_name_idle(&cli_verb_index, has_images ? USE_IMAGES : 0);
    bool is_done = false;
    int code = open_earlier(st, paths);
    if (code == CLI_DONE) code = sort_earlier(st, paths);
    if (code == CLI_DONE && has_images)
        code = open_images(st, paths + st->n_earlier, n - st->n_earlier);
    if (code == CLI_DONE && has_images) code = take_shard(st, &is_done);
    if (is_done) cli_left_out_report(&st->images.left, NULL);
    return code == CLI_DONE && !is_done ? write_index(st, has_images) : code;
}

int cmd_index(int argc, char **argv) {
    state st = {.n_earlier = 0};
    settings *s = &st.s;
    int first, code = cli_options_parse(&cli_verb_index, argc, argv, s, &first);
    if (code >= 0) return code;
    const size_t n = (size_t)(argc - first);
    if (!n && !s->filelist)
        return cli_usage(&cli_verb_index, "give the images: files, folders, IDX or CIFAR files, "
                                          "containers; or indexes to join");
    if (!s->output) return cli_usage(&cli_verb_index, "give an output: -o FILE.tpx");
    if (!strcmp(s->output, "-") && s->common.json)
        return cli_usage(&cli_verb_index,
                         "--json and the index both go to standard output; give -o FILE");
    if (s->resume && !strcmp(s->output, "-"))
        return cli_usage(&cli_verb_index, "--resume needs an output that can be read: -o FILE");
    code = cli_shard_parse(&cli_verb_index, s->shard, s->resume, CLI_IS_INDEX, &st.shard);
    if (code != CLI_DONE) return code;
    st.images = (cli_code_set){.common = &s->common,
                               .verb = "index",
                               .output = s->output,
                               .filelist = s->filelist,
                               .null_list = s->null_list,
                               .labels = s->labels,
                               .follow_links = s->follow_links,
                               .frames = s->frames,
                               .alpha = (formats_alpha)s->alpha,
                               .is_told = st.shard.part.part > 0};
    code = cli_inputs_check("index", argv + first, n);
    if (code == CLI_DONE) code = make_index(&st, argv + first, n);
    if (code == CLI_DONE && st.images.left.failed) code = CLI_SOME_FAILED;
    formats_atomic_file_abort(st.out.file);
    for (size_t i = 0; i < st.n_open; i++) cli_index_close(&st.earlier[i]);
    free(st.earlier);
    cli_embedder_close(&st.embedder);
    cli_code_set_close(&st.images);
    cli_model_close(&st.model);
    return code;
}
