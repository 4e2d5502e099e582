/* cmd_sheet.c -- a contact sheet of a container: small versions of its images, side by side. */
#include "cli/chosen_images.h"
#include "cli/cli.h"
#include "cli/common/outputs.h"
#include "cli/common/parallel.h"
#include "cli/common/progress.h"
#include "cli/picture_files.h"
#include "cli/prefetch.h"
#include "cli/sheet.h"
#include "formats/image.h"
#include "formats/images/png.h"
#include <pthread.h>
#include <stdlib.h>

typedef struct settings {
    cli_common common;
    const char *output, *model;
    cli_strings images;
    int64_t columns, tile, side;
} settings;

static const cli_option options[] = {
    {"output", 'o', CLI_STRING, "FILE", offsetof(settings, output),
     .help = "write the sheet here: x.png, x.jpg, or a page x.html; - is a PNG on standard output"},
    {"model", 'm', CLI_STRING, "MODEL", offsetof(settings, model),
     .help = "the model, unless it is in the container or built in"},
    {"image", 'i', CLI_STRINGS, "LIST", offsetof(settings, images),
     .help =
         "only these images, by number from 1, range, name, end of a name or pattern: 3,7-9,*.jpg"},
    {"tile", 0, CLI_INT, "N", offsetof(settings, tile), .initial = "160", .min = 8, .max = 4096,
     .help = "pixels along the longer side of each image"},
    {"columns", 0, CLI_INT, "N", offsetof(settings, columns), .initial = "0", .min = 0, .max = 4096,
     .help = "images side by side in a PNG; 0: about as many as rows"},
    {"side", 0, CLI_INT, "N", offsetof(settings, side), .initial = "0", .min = 0, .max = 4096,
     .help = "a PNG of at most N x N pixels with the first images, up to nine; for thumbnails"},
    CLI_THREADS_OPTION(settings),
    CLI_OUTPUT_OPTIONS(settings),
    CLI_MESSAGE_OPTIONS(settings),
    CLI_LIMIT_OPTIONS(settings),
    {0}};

const cli_verb cli_verb_sheet = {
    .name = "sheet",
    .run = cmd_sheet,
    .what = "draw small versions of a container's images side by side",
    .synopsis = "[options] -o FILE CONTAINER [IMAGE...]",
    .options = options,
    .about =
        "Writes a contact sheet: each image, complete or cut, with at most --tile pixels along "
        "its longer side. In a PNG they fill a grid on white, row after row. A page has their "
        "names and sizes, too; it is one file and loads nothing.\n\n"
        "IMAGE is a name, the end of a name, a pattern, a number from 1 or a range, as of "
        "`extract`; without IMAGE all images are drawn. A picture is written as PNG, or, by the "
        "suffix of -o, as JPEG, WebP, TIFF or PNM.\n\n"
        "Of large images only as much is decoded as shows at that size. An image whose data are "
        "damaged is drawn as far as the data before allow, and the exit code is 3.\n\n"
        "--side is for file managers: they show the first image, or the first four or nine.",
    .examples = "taper sheet -o sheet.png holiday.taper\n"
                "taper sheet --tile 320 -o sheet.html holiday.taper\n"
                "taper sheet --columns 4 -o skies.jpg holiday.taper '*-sky.png'\n"};

enum { GAP = 8, QUALITY = 90 /* of JPEG and WebP */ };

typedef struct job {
    const settings *s;
    const char *input;
    cli_container container;
    cli_chosen chosen;
    uint64_t count; /* of these, the first that are drawn */
    cli_tile *tile; /* [count] */
    uint32_t side, gap, columns;
    taper_limits limits;    /* what one thread may take */
    cli_prefetch *prefetch; /* of a URL */
    cli_progress progress;
    pthread_mutex_t lock; /* guards code */
    int code;
} job;

/* --- sizes --- */

