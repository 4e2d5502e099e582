/* cmd_embed.c -- writes codes of images as an array: .npy for numpy, or CSV.
 *
 * The header of a .npy file has the number of rows, which is known only after all images were read.
 * Until then codes are spooled (spool.h). */
#include "cli/cli.h"
#include "cli/common/inputs.h"
#include "cli/common/json.h"
#include "cli/common/outputs.h"
#include "cli/common/plain_text.h"
#include "cli/common/spool.h"
#include "cli/search/map.h"
#include "formats/bytes.h"
#include "formats/images/npy.h"
#include <stdlib.h>
#include <string.h>

typedef struct settings {
    cli_common common;
    const char *output, *model, *filelist, *labels, *labels_out, *map;
    int64_t units;
    int format, alpha, follow_links, frames, null_list;
} settings;

enum { AS_NPY, AS_CSV };
static const char *const as[] = {"npy", "csv", NULL};
enum { USE_LABELS = 1 };
static const char *const uses[] = {"CSV, --map, --labels-out or --json", NULL};
static const cli_option options[] = {
    {"output", 'o', CLI_STRING, "FILE", offsetof(settings, output),
     .help = "write the codes here, .npy or .csv; - is standard output"},
    {"model", 'm', CLI_STRING, "MODEL", offsetof(settings, model),
     .help = "a model made by `taper train`, or photo, tiny or search; default: that in the "
             "container"},
    {"format", 0, CLI_CHOICE, "NAME", offsetof(settings, format), .initial = "npy", .choices = as,
     .help = "format, if the name of the output does not determine it", .with = "output"},
    {"map", 0, CLI_STRING, "FILE", offsetof(settings, map),
     .help = "write a page here, with a point for each image"},
    {"labels-out", 0, CLI_STRING, "FILE", offsetof(settings, labels_out),
     .help = "write the labels of the rows here: .npy numbers, or .csv `name,label`"},
    {"units", 0, CLI_INT, "N", offsetof(settings, units), .initial = "0", .min = 0, .max = 65535,
     .help = "use the first N numbers of each code (`train-labels --nested`); 0: all"},
    {"labels", 0, CLI_STRING, "FILE", offsetof(settings, labels),
     .help = "class labels: IDX, CSV `name,label`, or one label per line", .uses = USE_LABELS},
    {"filelist", 0, CLI_STRING, "FILE", offsetof(settings, filelist),
     .help = "read paths of inputs from this file, one per line; - is standard input"},
    CLI_NULL_OPTION(settings),
    CLI_FOLLOW_OPTION(settings),
    CLI_FRAMES_OPTION(settings),
    CLI_ALPHA_OPTION(settings, "refuse"),
    CLI_THREADS_OPTION(settings),
    CLI_OUTPUT_OPTIONS(settings),
    CLI_MESSAGE_OPTIONS(settings),
    CLI_JSON_OPTION(settings),
    CLI_LIMIT_OPTIONS(settings),
    {0}};

