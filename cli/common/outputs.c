/* outputs.c -- see outputs.h. */
#define _GNU_SOURCE /* fopencookie */
#include "cli/common/outputs.h"
#include "cli/common/plain_text.h"
#include "cli/common/signals.h"
#include "formats/file.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *cli_output_name(const char *path) {
    return strcmp(path, "-") ? path : "standard output";
}

bool cli_is_same_file(const char *a, const char *b) {
    struct stat sa, sb;
    if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0) return false;
    return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev &&
           sa.st_ino == sb.st_ino && S_ISREG(sa.st_mode);
}

int cli_output_check(const char *verb, const char *output, const char *input) {
    if (!cli_is_same_file(output, input)) return CLI_DONE;
    cli_error(verb, output, "is an input too, and would be lost; give another name");
    return CLI_USAGE;
}

int cli_output_open(cli_output *out, const char *verb, const char *path, const cli_common *common) {
    *out = (cli_output){.verb = verb, .path = path};
    if (strcmp(path, "-") == 0) {
        if (!isatty(STDOUT_FILENO)) return CLI_DONE;
        cli_error(verb, NULL, "binary data is not written to a terminal; give -o FILE, or a pipe");
        return CLI_USAGE;
    }
    taper_error error = {0};
    taper_status status =
        formats_atomic_file_open(&out->file, path, common->force ? FORMATS_ATOMIC_OVERWRITE : 0,
                                 cli_signals_watch(), &error);
    return status == TAPER_OK ? CLI_DONE : cli_fail(verb, path, status, &error);
}

static taper_status write_stdout(cli_output *out, const uint8_t *bytes, size_t n) {
    while (n && out->problem.status == TAPER_OK) {
        ssize_t done = write(STDOUT_FILENO, bytes, n);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0 && errno == EBADF)
            return formats_fail(&out->problem, TAPER_ERR_IO, "it is closed; give -o FILE");
        if (done < 0) return formats_fail_errno(&out->problem, errno, "write");
        bytes += done;
        n -= (size_t)done;
    }
    return out->problem.status;
}

static taper_status output_write(void *user, const void *bytes, size_t n) {
    cli_output *out = user;
    out->written += n;
    if (!out->file) return write_stdout(out, bytes, n);
    return formats_atomic_file_write(out->file, bytes, n, NULL);
}

taper_sink cli_output_sink(cli_output *out) {
    return (taper_sink){.user = out, .write = output_write};
}

static taper_status print_to_stdout(void *user, const void *bytes, size_t n) {
    (void)user;
    if (isatty(STDOUT_FILENO)) return cli_put_plain_lines(stdout, bytes, n);
    fwrite(bytes, 1, n, stdout); /* main checks for errors */
    return TAPER_OK;
}

taper_sink cli_output_text_sink(cli_output *out) {
    return out ? cli_output_sink(out) : (taper_sink){.write = print_to_stdout};
}

int cli_output_close(cli_output *out, const char *input, taper_status status,
                     const taper_error *error) {
    taper_error own = out->problem;
    if (out->file) own = *formats_atomic_file_problem(out->file);
    if (status == TAPER_OK) {
        if (out->file) own.status = formats_atomic_file_commit(out->file, &own);
    } else {
        formats_atomic_file_abort(out->file);
    }
    out->file = NULL;
    if (own.status != TAPER_OK)
        return cli_fail(out->verb, cli_output_name(out->path), own.status, &own);
    return status == TAPER_OK ? CLI_DONE : cli_fail(out->verb, input, status, error);
}

int cli_output_finish(cli_output *out, const char *input, taper_status status,
                      const taper_error *error) {
    if (status == TAPER_OK && out->problem.status == TAPER_OK && !out->file) return CLI_DONE;
    if (status == TAPER_OK && out->file && formats_atomic_file_finish(out->file, NULL) == TAPER_OK)
        return CLI_DONE;
    return cli_output_close(out, input, status, error); /* which returns the error */
}

/* Receives what stdio has buffered. open_memstream is not used: it loses a single character without
 * an error if memory runs out. */
static ssize_t text_take(void *user, const char *bytes, size_t n) {
    cli_text *t = user;
    if (t->room - t->size < n) {
        enum { LEAST = 1 << 12 };
        const size_t room = 2 * (t->room + n) + LEAST;
        char *more = realloc(t->bytes, room);
        t->has_failed = t->has_failed || !more;
        if (!more) return 0;
        t->bytes = more, t->room = room;
    }
    memcpy(t->bytes + t->size, bytes, n);
    t->size += n;
    return (ssize_t)n;
}

taper_status cli_text_open(cli_text *text) {
    *text = (cli_text){.bytes = NULL};
    text->to = fopencookie(text, "w", (cookie_io_functions_t){.write = text_take});
    return text->to ? TAPER_OK : TAPER_ERR_NOMEM;
}

taper_status cli_text_flush(cli_text *text) {
    const bool is_whole = fflush(text->to) == 0 && !ferror(text->to) && !text->has_failed;
    return is_whole ? TAPER_OK : TAPER_ERR_NOMEM;
}

taper_status cli_text_write(cli_text *text, const taper_sink *sink) {
    taper_status status = cli_text_flush(text);
    if (status == TAPER_OK && text->size) status = sink->write(sink->user, text->bytes, text->size);
    cli_text_free(text);
    return status;
}

void cli_text_free(cli_text *text) {
    if (text->to) fclose(text->to);
    free(text->bytes);
    *text = (cli_text){.bytes = NULL};
}
