// NCCL's calls, read from its own NVTX ranges and their payloads: which communicator, how many
// bytes, on how many ranks. Payload fields are found by name in the schemas that NCCL registers; if
// one is missing, its value is unknown. Traces of torch.profiler have PyTorch's ranges in place of
// NCCL's ("nccl:all_reduce"), with a payload of the same names that says more (ingest/kineto).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace batchlight {

// A call that moves data, on one rank.
struct NcclCall {
  uint32_t range = 0;  // row of nvtx_ranges
  ProcessId process;
  uint64_t communicator = 0;   // NCCL's id, the same on all of its ranks; 0 unknown
  std::string_view operation;  // "AllReduce"
  uint64_t bytes = 0;          // of one rank's message, 0 unknown
  uint32_t launch = 0;         // row of nvtx_ranges in which its kernel is launched
  // Of an AlltoAll whose parts differ: what the rank gives to all and gets from them.
  uint64_t sent_bytes = 0;
  uint64_t received_bytes = 0;
  // As PyTorch says it; "" and nothing where it is not known.
  std::string_view pytorch_name;  // "_allgather_base"
  std::string_view pytorch_type;  // "BFloat16"
  std::optional<uint64_t> in_elements;
  std::optional<uint64_t> out_elements;
};

struct NcclCommunicator {
  uint32_t ranks = 0;                    // its size as NCCL says, 0 unknown
  std::map<ProcessId, int64_t> rank_of;  // processes that were recorded; -1: their rank is unknown
  std::string_view pytorch_name;         // of the process group; "" unknown
  std::string_view pytorch_ranks;        // "[0, 1]"; "" unknown

  uint32_t size() const { return ranks > 0 ? ranks : static_cast<uint32_t>(rank_of.size()); }
};

struct NcclCalls {
  static constexpr uint32_t kNone = UINT32_MAX;

  std::vector<NcclCall> calls;          // by row of nvtx_ranges
  std::vector<uint32_t> call_of_range;  // by row of nvtx_ranges: row of `calls`, or kNone
  std::map<uint64_t, NcclCommunicator> communicators;  // by NCCL's id
};

NcclCalls FindNcclCalls(const Store& store);

}  // namespace batchlight