const cli_verb cli_verb_embed = {
    .name = "embed",
    .run = cmd_embed,
    .what = "write the codes of images as an array: .npy or CSV",
    .synopsis = "[options] -m MODEL -o CODES.npy INPUT...",
    .options = options,
    .uses = uses,
    .about =
        "Each image gives one row of numbers: its code, with one number per unit of the model. "
        "For an embedding model (`taper train-labels`) images may have any size. "
        " For others they must have the size of the model's window (`taper info "
        "MODEL`; --window whole). Inputs are those of `encode`; rows are in their order.\n\n"
        "From containers (.taper, also truncated) codes, names and labels are read without "
        "decoding pixels. --model is needed if the container does not contain its model. Codes "
        "of a binary model are exactly those of the images. Those of other models are as "
        "precise as the bits in the file; how many bits were known is printed.\n\n"
        "A .npy file is for numpy.load: float32, [images][units]. CSV has a line per image, "
        "name,label,c0,c1,... under a heading; its numbers read back as the same float32. Names "
        "are relative to the input folder: the file cats/old/1.png of the input cats/ is "
        "old/1.png. Images of IDX and CIFAR files are called FILE#1, FILE#2 and so on.\n\n"
        "--map writes a page that works offline. Each image is a point, which shows the image, "
        "and, when clicked, its neighbours.\n\n"
        "--labels-out writes one label per row, so that labels match even if images were "
        "skipped. As .npy it has int32 numbers, -1 for no label: the labels themselves if all "
        "are integers, else class numbers from 0 in the order of names. That numbering is "
        "printed, and is part of --json. As CSV it has name,label, for --labels.\n\n"
        "The code of a binary model is its bits minus a constant, which is 0 for an embedding "
        "model.\n\n"
        "Inputs that cannot be used are named and skipped, and the exit code is 1. If no input "
        "can be used, the exit code says why, as with `encode`.",
    .examples =
        "taper train -o digits.tpm -w whole -k 30 train-images-idx3-ubyte.gz\n"
        "taper embed -m digits.tpm -o codes.npy train-images-idx3-ubyte.gz\n"
        "taper embed -m cats.tpm -o codes.npy --labels-out labels.npy cats/\n"
        "taper embed -m cats.tpm -o - --format csv cats/ | sort\n"
        "taper embed -m cats.tpm --map cats.html cats/\n"
        "head -c 20000 set.taper >cut.taper; taper embed -m set.tpm -o codes.npy cut.taper\n"};

typedef struct state {
    settings s;
    cli_model model;
    cli_embedder embedder;
    cli_code_set images;
    cli_output codes, labels;
    cli_map *map;
    bool is_csv;
    FILE *spool;  /* for .npy: spooled rows */
    size_t *kept; /* [images.count] number in the set of the image of each row */
    size_t rows;
    bool are_numbers; /* all class names are integers that fit int32 */
} state;

/* Format by --format, else by the name of the output. */
static bool wants_csv(const settings *s, const char *path) {
    const size_t n = strlen(path);
    if (cli_options_given("format") || n < 4) return s->format == AS_CSV;
    return !strcmp(path + n - 4, ".csv") || (strcmp(path + n - 4, ".npy") && s->format == AS_CSV);
}

static bool is_csv_name(const char *path) {
    const size_t n = strlen(path);
    return n > 4 && !strcmp(path + n - 4, ".csv");
}

/* --- labels --- */

/* A decimal integer up to the largest int32. */
static bool label_number(const char *name, int32_t *number) {
    int64_t value;
    const bool usual = name[0] != '0' || !name[1];
    if (!usual || name[strspn(name, "0123456789")] || !cli_parse_int(name, &value) ||
        value > INT32_MAX)
        return false;
    *number = (int32_t)value;
    return true;
}

static bool all_numbers(const cli_code_set *set) {
    int32_t number;
    for (size_t k = 0; k < cli_code_set_classes(set); k++)
        if (!label_number(cli_code_set_class(set, k), &number)) return false;
    return true;
}

static int32_t label_of_row(const state *st, size_t row) {
    int32_t label = cli_code_set_label(&st->images, st->kept[row]);
    if (label >= 0 && st->are_numbers)
        label_number(cli_code_set_class(&st->images, (size_t)label), &label);
    return label;
}

/* "name,label" of image i, without the end of the line. */
static void put_name_and_label(const state *st, size_t i, FILE *to) {
    char name[CLI_IMAGE_NAME];
    const int32_t label = cli_code_set_label(&st->images, i);
    cli_put_csv_name(to, cli_code_set_name(&st->images, i, name));
    fputc(',', to);
    if (label >= 0) cli_put_csv(to, cli_code_set_class(&st->images, (size_t)label));
}

/* Print the meaning of the numbers in a .npy file of labels. */
static void tell_classes(const state *st) {
    enum { SHOWN = 20 };
    const size_t n = cli_code_set_classes(&st->images);
    char text[600] = "";
    size_t used = 0;
    if (!st->s.labels_out || is_csv_name(st->s.labels_out) || st->are_numbers) return;
    for (size_t k = 0; k < n && k < SHOWN && used < sizeof text; k++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%zu %.60s", k ? ", " : "", k,
                                 cli_code_set_class(&st->images, k));
    cli_note(&st->s.common, "embed", "labels: %s%s", text, n > SHOWN ? ", ..." : "");
}

