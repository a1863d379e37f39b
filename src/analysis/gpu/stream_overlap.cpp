#include "analysis/gpu/stream_overlap.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "analysis/cuda/kernel_class.h"
#include "analysis/steps/step_clock.h"

namespace batchlight {
namespace {

constexpr double kLeastShare = 0.05;       // of kernel time, for a stream to count
constexpr int64_t kRightAfterNs = 20'000;  // what lies between a kernel and one that waited for it
constexpr int64_t kLatencyNs = 5'000;      // between a launch and the first block on an idle GPU
constexpr uint32_t kUnknownSmCount = 100;  // a data center GPU has more

using StreamKey = std::pair<uint32_t, uint32_t>;  // context, stream

struct Block {
  StreamKey stream;
  int64_t start_ns;
  int64_t end_ns;
  int64_t busy_ns = 0;
  double filled_ns = 0;   // time of its kernels x share of the GPU that they fill
  uint32_t first_kernel;  // row
};

class Finder {
 public:
  Finder(const Store& store, const StepSet& steps, const GpuBreakdown& gpu)
      : store_(store), gpu_(gpu), clock_(store, steps), sm_count_(SmCount(store, gpu.device)) {}

  StreamOverlap Find() {
    CollectKernels();
    StreamOverlap found;
    ChooseStreams(found);
    if (found.streams.size() < 2) return found;
    MarkEventWaits();
    std::erase_if(rows_, [&](uint32_t row) { return !Chosen(found, StreamOf(row)); });
    AddOverlap(found);
    AddWaits(Blocks(), found);
    return found;
  }

 private:
  static uint32_t SmCount(const Store& store, uint32_t device) {
    for (size_t row = 0; row < store.gpus.size(); ++row) {
      if (store.gpus.device[row] == device && store.gpus.sm_count[row] > 0) {
        return store.gpus.sm_count[row];
      }
    }
    return kUnknownSmCount;
  }

  StreamKey StreamOf(uint32_t row) const {
    return {store_.kernels.context[row], store_.kernels.stream[row]};
  }

  void CollectKernels() {
    const KernelsTable& kernels = store_.kernels;
    std::unordered_map<StringId, bool> is_communication;
    for (size_t row = 0; row < kernels.size(); ++row) {
      if (kernels.process[row] != gpu_.process || kernels.device[row] != gpu_.device) continue;
      const ApiCallId call = kernels.api_call[row];
      if (call.IsNone() || kernels.graph_node[row] != 0) continue;
      const auto [known, added] = is_communication.try_emplace(kernels.demangled_name[row], false);
      if (added) {
        known->second = ClassifyKernel(store_.Text(kernels.demangled_name[row])).kind ==
                        KernelKind::kCommunication;
      }
      if (known->second) continue;
      if (!clock_.IsSteady(store_.api_calls.thread[call.row()],
                           store_.api_calls.start_ns[call.row()])) {
        continue;
      }
      rows_.push_back(static_cast<uint32_t>(row));
    }
  }

  void ChooseStreams(StreamOverlap& found) const {
    std::map<StreamKey, StreamUse> streams;
    int64_t total_ns = 0;
    for (const uint32_t row : rows_) {
      StreamUse& use = streams[StreamOf(row)];
      const int64_t duration = store_.kernels.end_ns[row] - store_.kernels.start_ns[row];
      ++use.kernels;
      use.busy_ns += duration;
      total_ns += duration;
    }
    for (auto& [key, use] : streams) {
      if (double(use.busy_ns) < kLeastShare * double(total_ns)) continue;
      use.context = key.first;
      use.stream = key.second;
      use.is_default = IsDefault(key);
      found.streams.push_back(use);
    }
    std::stable_sort(found.streams.begin(), found.streams.end(),
                     [](const auto& a, const auto& b) { return a.busy_ns > b.busy_ns; });
  }

  static bool Chosen(const StreamOverlap& found, const StreamKey& key) {
    return std::any_of(found.streams.begin(), found.streams.end(), [&](const StreamUse& use) {
      return StreamKey(use.context, use.stream) == key;
    });
  }

  bool IsDefault(const StreamKey& key) const {
    const GpuContextsTable& contexts = store_.gpu_contexts;
    for (size_t row = 0; row < contexts.size(); ++row) {
      if (contexts.process[row] == gpu_.process && contexts.context[row] == key.first) {
        return contexts.null_stream[row] == key.second;
      }
    }
    return false;
  }

  // Created without cudaStreamNonBlocking; false for streams of which that is unknown.
  bool ObeysDefault(const StreamKey& key) const {
    const GpuStreamsTable& streams = store_.gpu_streams;
    for (size_t row = 0; row < streams.size(); ++row) {
      if (streams.process[row] == gpu_.process && streams.context[row] == key.first &&
          streams.stream[row] == key.second) {
        return streams.flag[row] == StreamFlag::kDefault;
      }
    }
    return false;
  }

