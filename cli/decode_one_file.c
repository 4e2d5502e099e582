/* decode_one_file.c -- see decode_one_file.h. */
#include "cli/decode_one_file.h"
#include "cli/common/outputs.h"
#include "cli/idx_labels.h"
#include "cli/picture_files.h"
#include "cli/picture_metadata.h"
#include "formats/image.h"
#include "formats/images/cifar.h"
#include "formats/images/idx.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool has_no_alpha(cli_picture_format format) {
    return format == CLI_PICTURE_IDX || format == CLI_PICTURE_CIFAR;
}

static int refuse_alpha(const cli_decode_job *j, const taper_image_info *info) {
    taper_error error;
    formats_fail(&error, TAPER_ERR_UNSUPPORTED,
                 "%.150s has transparency, which this format does not store; use --format png, or "
                 "encode with --alpha white",
                 info->name ? info->name : "an image");
    return cli_fail("decode", j->q->output, error.status, &error);
}

/* Check that all images fit into memory: they are kept until the file is written. */
static int make_room(cli_decode_job *j) {
    uint64_t total = 0;
    taper_image_info info = {.size = sizeof info};
    const cli_view view = {j->q->scale, j->q->crop};
    for (uint64_t k = 0; k < j->plan.count; k++) {
        if (cli_decode_info(j, k, &info)) total += cli_view_bytes(&view, &info);
        if (!(info.channels & 1) && has_no_alpha(j->plan.format)) return refuse_alpha(j, &info);
    }
    if (total > j->q->limits.max_memory / 2) {
        taper_error error;
        formats_fail_fact(&error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY,
                          formats_memory_needed(&j->q->limits, 2 * total),
                          "one file of all images needs more than half of the memory that is left; "
                          "use --format png, which needs less");
        return cli_fail("decode", j->q->output, error.status, &error);
    }
    j->kept = calloc(j->plan.count, sizeof *j->kept);
    return j->kept ? CLI_DONE : cli_fail("decode", j->q->output, TAPER_ERR_NOMEM, NULL);
}

/* Labels for IDX and CIFAR. *lacking: number of images without one, which get 0. */
static uint8_t *labels_of(const cli_decode_job *j, uint64_t *lacking) {
    uint8_t *label = calloc(j->plan.count, 1);
    taper_image_info info = {.size = sizeof info};
    *lacking = 0;
    for (uint64_t k = 0; label && k < j->plan.count; k++) {
        bool has = cli_decode_info(j, k, &info) && info.label >= 0 && info.label < 256;
        if (has) label[k] = (uint8_t)info.label;
        *lacking += !has;
    }
    return label;
}

static taper_status encode_one(const cli_decode_job *j, uint8_t **bytes, size_t *n,
                               taper_error *error) {
    formats_metadata metadata;
    cli_picture_metadata_get(j->plan.metadata, cli_picture_plan_image(&j->plan, 0), &metadata);
    const cli_picture_form form = cli_picture_plan_form(&j->plan, j->q, 0);
    const taper_status status = cli_picture_encode(&form, j->kept, &metadata, bytes, n, error);
    formats_metadata_free(&metadata);
    return status;
}

/* Set the time of the only file; standard output has none. */
static void date_one(const cli_decode_job *j) {
    formats_metadata metadata;
    if (!strcmp(j->q->output, "-")) return;
    cli_picture_metadata_get(j->plan.metadata, cli_picture_plan_image(&j->plan, 0), &metadata);
    cli_picture_set_time(AT_FDCWD, j->q->output, &metadata);
    formats_metadata_free(&metadata);
}

static taper_status encode_kept(const cli_decode_job *j, uint8_t **bytes, size_t *n,
                                taper_error *error) {
    size_t count = (size_t)j->plan.count;
    uint64_t lacking;
    if (j->plan.format == CLI_PICTURE_IDX)
        return formats_idx_encode_images(j->kept, count, cli_is_gzip_name(j->q->output), bytes, n,
                                         error);
    if (j->plan.format != CLI_PICTURE_CIFAR) return encode_one(j, bytes, n, error);
    uint8_t *label = labels_of(j, &lacking);
    taper_status status = label ? formats_cifar_encode(j->kept, label, count, bytes, n, error)
                                : formats_fail(error, TAPER_ERR_NOMEM, "no memory for the labels");
    free(label);
    if (status == TAPER_OK && lacking)
        cli_warning("decode", j->q->output, "%llu image%s without a label: 0 is written",
                    (unsigned long long)lacking, formats_plural(lacking, "s"));
    return status;
}

