// Numbers in the sentences of findings: plain, three significant digits.
#pragma once

#include <span>
#include <string>

#include "analysis/advice/finding.h"

namespace batchlight {

std::string TimeOf(double ns);        // "4.20 µs", "12.3 ms", "1.53 s": units as in all views
std::string PercentOf(double share);  // 0.253 -> "25 %"
std::string Rounded(double value);    // "713", "4.2"
// "5", "2.5": a mean count. What the end of the recording cuts off is no part of one.
std::string MeanCountText(double count);

// What a finding gains, as all views say it: "about 12.3 ms a step (± 3.70 ms), 41 % of the run",
// beside the steps "about 12.3 s (± 3.70 s), 41 % of the loop", of what is paid once "41 % of the
// run"; "" without an estimate.
std::string GainText(const Finding& finding);
// The same in short: "about 12.3 ms a step, 41 % of the run".
std::string ShortGainText(const Finding& finding);
// "The first 3 together: about 41 % of the run."; "" where fewer than two of them add up.
std::string CombinedText(std::span<const Finding> findings);

}  // namespace batchlight
