#include "analysis/gpu/stream_overlap.h"

#include <gtest/gtest.h>

#include <set>

#include "analysis/overview/run_overview.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

using testing::StoreBuilder;

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kStepNs = 10 * kMs;
constexpr size_t kSteps = 20;
constexpr uint32_t kDefault = 7, kFirst = 13, kSecond = 14;

// 20 steps; all kernels have a grid of `blocks` on a GPU of 132 SMs.
class Loop {
 public:
  explicit Loop(StreamFlag flag = StreamFlag::kNonBlocking, uint32_t blocks = 16)
      : blocks_(blocks) {
    process_ = build_.Process(7, "train.py");
    thread_ = build_.Thread(process_);
    Store& store = build_.store();
    store.gpus.Append({.sm_count = 132});
    store.gpu_contexts.Append({.process = process_, .context = 0, .null_stream = kDefault});
    for (const uint32_t stream : {kFirst, kSecond}) {
      store.gpu_streams.Append({.process = process_, .stream = stream, .flag = flag});
    }
  }

  template <typename AddStep>
  void Build(AddStep&& add) {
    for (size_t i = 0; i < kSteps; ++i) {
      const int64_t t = int64_t(i) * kStepNs;
      build_.Range(thread_, "step", t, t + kStepNs - 1000);
      add(*this, t);
    }
    store_ = build_.Build();
    store_.kernel_launches.Append({.grid_x = blocks_, .grid_y = 1, .grid_z = 1, .block_x = 256});
    for (KernelLaunchId& launch : store_.kernels.launch) launch = KernelLaunchId::At(0);
    overview_ = BuildOverview(store_);
  }
  void Kernel(uint32_t stream, int64_t call_ns, int64_t start_ns, int64_t end_ns) {
    build_.Kernel(thread_, "elementwise_kernel", call_ns, start_ns, end_ns, stream);
  }
  void WaitEvent(int64_t at_ns) {
    build_.ApiCall(thread_, "cudaStreamWaitEvent_v3020", at_ns, at_ns + 100);
  }

  StreamOverlap Overlap() const {
    return FindStreamOverlap(store_, overview_.steps, *overview_.gpu.MainBreakdown());
  }
  const Finding* Fires() const {
    for (const Finding& finding : overview_.findings) {
      if (finding.rule == "serialized-streams") return &finding;
    }
    return nullptr;
  }

 private:
  StoreBuilder build_;
  ProcessId process_;
  ThreadId thread_;
  uint32_t blocks_;
  Store store_;
  RunOverview overview_;
};

