#include "analysis/ranks/rank_calls.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "analysis/numbers/time_span.h"
#include "analysis/ranks/nccl_kernels.h"
#include "analysis/ranks/same_calls.h"

namespace batchlight {
namespace {

constexpr size_t kMostKinds = UINT16_MAX;

uint32_t TicksOf(int64_t ns) {
  const int64_t ticks = (ns + kCallTickNs / 2) / kCallTickNs;
  return static_cast<uint32_t>(std::clamp<int64_t>(ticks, 0, UINT32_MAX));
}

// The stretch of a call's kernels, and when the rank made it.
struct MadeCall {
  uint32_t call = 0;  // row of NcclCalls::calls
  int64_t made_ns = 0;
  int64_t end_ns = 0;
  int64_t kernel_ns = 0;
  int64_t exposed_ns = 0;
};

class Collector {
 public:
  Collector(const Store& store, const NcclCalls& nccl, const StepSet& steps)
      : store_(store), nccl_(nccl), steps_(steps) {}

  std::vector<RankCalls> Run() {
    std::vector<RankCalls> found(store_.processes.size());
    if (nccl_.calls.empty()) return found;
    for (uint32_t i = 0; i < nccl_.calls.size(); ++i) {
      made_.push_back({.call = i, .made_ns = store_.nvtx_ranges.start_ns[nccl_.calls[i].range]});
    }
    AddKernels();
    const std::vector<std::vector<uint32_t>> order = CallsInOrder(store_, nccl_);
    for (size_t process = 0; process < found.size(); ++process) {
      std::vector<MadeCall> calls;
      for (const uint32_t call : order[process]) calls.push_back(made_[call]);
      if (!calls.empty()) Fill(ProcessId::At(process), calls, found[process]);
    }
    return found;
  }

 private:
  void AddKernels() {
    const KernelsTable& kernels = store_.kernels;
    const std::vector<NcclKernel> communicating = FindNcclKernels(store_, nccl_);
    std::map<std::pair<ProcessId, uint32_t>, std::vector<TimeSpan>> computing;  // of a device
    auto next = communicating.begin();
    for (uint32_t row = 0; row < kernels.size(); ++row) {
      if (next != communicating.end() && next->kernel == row) {
        ++next;
        continue;
      }
      if (kernels.end_ns[row] == kOpenEnd) continue;
      AddSpan(computing[{kernels.process[row], kernels.device[row]}], kernels.start_ns[row],
              kernels.end_ns[row]);
    }
    for (const NcclKernel& one : communicating) {
      const uint32_t row = one.kernel;
      if (one.call == NcclCalls::kNone || kernels.end_ns[row] == kOpenEnd) continue;
      const int64_t length_ns = kernels.end_ns[row] - kernels.start_ns[row];
      const std::vector<TimeSpan>& spans = computing[{kernels.process[row], kernels.device[row]}];
      MadeCall& made = made_[one.call];
      made.kernel_ns += length_ns;
      made.exposed_ns += length_ns - NsInside(spans, kernels.start_ns[row], kernels.end_ns[row]);
      made.end_ns = std::max(made.end_ns, kernels.end_ns[row]);
    }
  }

  CallKind KindOf(const NcclCall& call) const {
    const auto communicator = nccl_.communicators.find(call.communicator);
    const bool known = communicator != nccl_.communicators.end();
    return {.communicator = call.communicator,
            .ranks = known ? communicator->second.ranks : 0,
            .operation = std::string(call.operation),
            .bytes = call.bytes};
  }

  void Fill(ProcessId process, const std::vector<MadeCall>& calls, RankCalls& out) const {
    std::map<std::tuple<uint64_t, std::string_view, uint64_t>, size_t> rows;
    std::vector<int64_t> made_ns;
    for (const MadeCall& made : calls) {
      const NcclCall& call = nccl_.calls[made.call];
      const auto [row, is_new] =
          rows.try_emplace({call.communicator, call.operation, call.bytes}, out.kinds.size());
      if (row->second >= kMostKinds) continue;  // sizes that never repeat tell nothing
      if (is_new) out.kinds.push_back(KindOf(call));
      out.kind.push_back(static_cast<uint16_t>(row->second));
      out.ends.Append(made.end_ns);
      out.kernel.push_back(TicksOf(made.kernel_ns));
      out.exposed.push_back(TicksOf(made.exposed_ns));
      out.sent.push_back(call.sent_bytes);
      out.received.push_back(call.received_bytes);
      made_ns.push_back(made.made_ns);
    }
    const auto is_none = [](uint64_t bytes) { return bytes == 0; };
    if (std::all_of(out.sent.begin(), out.sent.end(), is_none) &&
        std::all_of(out.received.begin(), out.received.end(), is_none)) {
      out.sent = out.received = {};
    }
    const ProcessSteps* steps = steps_.Of(process);
    if (steps == nullptr) return;
    const auto first_at = [&](int64_t time_ns) {
      const auto first = std::lower_bound(made_ns.begin(), made_ns.end(), time_ns);
      out.step_begin.push_back(static_cast<uint32_t>(first - made_ns.begin()));
    };
    for (const Step& step : steps->steps) first_at(step.start_ns);
    first_at(steps->steps.back().end_ns);
  }

  const Store& store_;
  const NcclCalls& nccl_;
  const StepSet& steps_;
  std::vector<MadeCall> made_;
};

}  // namespace

size_t RankCalls::StepOf(size_t call) const {
  if (step_begin.empty() || call < step_begin.front() || call >= step_begin.back()) {
    return SIZE_MAX;
  }
  const auto after = std::upper_bound(step_begin.begin(), step_begin.end(), call);
  return static_cast<size_t>(after - step_begin.begin()) - 1;
}

std::vector<RankCalls> CollectRankCalls(const Store& store, const NcclCalls& nccl,
                                        const StepSet& steps) {
  return Collector(store, nccl, steps).Run();
}

}  // namespace batchlight
