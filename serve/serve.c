/* serve.c -- see serve.h. */
#define _GNU_SOURCE /* accept queue; sigtimedwait */
#include "serve/serve.h"
#include "formats/file.h"
#include "serve/daemon.h"
#include "serve/live.h"
#include "serve/mhd.h"
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifdef LATE_LIBRARY
enum { OPEN_FILES = 128, TICK_MS = 100, BACKLOG = 1024, OTHER_FILES = 64, UNSENT = 64 << 10 };
static const uint64_t MOST_AREA = (uint64_t)1 << 26;

/* --- options --- */

static serve_options with_defaults(const serve_options *given) {
    serve_options o = *given;
    if (!o.listen) o.listen = "127.0.0.1:8000";
    if (!o.clients) o.clients = 1000;
    if (!o.header_bytes) o.header_bytes = 8192;
    if (!o.ranges) o.ranges = 16;
    if (!o.idle_seconds) o.idle_seconds = 60;
    if (!o.queued) o.queued = 64;
    if (!o.threads) o.threads = 1;
    o.limits = formats_limits_or_default(&o.limits);
    return o;
}

/* A connection may have a file of its own. */
static taper_status raise_file_limit(const serve_options *o, taper_error *error) {
    struct rlimit limit;
    const rlim_t need = 2 * (rlim_t)o->clients + OPEN_FILES + OTHER_FILES;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= need) return TAPER_OK;
    if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < need)
        return formats_fail(error, TAPER_ERR_LIMIT,
                            "%u clients need %llu open files, and the system allows %llu: fewer "
                            "clients, or a higher limit (ulimit -Hn)",
                            o->clients, (unsigned long long)need,
                            (unsigned long long)limit.rlim_max);
    limit.rlim_cur = need;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        return formats_fail_errno(error, errno, "raise the limit of open files");
    return TAPER_OK;
}

/* --- the listening socket --- */

/* "host:port", "[host]:port" or ":port". */
static bool split_address(const char *text, char host[64], char port[8]) {
    const char *colon = strrchr(text, ':');
    if (!colon || strlen(colon + 1) > 5 || !colon[1] ||
        strspn(colon + 1, "0123456789") != strlen(colon + 1))
        return false;
    size_t n = (size_t)(colon - text);
    if (n > 1 && text[0] == '[' && text[n - 1] == ']') text++, n -= 2;
    if (n >= 64) return false;
    memcpy(host, text, n), host[n] = '\0';
    memcpy(port, colon + 1, strlen(colon + 1) + 1);
    return true;
}

/* Connections inherit it. Without a bound the system takes megabytes from sendfile for each client
 * that does not read: 2 GB for 1,000, beyond what it has for TCP before it calls memory short. */
static void bound_unsent(int socket) {
#ifdef TCP_NOTSENT_LOWAT
    const int bytes = UNSENT;
    setsockopt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof bytes);
#else
    (void)socket;
#endif
}

static int bind_socket(const struct addrinfo *where) {
    const int on = 1;
    const int s = socket(where->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s < 0) return -1;
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    bound_unsent(s);
    if (bind(s, where->ai_addr, where->ai_addrlen) == 0 && listen(s, BACKLOG) == 0) return s;
    const int reason = errno;
    close(s);
    errno = reason;
    return -1;
}

static taper_status listen_at(const char *text, int *out, bool *is_ipv6, taper_error *error) {
    char host[64], port[8];
    struct addrinfo *where = NULL;
    const struct addrinfo wanted = {.ai_family = AF_UNSPEC,
                                    .ai_socktype = SOCK_STREAM,
                                    .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV};
    if (!split_address(text, host, port) || atoll(port) > 65535 ||
        getaddrinfo(*host ? host : "0.0.0.0", port, &wanted, &where) != 0)
        return formats_fail(error, TAPER_ERR_ARG,
                            "%.80s is no address: give ADDRESS:PORT, such as 127.0.0.1:8000, "
                            "[::1]:8000 or :8000 for all addresses",
                            text);
    *out = bind_socket(where);
    *is_ipv6 = where->ai_family == AF_INET6;
    freeaddrinfo(where);
    if (*out >= 0) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_IO, "cannot listen on %.80s: %s; choose another port",
                        text, strerror(errno));
}