/* --- writing --- */

static taper_status csv_heading(const state *st, const taper_sink *to) {
    cli_text text;
    TAPER_TRY(cli_text_open(&text));
    fputs("name,label", text.to);
    for (size_t j = 0; j < st->embedder.width; j++) fprintf(text.to, ",c%zu", j);
    fputc('\n', text.to);
    return cli_text_write(&text, to);
}

static taper_status csv_rows(const state *st, const size_t *image, size_t n, const float *codes,
                             const taper_sink *to) {
    cli_text text;
    TAPER_TRY(cli_text_open(&text));
    for (size_t i = 0; i < n; i++) {
        put_name_and_label(st, image[i], text.to);
        for (size_t j = 0; j < st->embedder.width; j++) fprintf(text.to, ",%.9g", (double)*codes++);
        fputc('\n', text.to);
    }
    return cli_text_write(&text, to);
}

static taper_status npy_numbers(const void *numbers, size_t n, const taper_sink *to) {
    enum { AT_ONCE = 1 << 14 };
    uint8_t bytes[4 * AT_ONCE];
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < n && status == TAPER_OK; i += AT_ONCE) {
        const size_t some = formats_smaller(AT_ONCE, n - i);
        formats_npy_store((const uint8_t *)numbers + 4 * i, some, bytes);
        status = to->write(to->user, bytes, 4 * some);
    }
    return status;
}

/* Write rows to the file or to the spool. */
static int put_codes(state *st, const size_t *image, size_t n, const float *codes) {
    const taper_sink sink = st->is_csv ? cli_output_sink(&st->codes) : cli_spool_sink(st->spool);
    const taper_status status = st->is_csv ? csv_rows(st, image, n, codes, &sink)
                                           : npy_numbers(codes, n * st->embedder.width, &sink);
    if (status == TAPER_OK || st->is_csv)
        return status == TAPER_OK ? CLI_DONE : cli_output_close(&st->codes, NULL, status, NULL);
    taper_error error = {0};
    taper_source none;
    taper_status why = cli_spool_source(st->spool, &none, &error); /* prints the error */
    return cli_fail("embed", NULL, why ? why : status, &error);
}

static int take_rows(void *user, const size_t *number, const taper_image *image, size_t n,
                     const float *codes) {
    state *st = user;
    for (size_t i = 0; i < n; i++) st->kept[st->rows++] = number[i];
    const int code = st->s.output ? put_codes(st, number, n, codes) : CLI_DONE;
    return code == CLI_DONE && st->map ? cli_map_take(st->map, number, image, n, codes) : code;
}

static taper_status write_npy(state *st, taper_error *error) {
    uint8_t header[FORMATS_NPY_HEADER];
    taper_source rows;
    const taper_sink sink = cli_output_sink(&st->codes);
    TAPER_TRY(cli_spool_source(st->spool, &rows, error));
    formats_npy_header(FORMATS_NPY_FLOAT32, st->rows, st->embedder.width, header);
    TAPER_TRY(sink.write(sink.user, header, sizeof header));
    return cli_source_copy(&rows, &sink, error);
}

static taper_status write_labels(state *st) {
    const taper_sink sink = cli_output_sink(&st->labels);
    if (!is_csv_name(st->s.labels_out)) {
        uint8_t header[FORMATS_NPY_HEADER];
        formats_npy_header(FORMATS_NPY_INT32, st->rows, 0, header);
        taper_status status = sink.write(sink.user, header, sizeof header);
        for (size_t i = 0; i < st->rows && status == TAPER_OK; i++) {
            const int32_t label = label_of_row(st, i);
            status = npy_numbers(&label, 1, &sink);
        }
        return status;
    }
    cli_text text;
    TAPER_TRY(cli_text_open(&text));
    fputs("name,label\n", text.to);
    for (size_t i = 0; i < st->rows; i++)
        put_name_and_label(st, st->kept[i], text.to), fputc('\n', text.to);
    return cli_text_write(&text, &sink);
}

