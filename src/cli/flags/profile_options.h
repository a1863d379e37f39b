// Turns parsed flags into what a session is asked to do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "capture/recording/options.h"
#include "cli/flags/flags.h"

namespace batchlight::cli {

// --step-counters, or those of `kernels`; without sets none are read.
struct CounterOptions {
  std::vector<std::string> sets;  // and metrics
  uint64_t first_step = 5;
  uint64_t steps = 2;           // in a row, for each pass
  uint64_t share_ppm = 10'000;  // of the run's time for switching; 0 = one round
  uint64_t kernel_room = 0;     // not 0: each kernel of a step, up to so many
  bool first_pass_only = false;
  std::string replay;            // "gemm|softmax": launches of these kernels run once for each pass
  std::optional<uint64_t> rank;  // that counts; none: all
};

// The ranks that are recorded; without a stretch all are.
struct RankList {
  struct Stretch {
    unsigned first = 0;
    unsigned last = 0;
  };
  std::vector<Stretch> stretches;

  bool Has(int rank) const;
  unsigned Lowest() const;
};

// --stalls: as inject/counting/stall_sampler.h reads them.
struct StallOptions {
  bool wanted = false;
  bool continuous = false;
  uint64_t windows = 0;  // 0: as many as the share allows
  uint64_t first_step = 5;
  uint64_t share_ppm = 10'000;  // of the run's time; 0: they follow each other
};

struct ProfileOptions {
  capture::SessionOptions session;
  CounterOptions counters;
  StallOptions stalls;
  std::vector<std::string> gpu_metric_sets;  // --gpu-metrics-set; empty: no GPU is sampled
  std::vector<std::string> without_effect;   // "--sample=cpu": accepted, and named in one line
  uint32_t overhead_rounds = 0;              // --measure-overhead; 0 = not measured
  RankList ranks;                            // --ranks
};

// Errors are kUsage.
Result<ProfileOptions> MakeProfileOptions(const ParsedFlags& flags);
// Of --ranks: "0,8-15". Error (kUsage): it is not of that form.
Result<RankList> ParseRanks(const std::string& text);
// The part that `start` takes too.
Result<capture::CaptureOptions> MakeCaptureOptions(const ParsedFlags& flags);
// One line that names the flags that change nothing; no line if there are none.
std::vector<std::string> WithoutEffectNotices(const std::vector<std::string>& flags);
// --kill and `shutdown --kill`: none, sigkill, sigterm or a number; 0 = none.
Result<int> ParseSignal(const std::string& text);

}  // namespace batchlight::cli
