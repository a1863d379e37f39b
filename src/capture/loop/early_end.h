// Until the program runs what asks the tool to end ends it. The signals are blocked by then, as
// they are the program's; but a file system that does not answer may hold the tool for ever in what
// comes before the program, where no handler of a signal would help: only an end by one does.
#pragma once

#include <signal.h>

#include <atomic>
#include <thread>

namespace batchlight::capture {

class EarlyEnd {
 public:
  // Watches from here on, if there is room for a thread. After SignalRelay::Block(), before which
  // the mask was `original_mask`: what the starter blocks or ignores ends nothing.
  explicit EarlyEnd(const sigset_t& original_mask);
  EarlyEnd(const EarlyEnd&) = delete;
  EarlyEnd& operator=(const EarlyEnd&) = delete;
  ~EarlyEnd() { Finish(); }

  // From here on signals are the program's. False: one came before, so that none is to run. What
  // was made is to be removed then, for which there are two seconds.
  bool LetProgramRun();
  // The signal that came, 0: none did. Cleaning up may take as long as it takes from here on.
  int Finish();

 private:
  enum class State { kWatching, kAsked, kOver };
  void Watch();

  std::atomic<State> state_ = State::kWatching;
  int signal_fd_ = -1;
  int finish_fd_ = -1;
  int signal_ = 0;  // of the thread, while that runs
  std::thread thread_;
};

}  // namespace batchlight::capture