  // Calls that launched a kernel after their thread had asked a stream to wait for an event.
  void MarkEventWaits() {
    const ApiCallsTable& calls = store_.api_calls;
    std::vector<bool> launches(calls.size());
    for (const uint32_t row : rows_) launches[store_.kernels.api_call[row].row()] = true;
    after_wait_.assign(calls.size(), false);
    std::unordered_map<StringId, bool> is_wait;
    ThreadId thread;
    bool waits = false;
    for (size_t row = 0; row < calls.size(); ++row) {
      if (calls.thread[row] != thread) waits = false;
      thread = calls.thread[row];
      const auto [known, added] = is_wait.try_emplace(calls.name[row], false);
      if (added)
        known->second =
            store_.Text(calls.name[row]).find("StreamWaitEvent") != std::string_view::npos;
      if (known->second) waits = true;
      if (!launches[row]) continue;
      after_wait_[row] = waits;
      waits = false;
    }
  }

  // Share of the GPU's SMs that have a block of the kernel, 0 to 1; 1 where it is not known.
  double FilledShare(uint32_t row) const {
    const size_t launch = store_.kernels.launch[row].row();
    if (launch >= store_.kernel_launches.size()) return 1;
    const KernelLaunchesTable& launches = store_.kernel_launches;
    const double blocks = double(launches.grid_x[launch]) * double(launches.grid_y[launch]) *
                          double(launches.grid_z[launch]);
    return blocks < 1 ? 1 : std::min(1.0, blocks / sm_count_);
  }

  void AddOverlap(StreamOverlap& found) const {
    std::map<StreamKey, int64_t> ends;  // of the kernels so far
    for (const uint32_t row : rows_) {
      const int64_t start = store_.kernels.start_ns[row];
      const int64_t end = store_.kernels.end_ns[row];
      int64_t beside = start;
      for (const auto& [stream, reached] : ends) {
        if (stream != StreamOf(row)) beside = std::max(beside, std::min(reached, end));
      }
      found.overlap_ns += beside - start;
      int64_t& own = ends.try_emplace(StreamOf(row), end).first->second;
      own = std::max(own, end);
    }
  }

  std::vector<Block> Blocks() const {
    std::vector<Block> blocks;
    for (const uint32_t row : rows_) {
      const int64_t start = store_.kernels.start_ns[row];
      const int64_t end = store_.kernels.end_ns[row];
      if (blocks.empty() || blocks.back().stream != StreamOf(row)) {
        blocks.push_back(
            {.stream = StreamOf(row), .start_ns = start, .end_ns = end, .first_kernel = row});
      }
      Block& block = blocks.back();
      block.end_ns = std::max(block.end_ns, end);
      block.busy_ns += end - start;
      block.filled_ns += double(end - start) * FilledShare(row);
    }
    return blocks;
  }

  StreamWait Cause(const Block& waited_for, const Block& block) const {
    if (after_wait_[store_.kernels.api_call[block.first_kernel].row()]) return StreamWait::kEvent;
    const bool legacy = (IsDefault(waited_for.stream) && ObeysDefault(block.stream)) ||
                        (IsDefault(block.stream) && ObeysDefault(waited_for.stream));
    return legacy ? StreamWait::kDefaultStream : StreamWait::kOther;
  }

  void AddWaits(const std::vector<Block>& blocks, StreamOverlap& found) const {
    std::map<StreamKey, int64_t> ends;  // of the last block of each stream
    for (size_t i = 0; i < blocks.size(); ++i) {
      const Block& block = blocks[i];
      const auto own = ends.find(block.stream);
      const int64_t own_end = own == ends.end() ? INT64_MIN : own->second;
      ends[block.stream] = block.end_ns;
      if (i == 0) continue;
      const Block& before = blocks[i - 1];
      const int64_t pause = block.start_ns - before.end_ns;
      if (pause < 0 || pause > kRightAfterNs || before.busy_ns == 0) continue;
      const ApiCallId call = store_.kernels.api_call[block.first_kernel];
      const int64_t ready =
          std::max({store_.api_calls.end_ns[call.row()] + kLatencyNs, own_end, before.start_ns});
      if (ready >= before.end_ns) continue;
      // Both have at most the SMs that the block before leaves free.
      const double room = 1 - before.filled_ns / double(before.busy_ns);
      const auto together = double(std::min(before.end_ns - ready, block.busy_ns));
      const auto cause = static_cast<size_t>(Cause(before, block));
      ++found.waits[cause];
      found.lost_ns[cause] += static_cast<int64_t>(together * room);
    }
  }

  const Store& store_;
  const GpuBreakdown& gpu_;
  StepClock clock_;
  const uint32_t sm_count_;
  std::vector<uint32_t> rows_;    // of kernels, by start
  std::vector<bool> after_wait_;  // by row of api_calls
};

}  // namespace

double StreamOverlap::overlap_share() const {
  int64_t possible = 0;
  for (size_t i = 1; i < streams.size(); ++i) possible += streams[i].busy_ns;
  return possible == 0 ? 0 : double(overlap_ns) / double(possible);
}

StreamOverlap FindStreamOverlap(const Store& store, const StepSet& steps, const GpuBreakdown& gpu) {
  return Finder(store, steps, gpu).Find();
}

}  // namespace batchlight
