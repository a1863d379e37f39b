// The kernel's events of a program and all that it starts (perf_event_open): one ring of each
// processor, into which all its events write.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "capture/recording/cpu_options.h"

namespace batchlight::capture {

// Bytes of a thread's stack that a sample copies.
inline constexpr uint32_t kStackBytes = 16 * 1024;

class PerfEvents {
 public:
  // For a process that has executed nothing yet. What it maps, executes and starts is told from its
  // exec on, samples and switches from then on if `collecting`. Without `kernel` no sample tells
  // anything of the kernel, even where the tool may see it. Errors (kOutput): why the kernel
  // refuses, in words for the user.
  static Result<PerfEvents> Open(pid_t pid, const CpuOptions& options, bool collecting,
                                 bool kernel);
  PerfEvents(PerfEvents&& other) noexcept = default;
  PerfEvents& operator=(PerfEvents&& other) = delete;
  ~PerfEvents();

  // Samples and switches on or off, for all threads that there are.
  void SetCollecting(bool on);
  // take(record) for each record that is there, ring by ring. Records are whole (perf_event_header
  // first), aligned to 8, and valid during the call.
  void Read(const std::function<void(std::span<const uint8_t>)>& take);

  // Records that found no room so far; 0 where the kernel does not count them. Records of the ring
  // tell it only of what was lost before them: of a program that ended meanwhile, of nothing.
  uint64_t Lost() const;

  // Whether samples of code in the kernel are there too.
  bool has_kernel() const { return has_kernel_; }
  // As DecodePerfRecord() wants it.
  uint64_t sample_type() const { return sample_type_; }
  // How long a ring takes to fill with samples if its processor is busy.
  int64_t ring_ns() const { return ring_ns_; }

 private:
  struct Ring {
    std::vector<int> fds;        // of the ring's events; the first owns it
    std::vector<int> collected;  // those that SetCollecting() turns
    uint8_t* memory = nullptr;
    uint64_t bytes = 0;  // of the data, a power of two
  };

  PerfEvents() = default;
  Status OpenProcessor(pid_t pid, int cpu, const CpuOptions& options, bool collecting);
  Status MapRing(Ring& ring);
  void ReadRing(Ring& ring, const std::function<void(std::span<const uint8_t>)>& take);

  std::vector<Ring> rings_;
  std::vector<uint8_t> scratch_;  // a record that goes over the ring's end
  bool has_kernel_ = false;       // so far: wanted, and not refused
  uint64_t sample_type_ = 0;
  int64_t ring_ns_ = 0;
  uint64_t ring_bytes_ = 0;
};

// Why nothing of a program can be sampled here; "" if it can.
std::string WhyNoSamples();

}  // namespace batchlight::capture
