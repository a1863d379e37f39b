// Processes of a job wait for each other within a step: what is measured of one while another
// switches its counters is that switching. So all of a machine begin with the same iteration; which
// one says the first process that is ready (ControlPage::measure_pid).
#pragma once

#include <atomic>
#include <cstdint>

namespace batchlight::inject::cupti {

class CommonStart {
 public:
  // Of the control page: the iteration after which all begin, 0: not yet.
  using Agreed = std::atomic<uint32_t>;

  // Asked once an iteration, after it ended. `is_able`: this process can begin now. `is_wanted`: it
  // would, too; of a job only the process that decides is asked. Alone: whether both hold.
  bool Begins(Agreed& agreed, uint64_t ended, bool is_able, bool is_wanted);

 private:
  uint32_t begun_ = 0;   // the last that was agreed on and followed
  uint32_t waited_ = 0;  // iterations for the one that decides
};

}  // namespace batchlight::inject::cupti
