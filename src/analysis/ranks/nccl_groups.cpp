#include "analysis/ranks/nccl_groups.h"

#include <algorithm>
#include <set>

namespace batchlight {
namespace {

// A stage of a pipeline talks to the one before and the one behind it.
constexpr size_t kMostOfPipelines = 2;

bool IsSend(const NcclCall& call) { return call.operation == "Send"; }
bool IsReceive(const NcclCall& call) { return call.operation == "Recv"; }

}  // namespace

void NcclGroups::Begin(ThreadId thread) {
  if (depth_ == 0 || thread != thread_) {  // the end of what the other thread began is missing
    depth_ = 0;
    peers_.clear();
  }
  thread_ = thread;
  ++depth_;
}

void NcclGroups::Add(ThreadId thread, int64_t peer) {
  if (depth_ > 0 && thread == thread_) peers_.push_back(peer);
}

void NcclGroups::End(ThreadId thread, uint32_t range) {
  if (depth_ == 0 || thread != thread_ || --depth_ > 0 || peers_.empty()) return;
  if (IsAllToAll()) Fold(range);
  const auto last = static_cast<uint32_t>(calls_.calls.size() - 1);
  calls_.calls[last].launch = range;
  calls_.call_of_range[range] = last;
  peers_.clear();
}

bool NcclGroups::IsAllToAll() const {
  const size_t first = calls_.calls.size() - peers_.size();
  const NcclCall& one = calls_.calls[first];
  const auto communicator = calls_.communicators.find(one.communicator);
  int64_t own = -1;
  if (communicator != calls_.communicators.end()) {
    const auto rank = communicator->second.rank_of.find(one.process);
    if (rank != communicator->second.rank_of.end()) own = rank->second;
  }
  std::set<int64_t> others;
  bool sends = false, receives = false, to_itself = false;
  for (size_t i = 0; i < peers_.size(); ++i) {
    const NcclCall& call = calls_.calls[first + i];
    if ((!IsSend(call) && !IsReceive(call)) || call.communicator != one.communicator) return false;
    sends = sends || IsSend(call);
    receives = receives || IsReceive(call);
    if (peers_[i] < 0) continue;
    if (peers_[i] == own) {
      to_itself = true;
    } else {
      others.insert(peers_[i]);
    }
  }
  return sends && receives && !others.empty() && (to_itself || others.size() > kMostOfPipelines);
}

// What each rank sends differs from call to call, so that the size of a message says nothing.
void NcclGroups::Fold(uint32_t range) {
  const size_t first = calls_.calls.size() - peers_.size();
  NcclCall all = calls_.calls[first];
  all.operation = "AlltoAll";
  all.bytes = 0;
  all.range = range;
  all.sent_bytes = all.received_bytes = 0;
  for (size_t i = first; i < calls_.calls.size(); ++i) {
    const NcclCall& call = calls_.calls[i];
    (IsSend(call) ? all.sent_bytes : all.received_bytes) += call.bytes;
    calls_.call_of_range[call.range] = static_cast<uint32_t>(first);
  }
  calls_.calls.resize(first);
  calls_.calls.push_back(all);
}

}  // namespace batchlight
