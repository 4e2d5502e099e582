/* daemon.c -- see daemon.h. */
#include "serve/daemon.h"
#include "serve/content/text.h"
#include "serve/live.h"
#include "serve/mhd.h"
#include "serve/replies.h"
#include "serve/request/media.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef LATE_LIBRARY
static int64_t now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* --- a request begins and ends --- */

static serve_connection *context_of(serve_server *server, struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        server->mhd->MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static serve_connection *connection_of(const serve_request *r) {
    return context_of(r->server, r->connection);
}

/* The first line of a request. If its head is never complete, libmicrohttpd does not say so: until
 * then the request is kept with the connection, which frees it. */
static void *on_line(void *user, const char *target, struct MHD_Connection *connection) {
    serve_server *server = user;
    serve_connection *context = context_of(server, connection);
    const size_t n = strlen(target) + 1;
    serve_request *r = context ? calloc(1, sizeof *r + n) : NULL;
    if (!r) return NULL;
    r->server = server, r->connection = connection, r->started_us = now_us();
    r->method = "";
    memcpy(r->target, target, n);
    free(serve_connection_pending(context, r));
    return r;
}

static void address_of(const serve_request *r, char to[INET6_ADDRSTRLEN]) {
    const union MHD_ConnectionInfo *info =
        r->server->mhd->MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *address = info ? info->client_addr : NULL;
    to[0] = '\0';
    if (address && address->sa_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)address)->sin_addr, to,
                  INET6_ADDRSTRLEN);
    if (address && address->sa_family == AF_INET6)
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, to,
                  INET6_ADDRSTRLEN);
}

static void write_log(serve_request *r, bool is_complete) {
    char address[INET6_ADDRSTRLEN];
    address_of(r, address);
    const char *range =
        r->server->mhd->MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Range");
    const serve_log_line line = {.address = address,
                                 .method = r->method,
                                 .target = r->target,
                                 .range = range,
                                 .status = r->status,
                                 .bytes = r->bytes,
                                 .micros = now_us() - r->started_us,
                                 .is_complete = is_complete};
    serve_log_add(r->server->log, &line);
}

static void free_job(serve_job *job) {
    if (!job) return;
    serve_blob_release(job->answer.body);
    serve_file_release(job->task.file);
    free(job);
}

static void on_end(void *user, struct MHD_Connection *connection, void **request,
                   enum MHD_RequestTerminationCode how) {
    serve_server *server = user;
    serve_request *r = *request;
    (void)connection;
    if (!r || !r->has_begun) return; /* the connection frees it */
    write_log(r, r->is_queued && how == MHD_REQUEST_TERMINATED_COMPLETED_OK);
    serve_connection_busy(server->connections, connection_of(r), false);
    free_job(r->job);
    free(r);
    *request = NULL;
    atomic_fetch_sub(&server->in_flight, 1);
}

static void on_connection(void *user, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode what) {
    serve_server *server = user;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            server->mhd->MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        *context = info ? serve_connection_add(server->connections, info->connect_fd) : NULL;
    } else {
        if (*context) free(serve_connection_pending(*context, NULL));
        serve_connection_remove(server->connections, *context);
        *context = NULL;
    }
}

/* --- its answer --- */

/* "http://host:8000", from options or the request. A host with other characters than hosts have
 * does not get into addresses. */