/* The address as readers on this machine write it, with the port that the system chose. */
static void url_of(int socket, char *to, size_t room) {
    struct sockaddr_storage address;
    socklen_t n = sizeof address;
    char host[64], port[8];
    to[0] = '\0';
    if (getsockname(socket, (struct sockaddr *)&address, &n) != 0 ||
        getnameinfo((struct sockaddr *)&address, n, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return;
    const bool is_ipv6 = address.ss_family == AF_INET6;
    snprintf(to, room, is_ipv6 ? "http://[%s]:%s/" : "http://%s:%s/", host, port);
}

/* --- what a run consists of --- */

static void close_server(serve_server *s) {
    serve_pool_close(s->pool);
    serve_live_close(s->live);
    serve_connections_close(s->connections);
    serve_log_close(s->log);
    serve_blob_cache_close(s->content.pictures);
    serve_sets_close(s->content.sets);
    serve_files_close(s->content.files);
    serve_roots_close(s->content.roots);
}

/* Half of the memory is for open containers and pictures, the rest for threads that decode. */
static taper_status open_server(serve_server *s, const serve_options *o, taper_error *error) {
    const uint64_t memory = o->limits.max_memory;
    const uint64_t cache = o->cache_bytes < memory / 4 ? o->cache_bytes : memory / 4;
    s->options = o;
    s->content.most_area = o->limits.max_pixels < MOST_AREA ? o->limits.max_pixels : MOST_AREA;
    TAPER_TRY(raise_file_limit(o, error));
    TAPER_TRY(serve_roots_open(&s->content.roots, o->path, o->paths, error));
    if (error) error->item = 0;
    TAPER_TRY(serve_log_open(&s->log, o->log, error));
    s->content.files = serve_files_open(s->content.roots, OPEN_FILES);
    s->content.sets = serve_sets_open(&o->limits, o->model, memory / 4);
    s->content.pictures = serve_blob_cache_open(cache);
    s->connections = serve_connections_open();
    s->live = serve_live_open();
    if (s->content.files && s->content.sets && s->content.pictures && s->connections && s->live)
        s->pool = serve_pool_open(&s->content, o->threads, o->queued, memory / 2 / o->threads);
    return s->pool ? TAPER_OK
                   : formats_fail(error, TAPER_ERR_NOMEM, "no memory or threads for the server");
}

/* --- the main thread: signals, and what is done several times a second --- */

static int wait_for_signal(const sigset_t *signals) {
    const struct timespec tick = {.tv_nsec = TICK_MS * 1000000L};
    const int number = sigtimedwait(signals, NULL, &tick);
    return number > 0 ? number : 0;
}

static void tick(serve_server *s, bool is_ending) {
    const int64_t idle_ms = (int64_t)s->options->idle_seconds * 1000;
    serve_live_sweep(s, idle_ms, is_ending);
    serve_connections_sweep(s->connections, idle_ms);
    serve_log_flush(s->log);
}

/* A second signal: the process ends by it, as it would without a server. */
static void end_by(serve_server *s, int number) {
    sigset_t one;
    serve_log_flush(s->log);
    sigemptyset(&one);
    sigaddset(&one, number);
    raise(number);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
}

static void run(serve_server *s, struct MHD_Daemon *daemon, const sigset_t *signals) {
    bool is_ending = false;
    while (!is_ending || atomic_load(&s->in_flight)) {
        const int number = wait_for_signal(signals);
        if (number == SIGHUP) serve_log_reopen(s->log);
        if (number == SIGTERM || number == SIGINT) {
            if (is_ending) end_by(s, number);
            is_ending = true;
            atomic_store(&s->is_ending, true);
            serve_daemon_quiesce(s, daemon);
        }
        tick(s, is_ending);
    }
}

static taper_status run_on(serve_server *s, int socket, bool is_ipv6, const sigset_t *signals,
                           taper_error *error) {
    char url[128];
    url_of(socket, url, sizeof url);
    struct MHD_Daemon *daemon = serve_daemon_start(s, socket, is_ipv6, error);
    if (!daemon) {
        close(socket);
        return TAPER_ERR_IO;
    }
    if (s->options->ready) s->options->ready(s->options->user, url);
    run(s, daemon, signals);
    serve_daemon_stop(s, daemon);
    return TAPER_OK;
}

static void block_signals(sigset_t *signals, sigset_t *before) {
    sigemptyset(signals);
    sigaddset(signals, SIGTERM);
    sigaddset(signals, SIGINT);
    sigaddset(signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, signals, before); /* threads that follow inherit it */
    signal(SIGPIPE, SIG_IGN);
}

taper_status serve_run(const serve_options *options, taper_error *error) {
    const serve_options o = with_defaults(options);
    serve_server server = {0};
    sigset_t signals, before;
    int socket = -1;
    bool is_ipv6 = false;
    if (error) error->item = 0;
    server.mhd = serve_mhd_load(error);
    if (!server.mhd) return TAPER_ERR_UNSUPPORTED;
    block_signals(&signals, &before);
    taper_status status = open_server(&server, &o, error);
    if (status == TAPER_OK) status = listen_at(o.listen, &socket, &is_ipv6, error);
    if (status == TAPER_OK) status = run_on(&server, socket, is_ipv6, &signals, error);
    close_server(&server);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}
#else
taper_status serve_run(const serve_options *options, taper_error *error) {
    (void)options;
    return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                        "was built without libmicrohttpd; install libmicrohttpd-dev and build it "
                        "again");
}
#endif
