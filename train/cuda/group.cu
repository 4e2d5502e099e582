/* group.cu -- joining, sums and failures; see group.h. */
#include "train/cuda/group.h"
#include "train/cuda/stream.h"
#include <chrono>
#include <stdio.h>
#include <string.h>
#include <thread>

static const unsigned THREADS = 256;
static const char operation[] = "sums over the processes";

/* Seconds that a device waits for the others to join, and to leave. */
static const double JOINING = 120, LEAVING = 2;

/* --- waiting --------------------------------------------------------------------------- */

/* A result beside NCCL's: it did not come in time. */
enum { NO_ANSWER = -1 };

/* Asks often at first, as most answers come soon. */
struct cuda_wait {
    double patience;
    std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
    unsigned asked = 0;

    /* Waits for a moment. Returns false if there is no more time. */
    bool goes_on() {
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begun;
        if (++asked > 1000) std::this_thread::sleep_for(std::chrono::microseconds(50));
        return passed.count() <= patience;
    }
};

/* The outcome of a call, which may come later. */
static int outcome(const cuda_group *g, int result, double patience) {
    cuda_wait wait = {patience};
    while (result == CUDA_NCCL_IN_PROGRESS) {
        const int asked = g->nccl->CommGetAsyncError(g->comm, &result);
        if (asked != CUDA_NCCL_SUCCESS) return asked;
        if (result == CUDA_NCCL_IN_PROGRESS && !wait.goes_on()) return NO_ANSWER;
    }
    return result;
}

static void describe(const cuda_nccl_library *nccl, int result, double patience, char text[160]) {
    if (result == NO_ANSWER)
        snprintf(text, 160,
                 "the other processes did not answer within %.0f s: one has ended or hangs; see "
                 "the messages of the others",
                 patience);
    else
        snprintf(text, 160, "NCCL: %s", nccl->GetErrorString(result));
}

/* Gives the group up, which ends what waits on the device's streams. */
static taper_status give_up(train_device *device, const char *why) {
    cuda_group *g = cuda_group_of(device);
    if (g->comm) g->nccl->CommAbort(g->comm);
    g->comm = NULL, g->is_pending = false, g->is_lost = true;
    return cuda_lose(device, operation, why);
}

static taper_status give_up_for(train_device *device, int result) {
    const cuda_group *g = cuda_group_of(device);
    char why[160];
    describe(g->nccl, result, g->patience, why);
    return give_up(device, why);
}

/* One look at the event. *is_reached: whether it is. */
static taper_status look(train_device *device, cudaEvent_t event, bool *is_reached) {
    cuda_group *g = cuda_group_of(device);
    int result = CUDA_NCCL_SUCCESS;
    const cudaError_t found = cudaEventQuery(event);
    *is_reached = found == cudaSuccess;
    if (*is_reached) return TAPER_OK;
    cudaGetLastError(); /* "not ready" is recorded as if it were an error */
    if (found != cudaErrorNotReady) return give_up(device, cudaGetErrorString(found));
    const int asked = g->nccl->CommGetAsyncError(g->comm, &result);
    if (asked != CUDA_NCCL_SUCCESS) result = asked;
    return result == CUDA_NCCL_SUCCESS ? TAPER_OK : give_up_for(device, result);
}

taper_status cuda_group_await(train_device *device, cudaEvent_t event) {
    const cuda_group *g = cuda_group_of(device);
    cuda_wait wait = {g->patience};
    bool is_reached = false;
    if (g->is_lost) return TAPER_ERR_DEVICE;
    while (g->is_pending && !is_reached) {
        TAPER_TRY(look(device, event, &is_reached));
        if (!is_reached && !wait.goes_on()) return give_up_for(device, NO_ANSWER);
    }
    return TAPER_OK;
}

taper_status cuda_group_settle(train_device *device) {
    cuda_group *g = cuda_group_of(device);
    TAPER_TRY(cuda_group_await(device, g->done));
    g->is_pending = false;
    return TAPER_OK;
}

/* --- joining and leaving --------------------------------------------------------------- */

static taper_status explain(const cuda_nccl_library *nccl, int result, double patience,
                            taper_error *error) {
    char why[160];
    describe(nccl, result, patience, why);
    return formats_fail(error, TAPER_ERR_UNSUPPORTED, "%s", why);
}

