#include "capture/cpu/round_thread.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

#include "base/contain.h"

namespace batchlight::capture {
namespace {

// What programs leave must be taken in time, on machines where every processor is busy.
constexpr int kNice = -10;

}  // namespace

RoundThread::~RoundThread() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(*mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

Status RoundThread::Start(const std::string& doing, std::mutex& mutex,
                          std::chrono::nanoseconds pause, std::function<void()> round) {
  mutex_ = &mutex;
  return Contain(doing + " (see `ulimit -u`)", [&]() -> Status {
    thread_ = std::thread([this, pause, round = std::move(round)] { Run(pause, round); });
    return {};
  });
}

void RoundThread::Run(std::chrono::nanoseconds pause, const std::function<void()>& round) {
  (void)setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kNice);
  std::unique_lock lock(*mutex_);
  while (!ending_) {
    round();
    wake_.wait_for(lock, pause);
  }
}

}  // namespace batchlight::capture
