/* mhd.h -- the functions of libmicrohttpd that the server calls. Only for modules that are compiled
 * with LATE_LIBRARY (late_library.h). */
#ifndef SERVE_MHD_H
#define SERVE_MHD_H
#ifdef LATE_LIBRARY
#include "formats/late/late_library.h"
#include <microhttpd.h>

/* clang-format off */
#define SERVE_MHD(ONE) ONE(MHD_start_daemon) ONE(MHD_stop_daemon) ONE(MHD_quiesce_daemon) \
    ONE(MHD_queue_response) ONE(MHD_create_response_from_buffer) \
    ONE(MHD_create_response_from_buffer_with_free_callback_cls) \
    ONE(MHD_create_response_from_callback) ONE(MHD_create_response_from_fd_at_offset64) \
    ONE(MHD_destroy_response) ONE(MHD_add_response_header) ONE(MHD_lookup_connection_value) \
    ONE(MHD_get_connection_info) ONE(MHD_suspend_connection) ONE(MHD_resume_connection)
/* clang-format on */
typedef struct serve_mhd_functions {
    SERVE_MHD(FORMATS_LATE_POINTER)
} serve_mhd_functions;

/* Load the library and return its functions. NULL: TAPER_ERR_UNSUPPORTED. */
const serve_mhd_functions *serve_mhd_load(taper_error *error);
#endif

#endif