static taper_status identify(train_device *device, uint8_t id[TRAIN_DEVICE_ID],
                             taper_error *error) {
    cudaDeviceProp p;
    static_assert(sizeof p.uuid == TRAIN_DEVICE_ID, "its size");
    if (!cuda_nccl_load())
        return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                            "%s of NCCL 2.14 or later cannot be loaded", NCCL_FILENAME);
    const cudaError_t got = cudaGetDeviceProperties(&p, cuda_ordinal(device));
    if (got != cudaSuccess)
        return formats_fail(error, TAPER_ERR_DEVICE, "%s", cudaGetErrorString(got));
    memcpy(id, &p.uuid, TRAIN_DEVICE_ID);
    return TAPER_OK;
}

/* The library is there, as `identify` has found. */
static taper_status make_key(train_device *, char key[TRAIN_GROUP_KEY], taper_error *error) {
    const cuda_nccl_library *nccl = cuda_nccl_load();
    cuda_nccl_key made;
    static_assert(sizeof made.bytes == TRAIN_GROUP_KEY, "its size");
    const int result = nccl->GetUniqueId(&made);
    if (result != CUDA_NCCL_SUCCESS) return explain(nccl, result, 0, error);
    memcpy(key, made.bytes, TRAIN_GROUP_KEY);
    return TAPER_OK;
}

/* Memory for the blocks of a piece, which are rounded up to elements, and the event. */
static taper_status prepare(train_device *device, taper_error *error) {
    cuda_group *g = cuda_group_of(device);
    g->bytes = CUDA_PIECE_BYTES + (size_t)g->size * sizeof(double);
    taper_status status = device->memory->alloc(device, g->bytes, &g->blocks);
    if (status == TAPER_OK &&
        cudaEventCreateWithFlags(&g->done, cudaEventDisableTiming) != cudaSuccess)
        status = TAPER_ERR_DEVICE;
    if (status == TAPER_OK) return TAPER_OK;
    return formats_fail(error, status, "%s has no memory left to add up", device->name);
}

static taper_status join(train_device *device, const train_membership *with, taper_error *error) {
    cuda_group *g = cuda_group_of(device);
    const double patience = with->patience < JOINING ? with->patience : JOINING;
    cuda_nccl_options options = {sizeof options, CUDA_NCCL_MAGIC, CUDA_NCCL_VERSION, 0};
    cuda_nccl_key key;
    memcpy(key.bytes, with->key, sizeof key.bytes);
    *g = cuda_group{};
    g->nccl = cuda_nccl_load();
    g->rank = with->rank, g->size = with->size, g->patience = with->patience;
    taper_status status = prepare(device, error); /* which chooses the device */
    if (status == TAPER_OK) {
        const int begun =
            g->nccl->CommInitRankConfig(&g->comm, (int)g->size, key, (int)g->rank, &options);
        const int result = outcome(g, begun, patience);
        if (result != CUDA_NCCL_SUCCESS) status = explain(g->nccl, result, patience, error);
        if (result != CUDA_NCCL_SUCCESS && g->comm) g->nccl->CommAbort(g->comm), g->comm = NULL;
    }
    if (status != TAPER_OK) cuda_group_leave(device);
    return status;
}

void cuda_group_leave(train_device *device) {
    cuda_group *g = cuda_group_of(device);
    if (g->comm) {
        const int result = outcome(g, g->nccl->CommFinalize(g->comm), LEAVING);
        if (result == CUDA_NCCL_SUCCESS)
            g->nccl->CommDestroy(g->comm);
        else
            g->nccl->CommAbort(g->comm);
    }
    g->comm = NULL, g->is_pending = false;
    device->memory->release(device, g->blocks, g->bytes);
    if (g->done) cudaEventDestroy(g->done);
    *g = cuda_group{};
}

/* --- sums ------------------------------------------------------------------------------ */

/* x[n], and blocks[size][n] of all ranks but this one. */
template <typename T>
static __global__ void add_kernel(size_t n, const T *blocks, uint32_t rank, uint32_t size, T *x) {
    for (EACH(i, n)) {
        T sum = rank == 0 ? x[i] : blocks[i];
        for (uint32_t r = 1; BELOW(r, size); r++) sum += r == rank ? x[i] : blocks[r * n + i];
        x[i] = sum;
    }
}