// Four pieces of 2 ms, launched at once, in turn on two streams.
void OneAfterTheOther(Loop& loop, int64_t t, bool events, uint32_t a, uint32_t b) {
  for (int64_t piece = 0; piece < 4; ++piece) {
    const int64_t call = t + 20'000 + piece * 10'000;
    if (events) loop.WaitEvent(call - 5'000);
    loop.Kernel(piece % 2 == 0 ? a : b, call, t + kMs + piece * 2 * kMs,
                t + 3 * kMs + piece * 2 * kMs - 2'000);
  }
}

uint64_t Waits(const StreamOverlap& overlap, StreamWait cause) {
  return overlap.waits[static_cast<size_t>(cause)];
}

TEST(StreamOverlap, ChainedByEvents) {
  Loop loop;
  loop.Build([](Loop& l, int64_t t) { OneAfterTheOther(l, t, true, kFirst, kSecond); });
  const StreamOverlap overlap = loop.Overlap();
  ASSERT_EQ(overlap.streams.size(), 2u);
  EXPECT_EQ(overlap.overlap_share(), 0);
  EXPECT_NEAR(double(Waits(overlap, StreamWait::kEvent)), 3.0 * kSteps, 3.0);
  EXPECT_EQ(Waits(overlap, StreamWait::kDefaultStream), 0u);
  const Finding* finding = loop.Fires();
  ASSERT_NE(finding, nullptr);
  // Three of four pieces could run beside another, on the 7/8 of the GPU that it leaves free.
  EXPECT_NEAR(finding->gain_ns, 0.5 * 3 * 2 * kMs * (1 - 16.0 / 132), 0.3 * kMs);
  EXPECT_NE(finding->seen.find("cudaStreamWaitEvent"), std::string::npos);
  EXPECT_EQ(finding->evidence.size(), 2u);
}

TEST(StreamOverlap, LegacyDefaultStream) {
  Loop loop(StreamFlag::kDefault);
  loop.Build([](Loop& l, int64_t t) { OneAfterTheOther(l, t, false, kDefault, kFirst); });
  const StreamOverlap overlap = loop.Overlap();
  EXPECT_GT(Waits(overlap, StreamWait::kDefaultStream), 2 * kSteps);
  EXPECT_EQ(Waits(overlap, StreamWait::kOther), 0u);
  ASSERT_NE(loop.Fires(), nullptr);
  EXPECT_NE(loop.Fires()->why.find("legacy default stream"), std::string::npos);
  bool named = false;
  for (const Evidence& evidence : loop.Fires()->evidence) {
    named = named || evidence.name == "7 (legacy default)";
  }
  EXPECT_TRUE(named);
}

TEST(StreamOverlap, NonBlockingStreamsDoNotObeyTheDefaultStream) {
  Loop loop(StreamFlag::kNonBlocking);
  loop.Build([](Loop& l, int64_t t) { OneAfterTheOther(l, t, false, kDefault, kFirst); });
  EXPECT_EQ(Waits(loop.Overlap(), StreamWait::kDefaultStream), 0u);
  EXPECT_GT(Waits(loop.Overlap(), StreamWait::kOther), 2 * kSteps);
}

TEST(StreamOverlap, SilentOnOneStream) {
  Loop loop;
  loop.Build([](Loop& l, int64_t t) { OneAfterTheOther(l, t, true, kFirst, kFirst); });
  EXPECT_TRUE(loop.Overlap().streams.size() < 2);
  EXPECT_EQ(loop.Fires(), nullptr);
}

TEST(StreamOverlap, SilentWhereStreamsOverlap) {
  Loop loop;
  loop.Build([](Loop& l, int64_t t) {
    l.Kernel(kFirst, t + 20'000, t + kMs, t + 5 * kMs);
    l.Kernel(kSecond, t + 30'000, t + kMs + 5'000, t + 5 * kMs);
    l.Kernel(kFirst, t + 40'000, t + 5 * kMs + 5'000, t + 9 * kMs);
  });
  EXPECT_GT(loop.Overlap().overlap_share(), 0.9);
  EXPECT_EQ(loop.Fires(), nullptr);
}

TEST(StreamOverlap, SilentWhereEachGridFillsTheGpu) {
  Loop loop(StreamFlag::kNonBlocking, 1320);
  loop.Build([](Loop& l, int64_t t) { OneAfterTheOther(l, t, true, kFirst, kSecond); });
  EXPECT_EQ(loop.Fires(), nullptr);
}

TEST(StreamOverlap, SilentWhereTheCpuLaunchesLate) {
  Loop loop;
  loop.Build([](Loop& l, int64_t t) {
    for (int64_t piece = 0; piece < 4; ++piece) {
      const int64_t start = t + kMs + piece * 2 * kMs;
      l.Kernel(piece % 2 == 0 ? kFirst : kSecond, start - 6'000, start, start + 2 * kMs - 9'000);
    }
  });
  EXPECT_EQ(loop.Fires(), nullptr);
}

TEST(StreamOverlap, ASideStreamOfSmallWorkDoesNotCount) {
  Loop loop;
  loop.Build([](Loop& l, int64_t t) {
    l.Kernel(kFirst, t + 20'000, t + kMs, t + 9 * kMs);
    l.Kernel(kSecond, t + 30'000, t + 9 * kMs + 1'000, t + 9 * kMs + 101'000);
  });
  EXPECT_EQ(loop.Fires(), nullptr);
}

}  // namespace
}  // namespace batchlight
