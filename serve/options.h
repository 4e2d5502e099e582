/* options.h -- what a run of the server is told. */
#ifndef SERVE_OPTIONS_H
#define SERVE_OPTIONS_H
#include "codec/taper_model.h"

/* 0 is the default of every member for which one is named. */
typedef struct serve_options {
    char *const *path; /* [paths]: files and folders */
    size_t paths;
    const char *listen; /* "127.0.0.1:8000", "[::1]:0", ":8000"; default 127.0.0.1:8000 */
    /* What addresses in answers begin with, "https://images.example.org". NULL: http and the host
     * of the request. */
    const char *base;
    const char *log;          /* file to append to; NULL: standard error; "": none */
    unsigned clients;         /* connections at once; default 1000 */
    unsigned per_address;     /* of them from one address; 0: any number */
    unsigned header_bytes;    /* of the head of a request; default 8192 */
    unsigned ranges;          /* of a request, 1..16; default 16 */
    unsigned idle_seconds;    /* without progress; default 60 */
    unsigned queued;          /* answers that wait for a thread; default 64 */
    unsigned threads;         /* that make answers; default 1 */
    unsigned max_age_seconds; /* how long readers may use what they have without asking */
    uint64_t cache_bytes;     /* of pictures that are kept */
    taper_limits limits;      /* max_memory: of all threads, open containers and pictures */
    const taper_model *model; /* for containers that need one; or NULL */
    int is_live;              /* containers may be growing */
    /* Called once, when connections are accepted. url: "http://127.0.0.1:8000/". May be NULL. */
    void (*ready)(void *user, const char *url);
    void *user;
} serve_options;

#endif