/* Elements of a piece of n that rank r adds up: *count from the one that is returned. */
static size_t block_of(const cuda_group *g, size_t n, uint32_t r, size_t *count) {
    const size_t each = (n + g->size - 1) / g->size, from = each * r < n ? each * r : n;
    *count = n - from < each ? n - from : each;
    return from;
}

/* Bytes on the device. */
struct cuda_part {
    void *at;
    size_t bytes;
};

/* The result of a call within a group of calls. */
static int queued(int result) {
    return result == CUDA_NCCL_IN_PROGRESS ? (int)CUDA_NCCL_SUCCESS : result;
}

/* Sends to(r) to every other rank r, and receives from(r). */
template <typename To, typename From>
static taper_status trade(train_stream *s, const To &to, const From &from) {
    const cuda_group *g = cuda_group_of(s->device);
    const cuda_nccl_library *nccl = g->nccl;
    const cudaStream_t stream = cuda_on(s);
    int result = nccl->GroupStart();
    for (uint32_t r = 0; r < g->size && result == CUDA_NCCL_SUCCESS; r++) {
        const cuda_part out = to(r), in = from(r);
        if (r == g->rank) continue;
        if (out.bytes)
            result =
                queued(nccl->Send(out.at, out.bytes, CUDA_NCCL_BYTES, (int)r, g->comm, stream));
        if (in.bytes && result == CUDA_NCCL_SUCCESS)
            result = queued(nccl->Recv(in.at, in.bytes, CUDA_NCCL_BYTES, (int)r, g->comm, stream));
    }
    const int ended = nccl->GroupEnd();
    if (result == CUDA_NCCL_SUCCESS) result = outcome(g, ended, g->patience);
    return result == CUDA_NCCL_SUCCESS ? TAPER_OK : give_up_for(s->device, result);
}

template <typename T> static taper_status sum_piece(train_stream *s, T *x, size_t n) {
    const cuda_group *g = cuda_group_of(s->device);
    size_t count;
    T *own = x + block_of(g, n, g->rank, &count), *blocks = (T *)g->blocks;
    const auto of_all = [=](uint32_t r) {
        size_t others;
        T *at = x + block_of(g, n, r, &others);
        return cuda_part{at, others * sizeof *at};
    };
    TAPER_TRY(trade(s, of_all, [=](uint32_t r) {
        return cuda_part{blocks + r * count, count * sizeof *blocks};
    }));
    LAUNCH(add_kernel<T>, cuda_blocks(count, THREADS), THREADS, cuda_on(s), count, blocks, g->rank,
           g->size, own);
    TAPER_TRY(cuda_end(s, operation));
    return trade(
        s,
        [=](uint32_t) {
            return cuda_part{own, count * sizeof *own};
        },
        of_all);
}

/* After the last sum, which may be on another stream, and uses the blocks. */
template <typename T> static taper_status sum_pieces(train_stream *s, T *x, size_t n) {
    const cuda_group *g = cuda_group_of(s->device);
    const size_t most = CUDA_PIECE_BYTES / sizeof *x;
    cudaError_t e = cudaStreamWaitEvent(cuda_on(s), g->done, 0);
    if (e != cudaSuccess) return cuda_fail(s, operation, cudaGetErrorString(e));
    for (size_t i = 0; i < n; i += most)
        TAPER_TRY(sum_piece(s, x + i, n - i < most ? n - i : most));
    e = cudaEventRecord(g->done, cuda_on(s));
    return e == cudaSuccess ? TAPER_OK : cuda_fail(s, operation, cudaGetErrorString(e));
}

template <typename T> static taper_status sum(train_stream *s, T *x, size_t n) {
    cuda_group *g = cuda_group_of(s->device);
    CUDA_BEGIN(s, operation, CUDA_ARRAY(x, n));
    if (!g->comm) return cuda_fail(s, operation, "the device is in no group");
    const taper_status status = sum_pieces(s, x, n);
    if (status == TAPER_OK)
        g->is_pending = true;
    else if (g->comm)
        give_up(s->device, "a part of a sum failed");
    return status;
}

static taper_status sum_floats(train_stream *s, float *x, size_t n) { return sum(s, x, n); }
static taper_status sum_doubles(train_stream *s, double *x, size_t n) { return sum(s, x, n); }

const train_group cuda_group_table = {identify,         make_key,   join,
                                      cuda_group_leave, sum_floats, sum_doubles};
