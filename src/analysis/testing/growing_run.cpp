#include "analysis/testing/growing_run.h"

#include <algorithm>
#include <string>
#include <utility>

namespace batchlight::testing {
namespace {

constexpr int64_t kUs = 1000;
constexpr ThreadId kMain{0};
constexpr ThreadId kBackward{1};
constexpr ThreadId kOfSecondRank{2};

uint32_t Below(uint32_t& random, uint32_t limit) {
  random = random * 1664525 + 1013904223;
  return (random >> 8) % limit;
}

}  // namespace

GrowingRun::GrowingRun(uint32_t seed, size_t steps, GrowingKind kind) : kind_(kind) {
  uint32_t random = seed;
  int64_t now_ns = 5 * kUs;
  for (size_t step = 0; step < steps; ++step) AddStep(random, now_ns);
}

void GrowingRun::AddForward(uint32_t& random, int64_t& now_ns) {
  const int64_t forward_ns = now_ns;
  for (uint32_t layer = 0; layer < 3; ++layer) {
    const int64_t layer_ns = now_ns += 2 * kUs;
    for (uint32_t call = 2 + Below(random, 4); call > 0; --call) {
      const int64_t start_ns = now_ns += kUs;
      const int64_t end_ns = now_ns += (20 + Below(random, 30)) * kUs;
      const std::string name = "aten::op" + std::to_string(Below(random, 6));
      Add(start_ns, end_ns, [=](StoreBuilder& build, int64_t until_ns) {
        build.Operator(kMain, name, start_ns, until_ns);
      });
      const int64_t work_ns = std::max(gpu_free_ns_, start_ns + 5 * kUs);
      gpu_free_ns_ = work_ns + (5 + Below(random, 60)) * kUs;
      Add(
          start_ns, gpu_free_ns_,
          [=, name = "kernel" + std::to_string(call)](StoreBuilder& build, int64_t until_ns) {
            build.Kernel(kMain, name, start_ns + 2 * kUs, work_ns, until_ns);
          },
          true);
    }
    now_ns += kUs;
    Add(layer_ns, now_ns, [=, end = now_ns](StoreBuilder& build, int64_t until_ns) {
      build.Module(kMain, "layer" + std::to_string(layer), "Layer", layer_ns, until_ns);
    });
  }
  Add(forward_ns, now_ns += kUs, [=](StoreBuilder& build, int64_t until_ns) {
    build.Module(kMain, "model", "Model", forward_ns, until_ns);
  });
}

void GrowingRun::AddStep(uint32_t& random, int64_t& now_ns) {
  const auto add_phase = [&](Phase phase, const char* name, int64_t length_ns) {
    const int64_t start_ns = now_ns += kUs;
    const bool two = kind_ == GrowingKind::kTwoRanks;
    Add(start_ns, now_ns += length_ns, [=](StoreBuilder& build, int64_t until_ns) {
      build.Phase(kMain, phase, name, start_ns, until_ns);
      if (!two) return;
      build.Phase(kOfSecondRank, phase, name, start_ns, until_ns);
    });
  };
  const int64_t step_ns = now_ns;
  add_phase(Phase::kDataLoaderNext, "DataLoader", (20 + Below(random, 100)) * kUs);
  AddForward(random, now_ns);
  const int64_t backward_ns = now_ns += kUs;
  for (int64_t at_ns = backward_ns + kUs, i = 0; i < 6; ++i, at_ns += 40 * kUs) {
    Add(at_ns, at_ns + 30 * kUs, [=](StoreBuilder& build, int64_t until_ns) {
      build.Operator(kBackward, "MmBackward0", at_ns, until_ns);
    });
  }
  add_phase(Phase::kBackward, "backward", 250 * kUs);
  add_phase(Phase::kOptimizerStep, "SGD.step", (50 + Below(random, 20)) * kUs);
  if (kind_ == GrowingKind::kNamedByTens || kind_ == GrowingKind::kNamedByOnes) {
    const size_t number = step_ends_ns_.size() * (kind_ == GrowingKind::kNamedByTens ? 10 : 1);
    Add(step_ns, now_ns += kUs,
        [=, name = "step " + std::to_string(number)](StoreBuilder& build, int64_t until_ns) {
          build.Range(kMain, name, step_ns, until_ns);
        });
  }
  step_ends_ns_.push_back(now_ns);
}

Store GrowingRun::Read(int64_t seen_ns, int64_t since_ns) const {
  StoreBuilder build;
  const bool is_whole = since_ns == INT64_MIN;
  const bool knows_rank = is_whole || kind_ != GrowingKind::kLateRank;
  const ProcessId process = build.Process(4711, "train.py", knows_rank ? 0 : -1);
  build.Thread(process);
  build.Thread(process);
  if (kind_ == GrowingKind::kTwoRanks) build.Thread(build.Process(4712, "train.py", 1));
  if (kind_ == GrowingKind::kLateFact && is_whole) build.Property("torch.version", "2.11");
  for (const Event& event : events_) {
    const bool is_over = event.end_ns <= seen_ns;
    if (event.start_ns > seen_ns || event.end_ns < since_ns) continue;
    if (event.is_work && !is_over) continue;
    event.add(build, is_over ? event.end_ns : kOpenEnd);
  }
  Store store = build.Build();
  store.duration_ns = seen_ns;
  store.session_start_utc_ns = 1'760'000'000'000'000'000;
  return store;
}

}  // namespace batchlight::testing
