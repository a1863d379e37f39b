// Which calls of NCCL, made by one rank each, are one and the same; in which order a rank made
// them, and what their communicators are called.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/ranks/nccl_calls.h"
#include "store/store.h"

namespace batchlight {

// Rows of NcclCalls::calls, one of each rank that took part, by rank. Only of calls that two ranks
// or more were recorded in; a Send or Recv is a call of one.
std::vector<std::vector<uint32_t>> FindSameCalls(const Store& store, const NcclCalls& nccl);

// By row of `processes`: rows of NcclCalls::calls in the order in which the process made them.
std::vector<std::vector<uint32_t>> CallsInOrder(const Store& store, const NcclCalls& nccl);

// By NCCL's id: the number that a communicator has for people, counted from 0 over those that moved
// data.
std::map<uint64_t, uint32_t> NumberCommunicators(const NcclCalls& nccl);

}  // namespace batchlight
