/* server.h -- what the modules of a run share. Only for modules of serve/. */
#ifndef SERVE_SERVER_H
#define SERVE_SERVER_H
#include "serve/access_log.h"
#include "serve/connections.h"
#include "serve/options.h"
#include "serve/pool.h"

struct MHD_Connection;
struct serve_mhd_functions;
typedef struct serve_live serve_live;

typedef struct serve_server {
    const serve_options *options; /* with defaults */
    const struct serve_mhd_functions *mhd;
    serve_content content;
    serve_pool *pool;
    serve_log *log;
    serve_connections *connections;
    serve_live *live;
    atomic_uint in_flight; /* requests with a complete head, whose responses are not at their end */
    atomic_bool is_ending;
} serve_server;

/* One request, from its first line to the end of its response. */
typedef struct serve_request {
    serve_server *server;
    struct MHD_Connection *connection;
    serve_job *job;     /* NULL: none was needed, or yet */
    bool has_begun;     /* its head is complete */
    bool has_answer;    /* the job is done */
    bool is_queued;     /* it has a response */
    unsigned status;    /* of the response */
    uint64_t bytes;     /* of the response's body */
    int64_t started_us; /* since the start of the machine */
    const char *method;
    char target[]; /* as it was sent, with its query */
} serve_request;

#endif
