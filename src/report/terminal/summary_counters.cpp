// What hardware counters measured of whole steps.
#include <string>

#include "analysis/counters/step_counters.h"
#include "report/terminal/summary_sections.h"
#include "report/text/number_text.h"

namespace batchlight {
namespace {

// Items of a sentence.
class Parts {
 public:
  void Add(const std::string& text) { text_ += (text_.empty() ? "" : ", ") + text; }
  void AddShare(std::string_view what, const std::optional<double>& share) {
    if (share) Add(std::string(what) + " " + PercentText(*share));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string FiguresText(const StepFigures& figures) {
  Parts parts;
  if (figures.mfu) {
    parts.Add("measured MFU " + PercentText(*figures.mfu) + " (" +
              SignificantText(*figures.tflops) + " TFLOP/s, mostly " + std::string(figures.dtype) +
              ")");
  } else if (figures.tflops && *figures.tflops > 0) {
    parts.Add(SignificantText(*figures.tflops) + " TFLOP/s on Tensor Cores");
  }
  parts.AddShare("tensor pipe", figures.tensor_share);
  if (figures.dram_gbps) {
    parts.Add("memory " + SignificantText(*figures.dram_gbps) + " GB/s" +
              (figures.dram_share ? " (" + PercentText(*figures.dram_share) + ")" : "") + ", " +
              BytesText(*figures.dram_bytes) + " a step");
  }
  parts.AddShare("L2 hits", figures.l2_hit_share);
  parts.AddShare("L1 hits", figures.l1_hit_share);
  parts.AddShare("occupancy", figures.occupancy);
  parts.AddShare("issue slots", figures.issue_share);
  if (figures.clock_hz) parts.Add("SM clock " + SignificantText(*figures.clock_hz / 1e9) + " GHz");
  return parts.text();
}

}  // namespace

void WriteCounters(SummaryText& out, const RunOverview& overview) {
  const std::vector<StepFigures> all = FindStepFigures(*overview.store);
  if (all.empty()) return;
  const StepFigures& first = all.front();
  out.Title("Counters of a step on GPU " + std::to_string(first.device) + ", measured");
  out.Put("  ").Wrapped(FiguresText(first), 2);
  std::string below = std::to_string(first.steps) + (first.steps == 1 ? " step" : " steps") +
                      " measured, " + TimeText(double(first.switch_ns)) +
                      " to switch counters on and off";
  if (all.size() > 1) below += "; " + std::to_string(all.size() - 1) + " more GPUs were measured";
  out.Put("  ").Wrapped(below + "; `batchlight table step_counters` has all", 2, Tone::kDim);
}

}  // namespace batchlight
