#include "base/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace batchlight {
namespace {

thread_local bool inside_parallel_for = false;

}  // namespace

size_t ProcessorCount() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    return std::max(1, CPU_COUNT(&set));
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

void ParallelFor(size_t count, const std::function<void(size_t)>& body) {
  const size_t workers = inside_parallel_for ? 1 : std::min(count, ProcessorCount());
  if (workers <= 1) {
    for (size_t i = 0; i < count; ++i) body(i);
    return;
  }
  std::atomic<size_t> next{0};
  auto run = [&] {
    inside_parallel_for = true;
    for (size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) body(i);
    inside_parallel_for = false;
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < workers; ++i) threads.emplace_back(run);
  run();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace batchlight