/* Sizes of tiles; for --side the number of images, too. */
static void fit(job *j) {
    j->side = (uint32_t)j->s->tile, j->gap = GAP;
    if (j->s->side) {
        j->count = j->count >= 9 ? 9 : j->count >= 4 ? 4 : 1;
        j->columns = cli_sheet_columns(j->count);
        j->gap = j->count == 1 ? 0 : (uint32_t)j->s->side / 64;
        const uint32_t room = (uint32_t)j->s->side - (j->columns + 1) * j->gap;
        j->side = room / j->columns ? room / j->columns : 1;
        return;
    }
    j->columns = j->s->columns ? (uint32_t)j->s->columns : cli_sheet_columns(j->count);
    if (j->columns > j->count) j->columns = (uint32_t)j->count;
}

/* The tiles stay in memory until the sheet is written. */
static int check_memory(job *j, unsigned threads) {
    const taper_limits limits = cli_limits(&j->s->common);
    const uint64_t need = 2 * j->count * ((uint64_t)j->side * j->side * 3 + sizeof *j->tile);
    taper_error error;
    j->limits = limits;
    j->limits.max_memory = need < limits.max_memory ? (limits.max_memory - need) / threads : 0;
    if (need <= limits.max_memory / 2) return CLI_DONE;
    formats_fail_fact(&error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY,
                      formats_memory_needed(&limits, 2 * need),
                      "%llu tiles need more than half of the memory; choose some with --image",
                      (unsigned long long)j->count);
    return cli_fail("sheet", j->input, error.status, &error);
}

/* --- tiles --- */

static void decode_tile(void *user, size_t k, unsigned thread) {
    job *j = user;
    (void)thread;
    taper_error error = {0};
    taper_image_info info = {.size = sizeof info};
    taper_container_get_image(j->container.open, cli_chosen_image(&j->chosen, k), &info, NULL);
    cli_prefetch_group(j->prefetch, info.group);
    const taper_decode_options how = {
        .size = sizeof how, .max_memory = j->limits.max_memory + j->container.info.memory};
    const taper_status status = cli_tile_decode(&j->tile[k], j->container.open, &how,
                                                cli_chosen_image(&j->chosen, k), j->side, &error);
    if (status != TAPER_OK) {
        const int code =
            cli_fail("sheet", j->tile[k].name ? j->tile[k].name : j->input, status, &error);
        pthread_mutex_lock(&j->lock);
        if (j->code == CLI_DONE || code != CLI_CORRUPT) j->code = code;
        pthread_mutex_unlock(&j->lock);
    }
    cli_progress_add(&j->progress, 1);
}

static void free_tiles(job *j) {
    for (uint64_t k = 0; j->tile && k < j->count; k++) formats_image_free(&j->tile[k].image);
    free(j->tile);
    cli_chosen_free(&j->chosen);
}

/* --- the sheet --- */

static taper_status write_page(const job *j, const taper_sink *sink, taper_error *error) {
    cli_text text;
    char title[160];
    TAPER_TRY(cli_text_open(&text));
    snprintf(title, sizeof title, "%llu of %llu images", (unsigned long long)j->count,
             (unsigned long long)cli_images_in(&j->container.info));
    const taper_status status = cli_sheet_page(j->tile, j->count, j->side, title, text.to, error);
    if (status == TAPER_OK) return cli_text_write(&text, sink);
    cli_text_free(&text);
    return status;
}

static taper_status write_picture(const job *j, const taper_sink *sink, taper_error *error) {
    taper_image sheet;
    uint8_t *bytes = NULL;
    size_t n = 0;
    const taper_limits limits = cli_limits(&j->s->common);
    TAPER_TRY(
        cli_sheet_draw(j->tile, j->count, j->columns, j->side, j->gap, &limits, &sheet, error));
    const int said = cli_picture_format_of(j->s->output);
    const formats_metadata none = {0};
    const cli_picture_form form = {.format = (cli_picture_format)said, .quality = QUALITY};
    taper_status status = said > CLI_PICTURE_PNG && said < CLI_PICTURE_ORIGINAL
                              ? cli_picture_encode(&form, &sheet, &none, &bytes, &n, error)
                              : formats_png_encode(&sheet, &bytes, &n, error);
    formats_image_free(&sheet);
    if (status == TAPER_OK) status = sink->write(sink->user, bytes, n);
    free(bytes);
    return status;
}

