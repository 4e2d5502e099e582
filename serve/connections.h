/* connections.h -- how long a client may take for the head of a request. libmicrohttpd ends
 * connections on which nothing moves; this ends those on which too little does. */
#ifndef SERVE_CONNECTIONS_H
#define SERVE_CONNECTIONS_H
#include <stdbool.h>
#include <stdint.h>

typedef struct serve_connections serve_connections;
typedef struct serve_connection serve_connection;

serve_connections *serve_connections_open(void);      /* NULL: no memory */
void serve_connections_close(serve_connections *all); /* NULL is fine */

/* A connection begins and ends. NULL: no memory; it is then not watched. */
serve_connection *serve_connection_add(serve_connections *all, int socket);
void serve_connection_remove(serve_connections *all, serve_connection *one); /* NULL is fine */
/* A request is complete: the client waits for the server. And: its response has ended. */
void serve_connection_busy(serve_connections *all, serve_connection *one, bool is_busy);
/* Keep `pending` with the connection, for what has begun and may never be complete. Returns what
 * was kept before. Only by the thread that adds and removes it. */
void *serve_connection_pending(serve_connection *one, void *pending);
/* Shut down connections that have waited for a request for longer than so many milliseconds. */
void serve_connections_sweep(serve_connections *all, int64_t most_ms);

#endif