static void base_of(const serve_request *r, char *to, size_t room) {
    const char *base = r->server->options->base;
    const char *host =
        r->server->mhd->MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Host");
    static const char legal[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-:[]_";
    if (base)
        snprintf(to, room, "%s", base);
    else if (host && *host && strlen(host) < 256 && strspn(host, legal) == strlen(host))
        snprintf(to, room, "http://%s", host);
    else
        snprintf(to, room, "http://localhost");
}

static void on_answer(void *user) {
    serve_request *r = user;
    r->has_answer = true;
    r->server->mhd->MHD_resume_connection(r->connection);
}

/* Of a picture: from the file's tag and the address, which both say what it is. */
static void picture_tag(const serve_request *r, const serve_file *file, char *tag, size_t room) {
    uint64_t hash = serve_hash(SERVE_HASH_BEGIN, r->target, strlen(r->target));
    hash = serve_hash(hash, TAPER_VERSION, strlen(TAPER_VERSION));
    snprintf(tag, room, "%.*s.%016llx\"", (int)strlen(file->tag) - 1, file->tag,
             (unsigned long long)hash);
}

static bool wants_json(const serve_request *r) {
    const char *accept =
        r->server->mhd->MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Accept");
    return accept && strstr(accept, "application/json") && !strstr(accept, "application/ld+json");
}

static void begin_task(serve_request *r, const serve_task *task, serve_file *file) {
    r->job = calloc(1, sizeof *r->job);
    if (!r->job) {
        serve_file_release(file);
        serve_reply_text(r, 503, "the server has no memory left: try again");
        return;
    }
    r->job->task = *task;
    r->job->task.file = file;
    r->job->task.wants_json = wants_json(r);
    r->job->done = on_answer, r->job->user = r;
    /* suspended first, so that the answer cannot come before */
    r->server->mhd->MHD_suspend_connection(r->connection);
    if (serve_pool_add(r->server->pool, r->job)) return;
    r->has_answer = true;
    serve_answer_text(&r->job->answer, 503, "too many pictures are being made: try again");
    r->server->mhd->MHD_resume_connection(r->connection);
}

/* With --live the length of a container must be known before its bytes are sent. */
static bool needs_length(const serve_request *r, const serve_file *file) {
    return r->server->options->is_live && !strcmp(file->type, SERVE_TYPE_CONTAINER) &&
           !atomic_load(&file->total);
}

static void reply_picture(serve_request *r, serve_task *task, serve_file *file) {
    char tag[SERVE_TAG_BYTES + 24];
    picture_tag(r, file, tag, sizeof tag);
    if (serve_reply_condition(r, tag, file->modified_ns / 1000000000))
        serve_file_release(file);
    else
        begin_task(r, task, file);
}

static void begin(serve_request *r) {
    serve_task task;
    serve_route route;
    base_of(r, task.base, sizeof task.base);
    serve_route_find(&r->server->content, r->target, task.base, &task, &route);
    if (route.kind == SERVE_ROUTE_TASK && route.is_picture) {
        reply_picture(r, &task, route.file);
    } else if (route.kind == SERVE_ROUTE_TASK) {
        begin_task(r, &task, route.file);
    } else if (route.kind == SERVE_ROUTE_FILE && needs_length(r, route.file)) {
        task.kind = SERVE_TASK_LENGTH;
        begin_task(r, &task, route.file);
    } else {
        if (route.kind == SERVE_ROUTE_FILE)
            serve_reply_file(r, route.file, &route.query);
        else if (route.kind == SERVE_ROUTE_REDIRECT)
            serve_reply_redirect(r, route.status, route.text);
        else
            serve_reply_text(r, route.status, route.text);
        serve_file_release(route.file);
    }
}

static void finish_task(serve_request *r) {
    serve_job *job = r->job;
    char tag[SERVE_TAG_BYTES + 24] = "";
    if (job->task.kind == SERVE_TASK_LENGTH && job->answer.status == 200) {
        serve_reply_file(r, job->task.file, &job->task.query);
        return;
    }
    if (job->task.file) picture_tag(r, job->task.file, tag, sizeof tag);
    serve_reply_answer(r, &job->answer, tag, job->task.file);
}

static enum MHD_Result on_request(void *user, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **request) {
    serve_request *r = *request;
    (void)user, (void)connection, (void)url, (void)version, (void)upload;
    if (!r) return MHD_NO;
    if (!r->has_begun) {
        r->has_begun = true;
        r->method = method;
        atomic_fetch_add(&r->server->in_flight, 1);
        serve_connection_pending(connection_of(r), NULL);
        serve_connection_busy(r->server->connections, connection_of(r), true);
        const bool is_known =
            !strcmp(method, "GET") || !strcmp(method, "HEAD") || !strcmp(method, "OPTIONS");
        if (is_known) return MHD_YES;
        serve_reply_text(r, 405, "only GET, HEAD and OPTIONS");
    } else if (*upload_size) { /* the body of a GET means nothing */
        *upload_size = 0;
        return MHD_YES;
    } else if (r->has_answer) {
        finish_task(r);
    } else if (r->job) {
        return MHD_YES;
    } else if (!strcmp(method, "OPTIONS")) {
        serve_reply_options(r);
    } else {
        begin(r);
        if (r->job) return MHD_YES;
    }
    return r->is_queued ? MHD_YES : MHD_NO;
}

/* --- the daemon --- */

/* Addresses are decoded by request/, which knows what a %2F or a NUL is. */
static size_t keep_escapes(void *user, struct MHD_Connection *connection, char *text) {
    (void)user, (void)connection;
    return strlen(text);
}

struct MHD_Daemon *serve_daemon_start(serve_server *server, int socket, bool is_ipv6,
                                      taper_error *error) {
    const serve_options *o = server->options;
    /* the head of the request and its fields, and then the head of the response */
    const size_t memory = o->header_bytes + o->header_bytes / 4 + 2048;
    const unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC |
                           (is_ipv6 ? MHD_USE_IPv6 : 0);
    errno = 0;
    struct MHD_Daemon *daemon = server->mhd->MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, server, MHD_OPTION_LISTEN_SOCKET, socket,
        MHD_OPTION_URI_LOG_CALLBACK, on_line, server, MHD_OPTION_NOTIFY_COMPLETED, on_end, server,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, server, MHD_OPTION_UNESCAPE_CALLBACK,
        keep_escapes, NULL, MHD_OPTION_CONNECTION_LIMIT, o->clients,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, o->per_address, MHD_OPTION_CONNECTION_TIMEOUT,
        o->idle_seconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory, MHD_OPTION_END);
    if (!daemon)
        formats_fail(error, TAPER_ERR_IO, "libmicrohttpd cannot start: %s",
                     errno ? strerror(errno) : "the limit of open files may be too low");
    return daemon;
}

void serve_daemon_quiesce(serve_server *server, struct MHD_Daemon *daemon) {
    const MHD_socket socket = server->mhd->MHD_quiesce_daemon(daemon);
    if (socket != MHD_INVALID_SOCKET) close(socket);
}

void serve_daemon_stop(serve_server *server, struct MHD_Daemon *daemon) {
    server->mhd->MHD_stop_daemon(daemon);
}
#endif
