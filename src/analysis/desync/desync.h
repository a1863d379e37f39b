// Why a job hangs, from what its ranks kept of their last collectives: which call one rank made and
// others did not, or made otherwise. All ranks of a group make the same calls in the same order, so
// that calls meet by their number on the group.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/desync/flight_dump.h"

namespace batchlight {

enum class DesyncKind : uint8_t {
  kDiffers,     // ranks made another operation, or with another size or type
  kMissing,     // some have not come
  kUnfinished,  // all have come, and it does not end
};

// Of one group the first call that went wrong.
struct Desync {
  DesyncKind kind = DesyncKind::kMissing;
  std::string group;             // name and description
  size_t group_ranks = 0;        // as many as are known
  uint64_t number = 0;           // of the call on the group
  std::string call;              // "all_reduce of 1,048,576 Float": of most ranks
  std::string place;             // where one of these made it; "": not known
  int64_t since_ns = 0;          // when the first of them made it
  std::vector<int32_t> waiting;  // ranks that made it, and it has not ended
  std::vector<int32_t> others;   // not come; or made another; or have not begun on the GPU
  std::string other_call;        // kDiffers: what the first of these made
};

// The last call of a rank, of whichever group.
struct LastCall {
  int32_t rank = -1;
  std::string label;  // of the file
  std::string group;
  uint64_t number = 0;
  std::string call;  // "": none was kept
  FlightState state = FlightState::kScheduled;
  std::string place;
};

struct DesyncResult {
  std::vector<std::string> notes;  // what is missing or doubtful, without a full stop
  std::vector<Desync> found;       // those that differ first, then by time
  // Ranks that others wait for and that wait for nobody: where to look first.
  std::vector<int32_t> suspects;
  std::vector<LastCall> ranks;  // by rank
  // Whether a call is known to run: PyTorch says so with TORCH_NCCL_ENABLE_TIMING=1 only.
  bool knows_starts = false;
};

// Keeps 24 bytes a call of the dumps that it is shown, so that those of ten thousand ranks fit.
class DesyncFinder {
 public:
  DesyncFinder();
  ~DesyncFinder();
  void Add(const FlightDump& dump);
  DesyncResult Finish();  // once

 private:
  class Finder;
  std::unique_ptr<Finder> finder_;
};

DesyncResult FindDesync(std::span<const FlightDump> dumps);

// "not begun", "running", "done"; "not done" where starts are not known.
std::string_view FlightStateName(FlightState state, bool knows_starts);

}  // namespace batchlight