/* --- the verb --- */

static int open_outputs(state *st) {
    taper_error error = {0};
    int code = CLI_DONE;
    if (st->s.output) code = cli_output_open(&st->codes, "embed", st->s.output, &st->s.common);
    if (code == CLI_DONE && st->s.map)
        code = cli_map_open(&st->map, &st->images, st->s.map, st->embedder.width);
    if (code == CLI_DONE && st->s.labels_out)
        code = cli_output_open(&st->labels, "embed", st->s.labels_out, &st->s.common);
    if (code != CLI_DONE) return code;
    st->kept = malloc(cli_code_set_images(&st->images) * sizeof *st->kept);
    if (!st->kept) return cli_fail("embed", NULL, TAPER_ERR_NOMEM, NULL);
    if (!st->s.output) return CLI_DONE;
    const taper_sink sink = cli_output_sink(&st->codes);
    if (st->is_csv) {
        const taper_status status = csv_heading(st, &sink);
        return status ? cli_output_close(&st->codes, NULL, status, NULL) : CLI_DONE;
    }
    const taper_status status = cli_spool_open(&st->spool, &error);
    return status ? (int)cli_fail("embed", NULL, status, &error) : CLI_DONE;
}

static void tell(const state *st) {
    const settings *s = &st->s;
    if (!s->common.json) {
        cli_note(&s->common, "embed", "%zu code%s of %zu number%s, in %s", st->rows,
                 formats_plural(st->rows, "s"), st->embedder.width,
                 formats_plural(st->embedder.width, "s"),
                 cli_output_name(s->output ? s->output : s->map));
        tell_classes(st);
        return;
    }
    cli_json j;
    cli_json_begin(&j, stdout);
    cli_json_string(&j, "file", s->output);
    cli_json_string(&j, "map", s->map);
    cli_json_string(&j, "kind", "codes");
    cli_json_uint(&j, "images", st->rows);
    cli_json_uint(&j, "units", st->embedder.width);
    cli_json_uint(&j, "left_out", st->images.left.failed);
    if (st->images.containers)
        cli_json_number(&j, "known_bits", cli_container_set_bits(st->images.containers));
    cli_json_string(&j, "labels_file", s->labels_out);
    cli_json_open(&j, "classes", '[');
    for (size_t k = 0; k < cli_code_set_classes(&st->images); k++)
        cli_json_string(&j, NULL, cli_code_set_class(&st->images, k));
    cli_json_close(&j);
    cli_json_end(&j);
}

static int finish(state *st) {
    taper_error error = {0};
    taper_status status = st->is_csv || !st->s.output ? TAPER_OK : write_npy(st, &error);
    int code = cli_map_finish(st->map);
    if (code == CLI_DONE && st->s.output)
        code = cli_output_finish(&st->codes, NULL, status, &error);
    if (code == CLI_DONE && st->s.labels_out)
        code = cli_output_finish(&st->labels, NULL, write_labels(st), NULL);
    if (code != CLI_DONE) return code;
    code = cli_map_close(st->map, CLI_DONE);
    st->map = NULL;
    if (code == CLI_DONE && st->s.labels_out)
        code = cli_output_close(&st->labels, NULL, TAPER_OK, NULL);
    if (code == CLI_DONE && st->s.output) code = cli_output_close(&st->codes, NULL, TAPER_OK, NULL);
    if (code == CLI_DONE) tell(st);
    return code;
}

static int check_labels(state *st) {
    st->are_numbers = all_numbers(&st->images);
    if (!st->s.labels_out || cli_code_set_classes(&st->images)) return CLI_DONE;
    cli_error("embed", NULL,
              "the inputs have no labels to write to %s: give --labels FILE, or a folder with a "
              "folder for each class",
              st->s.labels_out);
    return CLI_USAGE;
}

