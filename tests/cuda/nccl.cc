/* nccl.cc -- NVIDIA's NCCL between processes of the model, as train/cuda/nccl_library.h declares
 * it.
 *
 * A key names a folder. A message is a file there, which the receiver removes. What a group of
 * calls sends and receives is one piece of work on their stream: it sends, and is done when it has
 * received all.
 *
 * Communicators do not block. Joining, the end of a group and finalising are in progress until
 * CommGetAsyncError has been called twice more, and joining until all ranks have joined. Work is
 * put on its stream only then.
 *
 * The program ends on what NCCL forbids, and a GPU would answer with a hang or wrong numbers: a
 * call while another is in progress; a message outside of a group, to oneself, of no bytes, outside
 * of the device's memory, or on two streams; a message of another size than its receiver expects,
 * or that nobody has received at the end; destroying before finalising.
 *
 * The model does not show speed, connections, or which devices can reach each other. */
#include "nccl_parts.h"
#include "cuda_runtime.h"
#include "train/cuda/nccl_library.h"
#include <dirent.h>
#include <map>
#include <memory>
#include <set>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

enum { SYSTEM_ERROR = 2, INVALID_ARGUMENT = 4 };
enum { ANSWERS = 2 }; /* calls of CommGetAsyncError until something is no longer in progress */

/* --- for tests ------------------------------------------------------------------------- */

static int installed = -1, failure, async_error;
static uint64_t calls, call_to_fail;
static std::set<const void *> alive;

void cuda_model_set_nccl(cuda_model_nccl nccl) { installed = nccl; }

static int what_is_installed() {
    const char *given = getenv("TAPER_MODEL_NCCL");
    const bool missing = given && !strcmp(given, "missing");
    if (installed < 0) installed = missing ? CUDA_MODEL_NCCL_MISSING : CUDA_MODEL_NCCL_WHOLE;
    return installed;
}

void cuda_model_fail_nccl(uint64_t call, int result) {
    calls = 0, call_to_fail = call, failure = result;
}
uint64_t cuda_model_nccl_calls(void) { return calls; }
void cuda_model_nccl_error(int result) { async_error = result; }
size_t cuda_model_nccl_alive(void) { return alive.size(); }

static int begin() { return ++calls == call_to_fail ? failure : (int)CUDA_NCCL_SUCCESS; }

/* --- communicators --------------------------------------------------------------------- */

enum doing { NOTHING, JOINING, SENDING, FINALISING, FINALISED };

struct message {
    bool is_sent; /* or received */
    char *at;
    size_t bytes;
    int peer;
    uint64_t number; /* among those from one rank to another */
    cudaStream_t stream;
};

/* Outlives the communicator in the work of streams. */
struct shared {
    std::string folder;
    int rank, size;
    bool is_aborted;
    size_t unfinished; /* groups of messages */
};

struct cuda_nccl_comm {
    std::shared_ptr<shared> with;
    std::map<int, uint64_t> sent, received; /* messages, by peer */
    std::vector<message> messages;          /* of the group that has ended last */
    doing now;
    int answers;
};

static std::string here(const shared &s, int rank) {
    return s.folder + "/here-" + std::to_string(rank);
}

static std::string name_of(const shared &s, int from, int to, uint64_t number) {
    return s.folder + "/" + std::to_string(from) + "-" + std::to_string(to) + "-" +
           std::to_string(number);
}

static bool exists(const std::string &path) { return access(path.c_str(), R_OK) == 0; }

static void write_file(const std::string &path, const char *bytes, size_t n) {
    const std::string part = path + ".part";
    FILE *to = fopen(part.c_str(), "wb");
    if (!to) return; /* the folder is gone: a rank has aborted */
    fwrite(bytes, 1, n, to);
    fclose(to);
    rename(part.c_str(), path.c_str());
}

/* Files of the folder whose names contain `what`. */
static std::vector<std::string> files(const shared &s, const std::string &what) {
    std::vector<std::string> found;
    DIR *folder = opendir(s.folder.c_str());
    if (!folder) return found;
    while (const dirent *entry = readdir(folder))
        if (entry->d_name[0] != '.' && strstr(entry->d_name, what.c_str()))
            found.push_back(s.folder + "/" + entry->d_name);
    closedir(folder);
    return found;
}

static void begin_doing(cuda_nccl_comm *comm, doing what) {
    comm->now = what, comm->answers = ANSWERS;
}

static void require_idle(cuda_nccl_comm *comm) {
    cuda_model_require(alive.count(comm) != 0, "NCCL: no communicator");
    cuda_model_require(comm->now == NOTHING, "NCCL: a call while another is in progress");
}

