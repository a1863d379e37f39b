#include "analysis/breakdown/phase_events.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "analysis/overview/run_overview.h"
#include "analysis/tables/registry.h"
#include "analysis/testing/sample_run.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

using testing::StoreBuilder;

constexpr Phase kBackward = Phase::kBackward;
constexpr Phase kLoaderNext = Phase::kDataLoaderNext;

int64_t SumOf(const std::vector<EventGroup>& groups) {
  int64_t sum = 0;
  for (const EventGroup& group : groups) sum += group.total_ns;
  return sum;
}

int64_t SumOfBins(const std::vector<EventGroup>& groups) {
  int64_t sum = 0;
  for (const EventGroup& group : groups) {
    sum = std::accumulate(group.bin_ns.begin(), group.bin_ns.end(), sum);
  }
  return sum;
}

// Every phase of every track is the sum of its events, over steady steps and over all.
void ExpectAddsUp(const RunOverview& overview, const PhaseEvents& events) {
  for (size_t p = 0; p < overview.breakdowns.size(); ++p) {
    const StepBreakdown& breakdown = overview.breakdowns[p];
    const TrackEvents* cpu = events.Of(breakdown.process, -1);
    ASSERT_NE(cpu, nullptr);
    ASSERT_EQ(cpu->phases.size(), breakdown.phases.size());
    for (size_t i = 0; i < breakdown.phases.size(); ++i) {
      const PhaseShare& phase = breakdown.phases[i];
      EXPECT_EQ(SumOf(cpu->phases[i]), phase.steady.total) << phase.name;
      EXPECT_EQ(SumOfBins(cpu->phases[i]),
                std::accumulate(phase.per_step_ns.begin(), phase.per_step_ns.end(), int64_t{0}))
          << phase.name;
    }
  }
  for (const GpuBreakdown& gpu : overview.gpu.breakdowns) {
    const TrackEvents* track = events.Of(gpu.process, static_cast<int32_t>(gpu.device));
    ASSERT_NE(track, nullptr);
    for (size_t part = 0; part < kGpuPartCount; ++part) {
      int64_t all_ns = 0;
      for (const GpuStepParts& step : gpu.steps) all_ns += step.part_ns[part];
      EXPECT_EQ(SumOf(track->phases[part]), gpu.steady[part].total) << part;
      EXPECT_EQ(SumOfBins(track->phases[part]), all_ns) << part;
    }
  }
}

struct Found {
  RunOverview overview;
  PhaseEvents events;

  const std::vector<EventGroup>& Cpu(PhaseKind kind) const {
    static const std::vector<EventGroup> none;
    const std::vector<PhaseShare>& phases = overview.breakdowns[0].phases;
    for (size_t i = 0; i < phases.size(); ++i) {
      if (phases[i].kind == kind) return events.tracks[0].phases[i];
    }
    return none;
  }
  const std::vector<EventGroup>& Gpu(GpuPart part) const {
    return events.tracks[1].phases[static_cast<size_t>(part)];
  }
};

Found Find(const Store& store) {
  Found found{BuildOverview(store, {.phase_events = true}), {}};
  found.events = *found.overview.phase_events;
  ExpectAddsUp(found.overview, found.events);
  return found;
}

// "kind name @operator <before: ns in all, count, longest in step", one line per group.
std::string Text(const std::vector<EventGroup>& groups) {
  std::string text;
  for (const EventGroup& group : groups) {
    text += std::string(EventKindName(group.kind)) + " " + group.name;
    if (!group.op.empty()) text += " @" + group.op;
    if (!group.longest.before.empty()) text += " <" + group.longest.before;
    text += ": " + std::to_string(group.total_ns) + " in " + std::to_string(group.count) +
            ", longest " + std::to_string(group.longest.ns) + " at " +
            std::to_string(group.longest.start_ns) + " in step " +
            std::to_string(group.longest.step) + "\n";
  }
  return text;
}

