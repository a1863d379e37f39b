#include "probe/workers.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <memory>
#include <new>
#include <vector>

#include "probe/interruption.h"

namespace batchlight::probe {
namespace {

// The turns of all workers in shared memory.
class Turns {
 public:
  explicit Turns(int workers) : count_(static_cast<size_t>(workers)) {
    void* const mapped = mmap(nullptr, count_ * sizeof(Turn), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return;
    turns_ = static_cast<Turn*>(mapped);
    for (size_t i = 0; i < count_; ++i) new (turns_ + i) Turn();
  }
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;
  ~Turns() {
    if (turns_ != nullptr) munmap(turns_, count_ * sizeof(Turn));
  }

  bool ok() const { return turns_ != nullptr; }
  Turn* begin() const { return turns_; }
  Turn* end() const { return turns_ + count_; }

 private:
  size_t count_;
  Turn* turns_ = nullptr;
};

struct Pipe {
  int read = -1;
  int write = -1;
  bool Open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read = ends[0];
    write = ends[1];
    return true;
  }
  void CloseRead() { Close(read); }
  void CloseWrite() { Close(write); }
  ~Pipe() {
    CloseRead();
    CloseWrite();
  }

 private:
  static void Close(int& fd) {
    if (fd >= 0) close(fd);
    fd = -1;
  }
};

// Worker processes with what they wait for: each says on `ready` that it is prepared, and begins
// when `go` is closed.
class Workers {
 public:
  Workers(const std::string& what, const WorkersSpec& spec)
      : what_(what), spec_(spec), turns_(spec.workers) {}
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers() {
    for (const pid_t pid : pids_) kill(pid, SIGKILL);
    for (const pid_t pid : pids_) waitpid(pid, nullptr, 0);
  }

  Status Run() {
    if (!turns_.ok() || !ready_.Open() || !go_.Open()) return Failed("no memory", errno);
    for (Turn* turn = turns_.begin(); turn != turns_.end(); ++turn) {
      turn->worker = static_cast<int>(turn - turns_.begin());
      turn->workers = spec_.workers;
      const pid_t pid = fork();
      if (pid < 0) return Failed("cannot start a worker", errno);
      if (pid == 0) Work(*turn);
      pids_.push_back(pid);
    }
    ready_.CloseWrite();
    go_.CloseRead();
    RETURN_IF_ERROR(WaitUntilReady());
    if (cannot_begin_ != 0) return {};
    const int64_t stop_ns = NowNs() + static_cast<int64_t>(spec_.seconds * 1e9);
    for (Turn& turn : turns_) turn.stop_ns = stop_ns;
    go_.CloseWrite();
    return WaitUntilDone();
  }

  WorkersResult Sum() const {
    WorkersResult result;
    result.error = cannot_begin_;
    if (cannot_begin_ != 0) return result;
    for (const Turn& turn : turns_) {
      result.operations += turn.operations;
      result.bytes += turn.bytes;
      result.latencies.AddAll(turn.latencies);
      if (result.error == 0) result.error = turn.error;
      // Of the slowest worker, from its own begin, as fio counts: a busy machine starts them apart.
      result.elapsed_ns = std::max(result.elapsed_ns, turn.end_ns - turn.begin_ns);
    }
    return result;
  }

 private:
  [[noreturn]] void Work(Turn& turn) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody would tell it to stop
    Interruption::ForgetInWorker();
    signal(SIGXFSZ, SIG_IGN);  // `ulimit -f`: the write fails instead
    go_.CloseWrite();
    turn.error = spec_.prepare ? spec_.prepare(turn) : 0;
    const char word = turn.error == 0 ? 'r' : 'e';
    char none = 0;
    if (write(ready_.write, &word, 1) == 1 && turn.error == 0 &&
        TEMP_FAILURE_RETRY(read(go_.read, &none, 1)) == 0) {
      turn.begin_ns = turn.end_ns = NowNs();
      turn.error = spec_.run(turn);
      turn.end_ns = NowNs();
    }
    _exit(0);
  }

  Status Failed(const std::string& why, int error) const {
    return InputError(what_ + ": " + why + ": " + std::strerror(error));
  }
  static Status Interrupted() {
    return InputError(std::string("interrupted by ") + strsignal(Interruption::Signal()));
  }

  // Waits for `fd` or the end of all writers. False: the time is over.
  static bool WaitFor(int fd, int64_t until_ns) {
    while (Interruption::Signal() == 0) {
      const int64_t left_ms = (until_ns - NowNs()) / 1'000'000;
      if (left_ms <= 0) return false;
      pollfd waited = {fd, POLLIN, 0};
      // A signal that came just before poll() is seen within the second.
      if (poll(&waited, 1, static_cast<int>(std::min<int64_t>(left_ms, 1000))) > 0) return true;
    }
    return false;
  }

  Status Hung(const char* doing) const {
    if (Interruption::Signal() != 0) return Interrupted();
    return InputError(what_ + ": a worker hangs while it " + doing +
                      "; is the storage reachable? What it left is removed by the next probe of "
                      "this path, or by `batchlight clean`");
  }

  Status WaitUntilReady() {
    const int64_t until_ns =
        NowNs() + static_cast<int64_t>((spec_.seconds + spec_.grace_seconds) * 1e9);
    for (int ready = 0; ready < spec_.workers; ++ready) {
      char word = 0;
      if (!WaitFor(ready_.read, until_ns)) return Hung("opens its files");
      if (TEMP_FAILURE_RETRY(read(ready_.read, &word, 1)) != 1) return Died();
      if (word == 'e') {
        for (const Turn& turn : turns_) cannot_begin_ = std::max(cannot_begin_, turn.error);
        return {};
      }
    }
    return {};
  }

  // Their ends of `ready` are closed when they have ended, however they did.
  Status WaitUntilDone() {
    const int64_t until_ns =
        NowNs() + static_cast<int64_t>((spec_.seconds + spec_.grace_seconds) * 1e9);
    if (!WaitFor(ready_.read, until_ns)) return Hung("reads or writes");
    return Died();
  }

  // Reaps all; an error if a signal ended one.
  Status Died() {
    Status status;
    for (const pid_t pid : pids_) {
      int wait_status = 0;
      if (waitpid(pid, &wait_status, 0) == pid && WIFSIGNALED(wait_status) && status.ok()) {
        status = Interruption::Signal() != 0
                     ? Interrupted()
                     : InputError(what_ + ": a worker was ended by a signal: " +
                                  strsignal(WTERMSIG(wait_status)));
      }
    }
    pids_.clear();
    return status;
  }

  const std::string& what_;
  const WorkersSpec& spec_;
  Turns turns_;
  Pipe ready_;
  Pipe go_;
  std::vector<pid_t> pids_;
  int cannot_begin_ = 0;  // errno
};

}  // namespace

int64_t NowNs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

Result<WorkersResult> RunWorkers(const std::string& what, const WorkersSpec& spec) {
  if (Interruption::Signal() != 0) {
    return InputError(std::string("interrupted by ") + strsignal(Interruption::Signal()));
  }
  const auto workers = std::make_unique<Workers>(what, spec);
  RETURN_IF_ERROR(workers->Run());
  return workers->Sum();
}

}  // namespace batchlight::probe
