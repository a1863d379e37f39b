#include "analysis/advice/advice_text.h"

#include <cmath>
#include <cstdint>
#include <cstdio>

#include "analysis/advice/advice.h"

namespace batchlight {
namespace {

std::string Print(const char* format, double value) {
  char text[48];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

}  // namespace

std::string Rounded(double value) {
  if (value >= 100) return Print("%.0f", value);
  if (value >= 10) return Print("%.1f", value);
  return Print("%.2f", value);
}

std::string MeanCountText(double count) {
  constexpr double kNearly = 0.1;
  const double whole = std::round(count);
  return std::abs(count - whole) < kNearly ? std::to_string(static_cast<int64_t>(whole))
                                           : Rounded(count);
}

std::string TimeOf(double ns) {
  if (ns >= 999.5e6) return Rounded(ns / 1e9) + " s";
  return ns >= 999.5e3 ? Rounded(ns / 1e6) + " ms" : Rounded(ns / 1e3) + " µs";
}

std::string PercentOf(double share) {
  return Print(share < 0.1 ? "%.1f %%" : "%.0f %%", share * 100);
}

namespace {

std::string GainOf(const Finding& finding, bool with_uncertainty) {
  if (!finding.has_gain()) return "";
  const bool of_step = finding.gain_ns > 0;
  const double off_ns = of_step ? finding.uncertainty_ns : finding.run_uncertainty_ns;
  std::string text = "about " + TimeOf(of_step ? finding.gain_ns : finding.run_gain_ns);
  if (of_step) text += " a step";
  if (with_uncertainty && off_ns > 0) text += " (± " + TimeOf(off_ns) + ")";
  // What lies between steps is no part of a step: its share is of both.
  const bool of_loop = !of_step && finding.loop_share > 0;
  const double share = of_step   ? finding.step_share
                       : of_loop ? finding.loop_share
                                 : finding.run_share;
  if (share > 0) {
    text += ", " + PercentOf(share) +
            (of_step   ? " of it"
             : of_loop ? " of the loop"
                       : " of the run");
  }
  return text;
}

}  // namespace

std::string GainText(const Finding& finding) { return GainOf(finding, true); }
std::string ShortGainText(const Finding& finding) { return GainOf(finding, false); }

std::string CombinedText(std::span<const Finding> findings) {
  const CombinedGain gain = GainTogether(findings);
  if (gain.share == 0) return "";
  // Symptoms, which promise nothing, come last, and before them what others do to the machine.
  const auto gains = std::count_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.has_gain() && finding.kind != FindingKind::kMachine;
  });
  return "The first " + std::to_string(gains) + " together: about " + PercentOf(gain.share) +
         (gain.of_step   ? " of a step."
          : gain.of_loop ? " of the loop."
                         : " of the run.");
}

}  // namespace batchlight