/* --- messages -------------------------------------------------------------------------- */

static bool receive(const shared &s, const message &m) {
    const std::string path = name_of(s, m.peer, s.rank, m.number);
    struct stat is;
    if (stat(path.c_str(), &is) != 0) return false;
    cuda_model_require((size_t)is.st_size == m.bytes, "NCCL: a message of another size");
    FILE *from = fopen(path.c_str(), "rb");
    cuda_model_require(from && fread(m.at, 1, m.bytes, from) == m.bytes, "NCCL: a message is cut");
    fclose(from);
    unlink(path.c_str());
    return true;
}

/* Sends what is left to send, and receives what is there. Returns whether all is done. */
static bool go_on(shared *s, std::vector<message> *messages) {
    if (s->is_aborted || cuda_model_is_lost()) return true;
    std::vector<message> waiting;
    for (const message &m : *messages)
        if (m.is_sent)
            write_file(name_of(*s, s->rank, m.peer, m.number), m.at, m.bytes);
        else if (!receive(*s, m))
            waiting.push_back(m);
    *messages = waiting;
    if (waiting.empty()) s->unfinished--;
    return waiting.empty();
}

static void put_messages(cuda_nccl_comm *comm) {
    const auto messages = std::make_shared<std::vector<message>>(std::move(comm->messages));
    const auto with = comm->with;
    const cudaStream_t stream = messages->front().stream;
    comm->messages.clear();
    with->unfinished++;
    cuda_model_put_waiting(stream, [=] { return go_on(with.get(), messages.get()); });
}

/* Calls are collected between GroupStart and GroupEnd. */
static thread_local int depth;
static thread_local cuda_nccl_comm *collecting;

static int collect(message m, int type, cuda_nccl_comm *comm) {
    const cuda_model_guard guard;
    const int result = begin();
    require_idle(comm);
    if (result != CUDA_NCCL_SUCCESS) return result;
    if (type != CUDA_NCCL_BYTES) return INVALID_ARGUMENT;
    cuda_model_require(depth > 0, "NCCL: a message outside of a group");
    cuda_model_require(m.peer >= 0 && m.peer < comm->with->size && m.peer != comm->with->rank,
                       "NCCL: a message to no other rank");
    cuda_model_require(m.bytes && cuda_model_is_given(m.at, m.bytes), "NCCL: a message's memory");
    cuda_model_require(!collecting || collecting == comm, "NCCL: two communicators in a group");
    cuda_model_require(comm->messages.empty() || comm->messages[0].stream == m.stream,
                       "NCCL: two streams in a group");
    m.number = m.is_sent ? comm->sent[m.peer]++ : comm->received[m.peer]++;
    collecting = comm;
    comm->messages.push_back(m);
    return CUDA_NCCL_SUCCESS;
}

/* --- functions of the library ---------------------------------------------------------- */

static const char *ncclGetErrorString(int result) {
    switch (result) {
    case SYSTEM_ERROR: return "unhandled system error";
    case INVALID_ARGUMENT: return "invalid argument";
    case 6: return "remote process exited or there was a network error";
    }
    return "an error";
}

static int ncclGetUniqueId(cuda_nccl_key *key) {
    const char *base = getenv("TMPDIR");
    const int result = begin();
    if (result != CUDA_NCCL_SUCCESS) return result;
    *key = cuda_nccl_key{};
    snprintf(key->bytes, sizeof key->bytes, "%s/nccl-XXXXXX", base && *base ? base : "/tmp");
    return mkdtemp(key->bytes) ? (int)CUDA_NCCL_SUCCESS : SYSTEM_ERROR;
}

static int ncclCommInitRankConfig(cuda_nccl_comm **comm, int ranks, cuda_nccl_key key, int rank,
                                  cuda_nccl_options *options) {
    const cuda_model_guard guard;
    const int result = begin();
    *comm = nullptr;
    if (result != CUDA_NCCL_SUCCESS) return result;
    cuda_model_require(options->magic == 0xcafebeef && options->version >= 21400 &&
                           options->size >= sizeof *options && options->blocking == 0,
                       "NCCL: options that are not set, or that block");
    if (rank < 0 || rank >= ranks) return INVALID_ARGUMENT;
    auto with = std::make_shared<shared>(shared{key.bytes, rank, ranks, false, 0});
    if (!exists(with->folder)) return SYSTEM_ERROR;
    write_file(here(*with, rank), "", 0);
    *comm = new cuda_nccl_comm{with, {}, {}, {}, NOTHING, 0};
    alive.insert(*comm);
    begin_doing(*comm, JOINING);
    return CUDA_NCCL_IN_PROGRESS;
}