static bool is_page(const settings *s) {
    return formats_has_extension(s->output, ".html") || formats_has_extension(s->output, ".htm");
}

static int write_sheet(job *j) {
    cli_output out;
    taper_error error = {0};
    int code = cli_output_check("sheet", j->s->output, j->input);
    if (code == CLI_DONE) code = cli_output_open(&out, "sheet", j->s->output, &j->s->common);
    if (code != CLI_DONE) return code;
    taper_sink sink = cli_output_sink(&out);
    const taper_status status =
        is_page(j->s) ? write_page(j, &sink, &error) : write_picture(j, &sink, &error);
    return cli_output_close(&out, j->s->output, status, &error);
}

static int make_sheet(job *j) {
    unsigned threads = cli_threads(&j->s->common);
    int code = cli_chosen_make(&j->chosen, "sheet", j->input, j->container.open, j->s->images.item,
                               j->s->images.count);
    if (code != CLI_DONE) return code;
    j->count = j->chosen.count;
    fit(j);
    if (threads > j->count) threads = (unsigned)j->count;
    code = check_memory(j, threads);
    if (code != CLI_DONE) return code;
    j->tile = calloc((size_t)j->count, sizeof *j->tile);
    if (!j->tile) return cli_fail("sheet", j->input, TAPER_ERR_NOMEM, NULL);
    cli_progress_start(&j->progress, &j->s->common, "decoding", j->count, "images");
    j->prefetch = cli_prefetch_new(&j->container, j->chosen.image, j->count, UINT64_MAX, 1);
    cli_parallel(threads, (size_t)j->count, decode_tile, j);
    cli_prefetch_free(j->prefetch);
    cli_progress_end(&j->progress);
    if (j->code != CLI_DONE && j->code != CLI_CORRUPT) return j->code;
    code = write_sheet(j);
    if (code == CLI_DONE)
        cli_note(&j->s->common, "sheet", "%llu image%s in %s", (unsigned long long)j->count,
                 formats_plural(j->count, "s"), cli_output_name(j->s->output));
    return code == CLI_DONE ? j->code : code;
}

static int run(const settings *s, const char *input) {
    cli_model model = {0};
    job j = {.s = s, .input = input};
    int code = s->model ? cli_stages_open(&model, "sheet", s->model, &s->common) : CLI_DONE;
    if (code == CLI_DONE) code = cli_container_open(&j.container, "sheet", input, &s->common);
    if (code == CLI_DONE)
        code = cli_container_bind(&j.container, model.model, "sheet", input, &s->common);
    if (code == CLI_DONE) {
        pthread_mutex_init(&j.lock, NULL);
        code = make_sheet(&j);
        pthread_mutex_destroy(&j.lock);
    }
    free_tiles(&j);
    cli_container_close(&j.container);
    cli_model_close(&model);
    return code;
}

static int check_usage(const settings *s, int operands) {
    if (!operands) return cli_usage(&cli_verb_sheet, "give a container, or -");
    if (!s->output)
        return cli_usage(&cli_verb_sheet, "give an output: -o FILE.png or -o FILE.html");
    if (s->side && is_page(s))
        return cli_usage(&cli_verb_sheet, "--side is for a PNG: give -o FILE.png");
    return CLI_DONE;
}

int cmd_sheet(int argc, char **argv) {
    settings s = {0};
    int first, code = cli_options_parse(&cli_verb_sheet, argc, argv, &s, &first);
    if (code >= 0) return code;
    code = check_usage(&s, argc - first);
    if (code == CLI_DONE)
        code = cli_strings_append("sheet", &s.images, argv + first + 1, (size_t)(argc - first - 1));
    if (code == CLI_DONE) code = run(&s, argv[first]);
    cli_options_free(&cli_verb_sheet, &s);
    return code;
}
