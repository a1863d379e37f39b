// One launch at a time: what is counted of one is not beside another thread's.
#pragma once

#include <atomic>
#include <cstdint>

namespace batchlight::inject::cupti {

class LaunchLock {
 public:
  // False where another thread has had it for 2 s: its launch may wait for this one's.
  bool Take();
  void Give();
  bool IsMine() const;

 private:
  std::atomic<uint32_t> holder_{0};  // a thread; a futex word
};

}  // namespace batchlight::inject::cupti