TEST(PhaseEvents, TimeBelongsToTheInnermostCall) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(1, "train.py"));
  build.Range(main, "epoch", 0, 250);  // holds whole steps: explains nothing
  for (int64_t i = 0; i < 2; ++i) {
    const int64_t t = i * 100;
    build.Range(main, "step", t, t + 100);
    build.Phase(main, kLoaderNext, "Loader.__next__", t, t + 10 + i);
    build.Operator(main, "Loader.__next__", t + 2, t + 8);  // PyTorch's own range of the call
    build.Range(main, "forward", t + 20, t + 60);
    build.Operator(main, "aten::linear", t + 22, t + 50);
    build.Operator(main, "aten::addmm", t + 25, t + 40);
    build.ApiCall(main, "cudaLaunchKernel_v7000", t + 26, t + 29);
    build.ApiCall(main, "cudaStreamSynchronize_v3020", t + 30, t + 38);
    build.ApiCall(main, "cuStreamSynchronize", t + 31, t + 37);  // inside the runtime's call
    build.Range(main, "note 1" + std::to_string(i), t + 70, t + 75);
  }
  const Found found = Find(build.Build());
  EXPECT_EQ(Text(found.Cpu(PhaseKind::kDataLoading)),
            "call Loader.__next__: 21 in 2, longest 11 at 100 in step 1\n");
  EXPECT_EQ(Text(found.Cpu(PhaseKind::kForward)),
            "operator aten::linear: 26 in 2, longest 13 at 22 in step 0\n"
            "range forward: 24 in 2, longest 12 at 20 in step 0\n"
            "CUDA call cudaStreamSynchronize @aten::addmm: 16 in 2, longest 8 at 30 in step 0\n"
            "operator aten::addmm: 8 in 2, longest 4 at 25 in step 0\n"
            "CUDA call cudaLaunchKernel: 6 in 2, longest 3 at 26 in step 0\n");
  EXPECT_EQ(Text(found.Cpu(PhaseKind::kUserRange)),
            "range note #: 10 in 2, longest 5 at 70 in step 0\n");
  EXPECT_EQ(Text(found.Cpu(PhaseKind::kOther)),
            " (no recorded event): 89 in 6, longest 25 at 75 in step 0\n");
}

TEST(PhaseEvents, BackwardIsWhatTheThreadOfAutogradDoes) {
  StoreBuilder build;
  const ProcessId process = build.Process(1, "train.py");
  const ThreadId main = build.Thread(process);
  const ThreadId engine = build.Thread(process);
  const ThreadId pinning = build.Thread(process);  // neither launches nor differentiates
  for (int64_t i = 0; i < 2; ++i) {
    const int64_t t = i * 100;
    build.Range(main, "step", t, t + 100);
    build.Phase(main, kBackward, "Tensor.backward", t + 10, t + 90);
    build.Operator(main, "aten::ones_like", t + 12, t + 15);
    build.Operator(engine, "MmBackward0", t + 20, t + 50, 1, 1, OperatorScope::kBackward);
    build.Operator(engine, "MmBackward0", t + 60, t + 80, 2, 1, OperatorScope::kBackward);
    build.Operator(pinning, "aten::pin_memory", t + 50, t + 90);
  }
  const Found found = Find(build.Build());
  EXPECT_EQ(Text(found.Cpu(PhaseKind::kBackward)),
            "operator MmBackward0: 100 in 4, longest 30 at 20 in step 0\n"
            "call Tensor.backward: 54 in 2, longest 27 at 10 in step 0\n"
            "operator aten::ones_like: 6 in 2, longest 3 at 12 in step 0\n");
}

TEST(PhaseEvents, WorkSideBySideCountsForWhatBeganFirst) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(1, "train.py"));
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t t = i * 1000;
    build.Range(main, "step", t, t + 990);
    build.Kernel(main, "first", t + 10, t + 100, t + 300, 7);
    build.Kernel(main, "second", t + 20, t + 200, t + 400, 8);  // 100 of it alone
    build.Kernel(main, "inside", t + 30, t + 250, t + 280, 9);  // never alone
    build.Kernel(main, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", t + 40, t + 350, t + 500, 10);
    build.Copy(main, CopyKind::kHostToDevice, MemoryKind::kPageable, MemoryKind::kDevice, 64,
               t + 50, t + 450, t + 600);
  }
  const Found found = Find(build.Build());
  EXPECT_EQ(Text(found.Gpu(GpuPart::kCompute)),
            "kernel first: 600 in 3, longest 200 at 100 in step 0\n"
            "kernel second: 300 in 3, longest 100 at 200 in step 0\n");
  EXPECT_EQ(Text(found.Gpu(GpuPart::kCommunication)),
            "collective ncclDevKernel_AllReduce_Sum_f32_RING_LL: 300 in 3, longest 100 at 350 in "
            "step 0\n");
  EXPECT_EQ(Text(found.Gpu(GpuPart::kCopy)),
            "copy Host-to-Device, pageable to device: 300 in 3, longest 100 at 450 in step 0\n");
}

