/* access_log.h -- a line of JSON for each request. Lines are collected and written within a second,
 * or when there are many. */
#ifndef SERVE_ACCESS_LOG_H
#define SERVE_ACCESS_LOG_H
#include "formats/status.h"
#include <stdbool.h>

typedef struct serve_log serve_log;

/* path: a file to append to; NULL: standard error; "": nothing is written. */
taper_status serve_log_open(serve_log **out, const char *path, taper_error *error);
void serve_log_close(serve_log *log); /* writes what is left; NULL is fine */

typedef struct serve_log_line {
    const char *address; /* of the client */
    const char *method, *target;
    const char *range; /* field of the request; NULL: none */
    unsigned status;
    uint64_t bytes;   /* of the body, as announced */
    int64_t micros;   /* from the first line to the end of the response */
    bool is_complete; /* the client got all of it */
} serve_log_line;
/* Safe from any thread. What cannot be written is lost. */
void serve_log_add(serve_log *log, const serve_log_line *line);
/* Write what was collected. */
void serve_log_flush(serve_log *log);
/* Open the file again by its path, for programs that rotate logs. */
void serve_log_reopen(serve_log *log);

#endif