static int embed(state *st, char **paths, size_t n) {
    const settings *s = &st->s;
    int code = s->model ? cli_model_open(&st->model, "embed", s->model, &s->common) : CLI_DONE;
    if (code == CLI_DONE) code = cli_code_set_open(&st->images, paths, n);
    if (code == CLI_DONE && !s->model) code = cli_code_set_model(&st->images, &st->model);
    if (code == CLI_DONE) code = cli_code_set_spares(&st->images, paths, n, s->output);
    if (code == CLI_DONE) code = cli_code_set_spares(&st->images, paths, n, s->labels_out);
    if (code == CLI_DONE) code = cli_code_set_spares(&st->images, paths, n, s->map);
    const char *const outputs[] = {s->output, s->map, s->labels_out};
    for (size_t i = 0; s->model && i < 3 && code == CLI_DONE; i++)
        if (outputs[i]) code = cli_output_check("embed", outputs[i], s->model);
    if (code == CLI_DONE) code = check_labels(st);
    if (code == CLI_DONE)
        code = cli_code_sets_embedder((cli_code_set *const[]){&st->images}, 1, st->model.model,
                                      s->model, (size_t)s->units, &st->embedder);
    if (code == CLI_DONE) code = open_outputs(st);
    if (code == CLI_DONE) code = cli_code_set_embed(&st->images, &st->embedder, take_rows, st);
    return code == CLI_DONE ? finish(st) : code;
}

/* Check the command line. */
static int check_settings(const settings *s, char **paths, size_t n) {
    const cli_verb *v = &cli_verb_embed;
    const bool to_stdout = s->output && !strcmp(s->output, "-");
    if (!n && !s->filelist)
        return cli_usage(v, "give the images: files, folders, IDX or CIFAR files, containers");
    if (!s->model && (!n || cli_kind_of(paths[0]) != CLI_IS_CONTAINER))
        return cli_usage(v, "give the model that makes the codes: -m MODEL");
    if (!s->output && !s->map) return cli_usage(v, "give an output: -o FILE, --map PAGE");
    if (to_stdout && s->common.json)
        return cli_usage(v, "--json and the codes both go to standard output; give -o FILE");
    if (!s->labels_out) return CLI_DONE;
    if (s->output && !strcmp(s->labels_out, s->output))
        return cli_usage(v, "--output and --labels-out are the same; give two names");
    if (!strcmp(s->labels_out, "-") && s->common.json)
        return cli_usage(v, "--json and the labels both go to standard output; give a file");
    return CLI_DONE;
}

int cmd_embed(int argc, char **argv) {
    state st = {.rows = 0};
    settings *s = &st.s;
    int first, code = cli_options_parse(&cli_verb_embed, argc, argv, s, &first);
    if (code >= 0) return code;
    code = cli_inputs_check("embed", argv + first, (size_t)(argc - first));
    if (code == CLI_DONE) code = check_settings(s, argv + first, (size_t)(argc - first));
    if (code != CLI_DONE) return code;
    st.is_csv = s->output && wants_csv(s, s->output);
    const bool has_labels = st.is_csv || s->map || s->labels_out || s->common.json;
    cli_options_name_idle(&cli_verb_embed, has_labels ? USE_LABELS : 0);
    st.images = (cli_code_set){.common = &s->common,
                               .verb = "embed",
                               .output = s->output,
                               .filelist = s->filelist,
                               .null_list = s->null_list,
                               .labels = s->labels,
                               .follow_links = s->follow_links,
                               .frames = s->frames,
                               .alpha = (formats_alpha)s->alpha};
    code = embed(&st, argv + first, (size_t)(argc - first));
    if (code == CLI_DONE && st.images.left.failed) code = CLI_SOME_FAILED;
    cli_map_close(st.map, CLI_USAGE);
    formats_atomic_file_abort(st.codes.file), formats_atomic_file_abort(st.labels.file);
    if (st.spool) fclose(st.spool);
    cli_embedder_close(&st.embedder);
    cli_code_set_close(&st.images);
    cli_model_close(&st.model);
    free(st.kept);
    return code;
}