TEST(PhaseEvents, IdleTimeBelongsToWhatTheCpuDidMeanwhile) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(1, "train.py"));
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t t = i * 1'000'000;
    build.Range(main, "step", t, t + 990'000);
    build.Kernel(main, "nvjet_hsh_128", t + 10'000, t + 20'000, t + 320'000);
    build.Phase(main, kLoaderNext, "Loader.__next__", t + 350'000, t + 750'000);
    build.Operator(main, "aten::relu", t + 760'000, t + 850'000);
    build.Kernel(main, "relu", t + 800'000, t + 810'000, t + 900'000);
  }
  const Found found = Find(build.Build());
  const std::vector<EventGroup>& loading = found.Gpu(GpuPart::kIdleDataLoading);
  ASSERT_EQ(loading.size(), 1u);
  EXPECT_EQ(loading[0].name, "Loader.__next__");
  EXPECT_EQ(loading[0].count, 4u);
  EXPECT_EQ(loading[0].longest.ns, 400'000);
  EXPECT_EQ(loading[0].longest.after, "nvjet_hsh_128");
  EXPECT_EQ(loading[0].longest.before, "relu");
  ASSERT_EQ(found.Gpu(GpuPart::kIdleOperators).size(), 1u);
  EXPECT_EQ(found.Gpu(GpuPart::kIdleOperators)[0].name, "aten::relu");
  for (const EventGroup& group : found.Gpu(GpuPart::kIdlePython)) {
    EXPECT_EQ(group.kind, EventKind::kNone);  // told apart by what the GPU then began
    EXPECT_TRUE(group.longest.before == "relu" || group.longest.before == "nvjet_hsh_128");
  }
}

TEST(PhaseEvents, SampleRunAddsUpInEveryTrackAndIsTheTable) {
  const Store store = testing::MakeSampleRun({.gpu = true});
  const Found found = Find(store);
  ASSERT_GE(found.events.tracks.size(), 2u);
  EXPECT_EQ(found.events.tracks[0].bins.size(), 60u);  // one per step
  const ResultTable table = FindOverviewTable("phase_events")->make(found.overview);
  const ResultTable anew = FindOverviewTable("phase_events")->make(BuildOverview(store));
  EXPECT_EQ(table.rows, anew.rows);  // made on demand it is the same
  EXPECT_GT(table.rows.size(), 20u);
}

// Random calls that cross each other, on two threads, and work on three streams.
TEST(PhaseEvents, AddsUpWhateverOverlaps) {
  std::mt19937 random(7);
  const auto number = [&](int64_t below) { return static_cast<int64_t>(random() % below); };
  for (int round = 0; round < 50; ++round) {
    StoreBuilder build;
    const ProcessId process = build.Process(1, "train.py");
    const ThreadId threads[] = {build.Thread(process), build.Thread(process)};
    for (int64_t i = 0; i < 8; ++i) build.Range(threads[0], "step", i * 1000, i * 1000 + 950);
    for (int i = 0; i < 120; ++i) {
      const ThreadId thread = threads[number(2)];
      const int64_t start = number(8000);
      const int64_t end = start + 1 + number(300);
      const std::string name = std::to_string(number(4));
      switch (number(6)) {
        case 0:
          build.Range(thread, "range" + name, start, end);
          break;
        case 1:
          build.Operator(thread, "aten::op" + name, start, end, -1, 0,
                         number(2) == 0 ? OperatorScope::kBackward : OperatorScope::kFunction);
          break;
        case 2:
          build.Phase(thread, static_cast<Phase>(1 + number(7)), "call" + name, start, end);
          break;
        case 3:
          build.Module(thread, "net." + name, "Net" + name, start, end);
          break;
        case 4:
          build.ApiCall(thread, number(2) == 0 ? "cudaStreamSynchronize" : "cudaMalloc", start,
                        end);
          break;
        default: {
          const char* kernels[] = {"nvjet_hsh", "relu", "ncclDevKernel_AllReduce", "gelu"};
          build.Kernel(thread, kernels[number(4)], start, end, end + 1 + number(400),
                       static_cast<uint32_t>(7 + number(3)));
        }
      }
    }
    Find(build.Build());
  }
}

}  // namespace
}  // namespace batchlight
