/* daemon.h -- the requests of libmicrohttpd. Only for serve.c. */
#ifndef SERVE_DAEMON_H
#define SERVE_DAEMON_H
#include "serve/server.h"

struct MHD_Daemon;

/* Begin to answer the connections of a listening socket, in a thread of libmicrohttpd. The server
 * is complete and outlives it. NULL: libmicrohttpd cannot; the text says why. */
struct MHD_Daemon *serve_daemon_start(serve_server *server, int socket, bool is_ipv6,
                                      taper_error *error);
/* Accept no more connections. */
void serve_daemon_quiesce(serve_server *server, struct MHD_Daemon *daemon);
/* Close all connections. No request may wait for an answer. */
void serve_daemon_stop(serve_server *server, struct MHD_Daemon *daemon);

#endif