static bool have_joined(const shared &s) {
    for (int r = 0; r < s.size; r++)
        if (!exists(here(s, r))) return false;
    return true;
}

static int ncclCommGetAsyncError(cuda_nccl_comm *comm, int *result) {
    const cuda_model_guard guard;
    cuda_model_require(alive.count(comm) != 0, "NCCL: no communicator");
    *result = async_error;
    if (async_error || comm->now == NOTHING || comm->now == FINALISED) return CUDA_NCCL_SUCCESS;
    const bool waits = (comm->now == JOINING && !have_joined(*comm->with)) ||
                       (comm->now == FINALISING && comm->with->unfinished);
    *result = CUDA_NCCL_IN_PROGRESS;
    if (--comm->answers > 0 || waits) return CUDA_NCCL_SUCCESS;
    if (comm->now == SENDING) put_messages(comm);
    comm->now = comm->now == FINALISING ? FINALISED : NOTHING;
    *result = CUDA_NCCL_SUCCESS;
    return CUDA_NCCL_SUCCESS;
}

static int ncclCommFinalize(cuda_nccl_comm *comm) {
    const cuda_model_guard guard;
    const int result = begin();
    require_idle(comm);
    if (result != CUDA_NCCL_SUCCESS) return result;
    begin_doing(comm, FINALISING);
    return CUDA_NCCL_IN_PROGRESS;
}

static int ncclCommDestroy(cuda_nccl_comm *comm) {
    const cuda_model_guard guard;
    const shared &s = *comm->with;
    cuda_model_require(alive.count(comm) && comm->now == FINALISED, "NCCL: not finalised");
    cuda_model_require(files(s, "-" + std::to_string(s.rank) + "-").empty(),
                       "NCCL: a message that nobody has received");
    unlink(here(s, s.rank).c_str());
    rmdir(s.folder.c_str()); /* the last rank succeeds */
    alive.erase(comm);
    delete comm;
    return CUDA_NCCL_SUCCESS;
}

static int ncclCommAbort(cuda_nccl_comm *comm) {
    const cuda_model_guard guard;
    cuda_model_require(alive.count(comm) != 0, "NCCL: no communicator");
    comm->with->is_aborted = true;
    for (const std::string &file : files(*comm->with, "")) unlink(file.c_str());
    rmdir(comm->with->folder.c_str());
    if (collecting == comm) collecting = nullptr;
    alive.erase(comm);
    delete comm;
    return CUDA_NCCL_SUCCESS;
}

static int ncclGroupStart(void) {
    const cuda_model_guard guard;
    const int result = begin();
    depth++; /* also if it fails: GroupEnd is called in any case */
    return result;
}

static int ncclGroupEnd(void) {
    const cuda_model_guard guard;
    const int result = begin();
    cuda_nccl_comm *comm = collecting;
    cuda_model_require(depth == 1, "NCCL: GroupEnd without GroupStart, or groups in groups");
    depth = 0, collecting = nullptr;
    if (result != CUDA_NCCL_SUCCESS && comm) comm->messages.clear();
    if (result != CUDA_NCCL_SUCCESS || !comm) return result;
    begin_doing(comm, SENDING);
    return CUDA_NCCL_IN_PROGRESS;
}

static int ncclSend(const void *from, size_t count, int type, int peer, cuda_nccl_comm *comm,
                    cudaStream_t stream) {
    return collect(message{true, (char *)from, count, peer, 0, stream}, type, comm);
}

static int ncclRecv(void *to, size_t count, int type, int peer, cuda_nccl_comm *comm,
                    cudaStream_t stream) {
    return collect(message{false, (char *)to, count, peer, 0, stream}, type, comm);
}

/* --- the library ----------------------------------------------------------------------- */

void *cuda_model_nccl_open(const char *name) {
    const bool is_it =
        what_is_installed() != CUDA_MODEL_NCCL_MISSING && !strcmp(name, NCCL_FILENAME);
    return is_it ? &alive : nullptr;
}

void *cuda_model_nccl_find(const char *name) {
#define NCCL_FUNCTION(name, result, arguments) {"nccl" #name, (void *)nccl##name},
    static const std::map<std::string, void *> functions = {NCCL_FUNCTIONS(NCCL_FUNCTION)};
#undef NCCL_FUNCTION
    const bool is_old = what_is_installed() == CUDA_MODEL_NCCL_OLD;
    const auto found = functions.find(name);
    if (found == functions.end() || (is_old && found->first == "ncclCommInitRankConfig"))
        return nullptr;
    return found->second;
}
