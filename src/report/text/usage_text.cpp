#include "report/text/usage_text.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "analysis/cpu/usage.h"
#include "report/text/number_text.h"

namespace batchlight {
namespace {

// "4 processors", "1.50 processors"
std::string ProcessorsText(double count) {
  const bool is_whole = count == std::floor(count);
  return (is_whole ? FixedText(count, 0) : SignificantText(count)) +
         (count == 1 ? " processor" : " processors");
}

}  // namespace

std::string UsageText(const Store& store) {
  uint64_t peak_bytes = 0;
  for (const ProcessUse& use : SumProcessUse(store)) {
    peak_bytes = std::max(peak_bytes, use.peak_bytes);
  }
  if (peak_bytes == 0) return {};
  // Looks miss what lasts shorter than they lie apart; the kernel does not.
  const std::string known(store.Property("session.peak_bytes"));
  peak_bytes = std::max<uint64_t>(peak_bytes, std::strtoull(known.c_str(), nullptr, 10));
  const MachineUse machine = SumMachineUse(store);
  std::string text;
  if (machine.looked_ns > 0 && machine.processors > 0) {
    text = "used " + SignificantText(machine.Processors(machine.program_ns)) + " of " +
           ProcessorsText(machine.processors) + ", ";
  }
  return text + "at most " + BytesText(double(peak_bytes)) + " of memory in a process";
}

std::string OverloadText(const Store& store) {
  const MachineUse use = SumMachineUse(store);
  if (IsThrottled(use)) {
    return "the limit of " + ProcessorsText(use.group_limit) + " stopped the program in " +
           PercentText(use.ThrottledShare()) + " of its periods: times are longer than without it";
  }
  if (IsCrowded(use)) {
    return "other programs used " + SignificantText(use.Processors(use.OthersNs())) + " of the " +
           ProcessorsText(use.processors) +
           " meanwhile: times are longer than on a machine of its own, and vary";
  }
  if (IsStolenFrom(use)) {
    return "the hypervisor gave " + SignificantText(use.Processors(use.stolen_ns)) + " of the " +
           ProcessorsText(use.processors) + " to other machines: times are longer, and vary";
  }
  return {};
}

}  // namespace batchlight
