// A thread of the tool's own that does the same again and again while a program runs.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/status.h"

namespace batchlight::capture {

class RoundThread {
 public:
  RoundThread() = default;
  RoundThread(const RoundThread&) = delete;
  RoundThread& operator=(const RoundThread&) = delete;
  ~RoundThread();  // ends it

  // Calls `round` with `mutex` held, with pauses of `pause`; both must outlive this. Not before the
  // program is forked. Errors: there can be no more threads; `doing`: "taking CPU samples".
  Status Start(const std::string& doing, std::mutex& mutex, std::chrono::nanoseconds pause,
               std::function<void()> round);

 private:
  void Run(std::chrono::nanoseconds pause, const std::function<void()>& round);

  std::mutex* mutex_ = nullptr;  // of ending_
  bool ending_ = false;
  std::condition_variable wake_;
  std::thread thread_;
};

}  // namespace batchlight::capture
