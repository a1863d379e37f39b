#include "analysis/ranks/rank_calls.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "analysis/cuda/kernel_class.h"
#include "analysis/numbers/time_span.h"

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
      : store_(store), nccl_(nccl), steps_(steps), is_nccl_(store.strings.size()) {}

  std::vector<RankCalls> Run() {
    std::vector<RankCalls> found(store_.processes.size());
    if (nccl_.calls.empty()) return found;
    OrderCalls();
    AddKernels();
    std::map<ProcessId, std::vector<MadeCall>> by_process;
    for (const MadeCall& made : made_) by_process[nccl_.calls[made.call].process].push_back(made);
    for (auto& [process, calls] : by_process) {
      if (process.IsNone()) continue;
      std::stable_sort(calls.begin(), calls.end(),
                       [](const MadeCall& a, const MadeCall& b) { return a.made_ns < b.made_ns; });
      Fill(process, calls, found[process.row()]);
    }
    return found;
  }

 private:
  void OrderCalls() {
    made_.resize(nccl_.calls.size());
    for (uint32_t i = 0; i < made_.size(); ++i) {
      const NcclCall& call = nccl_.calls[i];
      made_[i] = {.call = i, .made_ns = store_.nvtx_ranges.start_ns[call.range]};
      of_thread_[store_.nvtx_ranges.thread[call.range]].push_back(i);
    }
    // Rows of nvtx_ranges are in order of thread and start, so these are in order of start.
  }

  // The call around a moment of a thread; kNone: none.
  uint32_t CallAt(ThreadId thread, int64_t time_ns) const {
    const auto calls = of_thread_.find(thread);
    if (calls == of_thread_.end()) return NcclCalls::kNone;
    const auto after =
        std::upper_bound(calls->second.begin(), calls->second.end(), time_ns,
                         [&](int64_t time, uint32_t call) { return time < made_[call].made_ns; });
    if (after == calls->second.begin()) return NcclCalls::kNone;
    const uint32_t call = *std::prev(after);
    const int64_t end_ns = store_.nvtx_ranges.end_ns[nccl_.calls[call].range];
    return time_ns <= end_ns ? call : NcclCalls::kNone;
  }

  void AddKernels() {
    const KernelsTable& kernels = store_.kernels;
    for (size_t row = 0; row < is_nccl_.size(); ++row) {
      is_nccl_[row] = IsNcclKernel(store_.Text(StringId::At(row)));
    }
    std::map<std::pair<ProcessId, uint32_t>, std::vector<TimeSpan>> computing;  // of a device
    for (size_t row = 0; row < kernels.size(); ++row) {
      if (IsNccl(row) || kernels.end_ns[row] == kOpenEnd) continue;
      AddSpan(computing[{kernels.process[row], kernels.device[row]}], kernels.start_ns[row],
              kernels.end_ns[row]);
    }
    for (size_t row = 0; row < kernels.size(); ++row) {
      const ApiCallId launch = kernels.api_call[row];
      if (!IsNccl(row) || launch.IsNone() || kernels.end_ns[row] == kOpenEnd) continue;
      const uint32_t call =
          CallAt(store_.api_calls.thread[launch.row()], store_.api_calls.start_ns[launch.row()]);
      if (call == NcclCalls::kNone) continue;
      const int64_t length_ns = kernels.end_ns[row] - kernels.start_ns[row];
      const std::vector<TimeSpan>& spans = computing[{kernels.process[row], kernels.device[row]}];
      MadeCall& made = made_[call];
      made.kernel_ns += length_ns;
      made.exposed_ns += length_ns - NsInside(spans, kernels.start_ns[row], kernels.end_ns[row]);
      made.end_ns = std::max(made.end_ns, kernels.end_ns[row]);
    }
  }

  bool IsNccl(size_t kernel) const {
    const StringId name = store_.kernels.short_name[kernel];
    return !name.IsNone() && is_nccl_[name.row()];
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
      made_ns.push_back(made.made_ns);
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
  std::vector<bool> is_nccl_;  // by string
  std::vector<MadeCall> made_;
  std::map<ThreadId, std::vector<uint32_t>> of_thread_;
};

}  // namespace

size_t RankCalls::StepOf(size_t call, size_t guess) const {
  const bool known = guess < step_begin.size() && guess + 1 < step_begin.size();
  if (known && step_begin[guess] <= call && call < step_begin[guess + 1]) return guess;
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
