// SIGINT, SIGTERM and SIGHUP while a probe holds files on somebody's disk: the first one asks the
// probe to end and to clean up, a second one ends it at once.
#pragma once

#include <signal.h>

#include <array>

namespace batchlight::probe {

class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption();

  // 0: none came.
  static int Signal();
  // In a forked worker: these signals end it, as they do any program.
  static void ForgetInWorker();

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_ = {};
};

}  // namespace batchlight::probe