static int write_one_file(cli_decode_job *j, cli_output *out) {
    taper_error error = {0};
    uint8_t *bytes = NULL;
    size_t n = 0;
    taper_status status = encode_kept(j, &bytes, &n, &error);
    taper_sink sink = cli_output_sink(out);
    if (status == TAPER_OK) status = sink.write(sink.user, bytes, n);
    free(bytes);
    return cli_output_finish(out, j->q->output, status, &error);
}

static int write_labels(cli_decode_job *j, cli_output *out) {
    taper_error error = {0};
    uint8_t *bytes = NULL;
    size_t n = 0;
    uint64_t lacking;
    uint8_t *label = labels_of(j, &lacking);
    const int is_gzip = cli_is_gzip_name(out->path);
    taper_status status =
        label ? formats_idx_encode_labels(label, (size_t)j->plan.count, is_gzip, &bytes, &n, &error)
              : formats_fail(&error, TAPER_ERR_NOMEM, "no memory for the labels");
    taper_sink sink = cli_output_sink(out);
    if (status == TAPER_OK) status = sink.write(sink.user, bytes, n);
    free(label), free(bytes);
    return cli_output_finish(out, j->q->input, status, &error);
}

/* Put finished outputs in place. */
static int place_both(const cli_decode_job *j, cli_output *images, cli_output *labels) {
    int code = cli_output_close(images, j->q->output, TAPER_OK, NULL);
    if (code != CLI_DONE || !labels->path) return code;
    code = cli_output_close(labels, j->q->input, TAPER_OK, NULL);
    if (code == CLI_DONE) cli_note(j->q->common, "decode", "labels in %s", labels->path);
    return code;
}

/* *path: the file for the labels; NULL: there are no labels, or IDX cannot store them, which is
 * printed. */
static int place_labels(const cli_decode_job *j, char **path) {
    uint64_t lacking;
    *path = NULL;
    if (j->plan.format != CLI_PICTURE_IDX || !j->container->info.has_labels) return CLI_DONE;
    uint8_t *label = labels_of(j, &lacking);
    if (!label) return cli_fail("decode", j->q->output, TAPER_ERR_NOMEM, NULL);
    int code = CLI_DONE;
    if (lacking) {
        cli_warning("decode", j->q->output,
                    "without labels: %llu image%s with none, or one above 255",
                    (unsigned long long)lacking, formats_plural(lacking, "s"));
    } else if (!strcmp(j->q->output, "-")) {
        cli_warning("decode", NULL, "without labels: give -o FILE, and they go beside it");
    } else if (!(*path = cli_idx_labels_path(j->q->output))) {
        code = cli_fail("decode", j->q->output, TAPER_ERR_NOMEM, NULL);
    } else {
        code = cli_idx_labels_check(j->q->common, *path, label, (size_t)j->plan.count);
    }
    free(label);
    return code;
}

static int open_one_file(const cli_decode_job *j, cli_output *out, const char *path) {
    int code = cli_output_check("decode", path, j->q->input);
    return code == CLI_DONE ? cli_output_open(out, "decode", path, j->q->common) : code;
}

int cli_decode_to_one_file(cli_decode_job *j, uint32_t groups) {
    cli_output images = {0}, labels = {0};
    char *labels_path = NULL;
    int code = make_room(j);
    if (code == CLI_DONE) code = place_labels(j, &labels_path);
    if (code == CLI_DONE) code = open_one_file(j, &images, j->q->output);
    if (code == CLI_DONE && labels_path) code = open_one_file(j, &labels, labels_path);
    if (code == CLI_DONE) code = cli_decode_images(j, groups);
    if (code == CLI_DONE) {
        code = write_one_file(j, &images);
        if (code == CLI_DONE && labels_path) code = write_labels(j, &labels);
        if (code == CLI_DONE) code = place_both(j, &images, &labels);
        if (code == CLI_DONE) date_one(j);
    }
    formats_atomic_file_abort(images.file); /* NULL once closed */
    formats_atomic_file_abort(labels.file);
    free(labels_path);
    return code;
}
