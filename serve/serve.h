/* serve.h -- an HTTP server for containers, on libmicrohttpd, which is loaded when it begins.
 *
 * Files and ranges of them are answered by one thread, which waits for all sockets (epoll).
 * Pictures, lists and info.json are made by a few others, behind a queue of limited length. Nothing
 * is written, and nothing outside the given paths is read. What a request asks for is found in
 * request/, what it gets in content/.
 *
 * Directory serve/: the protocol.
 *
 *     serve         the run of the server: its socket, signals, the end
 *     options       what a run is told
 *     server        what all modules of the run share
 *     daemon        the requests of libmicrohttpd
 *     route         what a request gets, by its address
 *     replies       files, ranges and answers as responses
 *     live          containers that are still being written
 *     pool          the threads that make answers
 *     connections   how long a client may take for the head of a request
 *     access_log    a line of JSON for each request
 *     mhd           the functions of libmicrohttpd */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H
#include "serve/options.h"

/* Serve until SIGTERM or SIGINT; then no connection is accepted, what runs is finished, and the
 * function returns TAPER_OK. A second signal ends the process by that signal. SIGHUP opens the log
 * again. SIGPIPE is ignored from then on. Call it from the main thread, before other threads are
 * started.
 *
 * TAPER_ERR_UNSUPPORTED: libmicrohttpd is missing; the text names its package. TAPER_ERR_ARG: an
 * option or a path is not legal. TAPER_ERR_IO: a path, the log or the address cannot be opened.
 * error->item: the number of the path that it is about, from 1; 0: none. */
taper_status serve_run(const serve_options *options, taper_error *error);

#endif
