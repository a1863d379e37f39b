#include "report/text/roofline_text.h"

#include "report/text/kernel_text.h"
#include "report/text/number_text.h"

namespace batchlight {
namespace {

constexpr size_t kWidestName = 70;

// The launches may be in the order in which they ran.
const KernelFigures* LongestCounted(const KernelReport& report) {
  const KernelFigures* longest = nullptr;
  for (const KernelFigures& kernel : report.kernels) {
    if (!kernel.roofline.counted) continue;
    if (longest == nullptr || kernel.share > longest->share) longest = &kernel;
  }
  return longest;
}

std::string NameOf(const Store& store, const KernelFigures& kernel) {
  if (kernel.is_graph) return "a CUDA graph";
  return KernelLabel(store.Text(kernel.name)).substr(0, kWidestName);
}

std::string FiguresOf(const KernelRoofline& of) {
  if (of.operations <= 0) {
    return "does no operations of those that were counted";
  }
  const std::string does = std::string(of.at_most ? "does at most " : "does ") +
                           SignificantText(of.per_s / 1e12) + " TFLOP/s of " + std::string(of.type);
  if (!of.attainable_per_s) return does + "; what this GPU could do is not known";
  return does + ": " + PercentText(*of.share) + " of the " +
         SignificantText(*of.attainable_per_s / 1e12) + " that its lowest roof, " +
         (of.roof == of.type ? "the peak of " + std::string(of.type) : std::string(of.roof)) +
         ", allows";
}

}  // namespace

std::string RooflineHint(const Store& store, const KernelReport& report) {
  const KernelFigures* const longest = LongestCounted(report);
  if (longest == nullptr) return "";
  const std::string advice = RooflineAdvice(*longest);
  return "What it means\n  The longest kernel, " + NameOf(store, *longest) + ", takes " +
         PercentText(longest->share) + " of the time and " + FiguresOf(longest->roofline) + "\n" +
         (advice.empty() ? "" : "     " + advice + "\n");
}

}  // namespace batchlight
