// What a rank's process wrote of its last collectives: PyTorch's flight recorder, which dumps into
// nccl_trace_rank_N when one of them runs into its time limit (TORCH_NCCL_DUMP_ON_TIMEOUT), as
// pickle or JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace batchlight {

enum class FlightState : uint8_t { kScheduled, kStarted, kCompleted };

struct FlightCall {
  uint32_t group = 0;        // row of FlightDump::groups
  uint64_t number = 0;       // on the group: every rank of it makes the call of this number
  bool between_two = false;  // sent to, or received from, another rank
  std::string operation;     // "all_reduce"
  uint64_t elements = 0;     // of its inputs
  std::string type;          // "Float"
  FlightState state = FlightState::kScheduled;
  int64_t created_ns = 0;
  std::string place;  // "train.py:23 (main)"; "": no stack was kept
};

struct FlightGroup {
  std::string name;
  std::string description;
  std::vector<int32_t> ranks;  // of the job; empty: not said
};

struct FlightDump {
  std::string label;  // of its file
  int32_t rank = -1;
  std::vector<FlightGroup> groups;
  std::vector<FlightCall> calls;  // in order; those that came long before may be missing
};

// By its first bytes; enough of them are those that a key of JSON takes.
bool IsFlightDump(std::string_view head);

// The rank at the end of a file's name: 3 of "nccl_trace_rank_3" and "rank3.json". -1: none.
int32_t RankInName(std::string_view name);

// A call of 50 frames takes some 100 in pickle, where frames are shared, and 230 in JSON.
constexpr size_t kMostFlightValues = 4'000'000;

// Errors (kInput): damaged, not what such a dump has, or too large. Takes some 40 bytes a value at
// most, and what the dump holds.
Result<FlightDump> ReadFlightDump(std::string_view bytes, size_t most_values = kMostFlightValues);

}  // namespace batchlight
