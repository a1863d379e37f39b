#include "base/process_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <stdexcept>
#include <thread>

namespace batchlight {
namespace {

// Uses so much of the stack.
[[gnu::noinline]] int Deep(int levels) {
  volatile char room[64 << 10];
  room[0] = static_cast<char>(levels);
  return levels == 0 ? 0 : Deep(levels - 1) + room[0] - room[0] + 1;
}

int UseMuch(void* of) {
  const int levels = *static_cast<int*>(of);
  int in_thread = 0;
  std::thread([&] { in_thread = Deep(levels); }).join();
  try {  // unwinding works there
    throw std::runtime_error("x");
  } catch (const std::runtime_error&) {
  }
  return Deep(levels) + in_thread;
}

// As a process of its own, since the limit is one of processes.
void UnderLimit(rlim_t bytes) {
  rlimit limit{};
  getrlimit(RLIMIT_STACK, &limit);
  limit.rlim_cur = bytes;
  setrlimit(RLIMIT_STACK, &limit);
  int levels = 100;
  const int result = RunWithEnoughStack(UseMuch, &levels);
  rlimit after{};
  getrlimit(RLIMIT_STACK, &after);
  _exit(result == 200 && after.rlim_cur == bytes ? 0 : 1);
}

TEST(EnoughStack, IsThereWhateverTheLimitIs) {
  for (const rlim_t bytes : {rlim_t{64 << 10}, rlim_t{1 << 20}}) {
    EXPECT_EXIT(UnderLimit(bytes), testing::ExitedWithCode(0), "") << bytes;
  }
}

}  // namespace
}  // namespace batchlight
