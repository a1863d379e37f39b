#include "base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace batchlight {
namespace {

thread_local bool inside_parallel_for = false;

// The shared side of one ParallelFor: hands out the pieces, keeps the first exception.
class Work {
 public:
  Work(size_t count, const std::function<void(size_t)>& body) : count_(count), body_(body) {}

  // One worker. An exception would end the process if it left the thread.
  void Run() {
    inside_parallel_for = true;
    try {
      for (size_t i = next_.fetch_add(1); i < count_; i = next_.fetch_add(1)) body_(i);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (failure_ == nullptr) failure_ = std::current_exception();
      next_ = count_;  // nobody begins another piece
    }
    inside_parallel_for = false;
  }

  void Rethrow() const {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

 private:
  const size_t count_;
  const std::function<void(size_t)>& body_;
  std::atomic<size_t> next_{0};
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace

void ParallelFor(size_t count, const std::function<void(size_t)>& body) {
  const size_t workers = inside_parallel_for ? 1 : std::min(count, ProcessorCount());
  if (workers <= 1) {
    for (size_t i = 0; i < count; ++i) body(i);
    return;
  }
  Work work(count, body);
  std::vector<std::thread> threads;
  threads.reserve(workers);
  try {
    while (threads.size() + 1 < workers) threads.emplace_back([&work] { work.Run(); });
  } catch (const std::system_error&) {
    // No more processes for this user (ulimit -u, a full cgroup): those that are there do it all.
  }
  work.Run();
  for (std::thread& thread : threads) thread.join();
  work.Rethrow();
}

}  // namespace batchlight
