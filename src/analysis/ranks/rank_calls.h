// The calls of one rank that move data between ranks, as columns: small enough for 20,000 calls of
// each of 10,000 ranks, and enough to tell who waited for whom.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/ranks/call_times.h"
#include "analysis/ranks/nccl_calls.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

// What calls may have in common.
struct CallKind {
  uint64_t communicator = 0;  // the same number on all of its ranks
  uint32_t ranks = 0;         // of the communicator, 0 unknown
  std::string operation;      // "AllReduce"
  uint64_t bytes = 0;         // of one rank's message

  bool operator==(const CallKind&) const = default;
};

struct RankCalls {
  std::vector<CallKind> kinds;
  // By call, in the order in which the rank made them.
  std::vector<uint16_t> kind;     // row of `kinds`
  CallTimes ends;                 // of the kernels; empty: not kept
  std::vector<uint32_t> kernel;   // ticks, 0: unknown
  std::vector<uint32_t> exposed;  // of that: while nothing else was computed
  // Bytes to and from all ranks, of AlltoAlls whose parts differ, else 0. Both empty: there are
  // none.
  std::vector<uint64_t> sent;
  std::vector<uint64_t> received;
  // Calls of step i are [step_begin[i], step_begin[i + 1]); one more than there are steps, or
  // empty.
  std::vector<uint32_t> step_begin;

  size_t size() const { return kind.size(); }
  // Of a call; SIZE_MAX: in none.
  size_t StepOf(size_t call) const;
};

// By row of `processes`: calls of a process in no step have no step_begin. What lies between two
// steps counts with the first of them.
std::vector<RankCalls> CollectRankCalls(const Store& store, const NcclCalls& nccl,
                                        const StepSet& steps);

}  // namespace batchlight
