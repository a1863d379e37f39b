#include <algorithm>
#include <string>
#include <vector>

#include "probe/gpu_result.h"
#include "report/text/number_text.h"
#include "report/text/utf8.h"

namespace batchlight::probe {
namespace {

constexpr size_t kMeasureWidth = 44;
constexpr size_t kValueWidth = 18;
constexpr size_t kMostSlow = 20;

std::string Padded(const std::string& text, size_t width) {
  return text + std::string(width - std::min(width, CharacterCount(text)), ' ');
}

std::string ValueText(const GpuFigure& figure, double value) {
  return SignificantText(value) + " " + figure.unit;
}

std::string Lines(const std::vector<SlowFigure>& slow, const std::string& than) {
  std::string text;
  for (size_t i = 0; i < std::min(slow.size(), kMostSlow); ++i) {
    const GpuFigure& figure = slow[i].figure;
    text += "  " + CleanText(figure.host) + ", " + figure.subject + ": " + figure.measure + ": " +
            ValueText(figure, figure.value) + ", " + than + " " +
            ValueText(figure, slow[i].typical) + " (" + PercentText(slow[i].share) + ")\n";
  }
  if (slow.size() > kMostSlow) {
    text += "  and " + std::to_string(slow.size() - kMostSlow) + " more; -f csv has all figures\n";
  }
  return text;
}

std::string HostText(const GpuResult& result) {
  std::string text = CleanText(result.host) + ": " + std::to_string(result.gpus.size()) + " x " +
                     CleanText(result.gpus.empty() ? "GPU" : result.gpus.front()) + "; " +
                     CleanText(result.versions) + "\n";
  std::string subject;
  for (const GpuFigure& figure : result.figures) {
    if (figure.subject != subject) {
      subject = figure.subject;
      text += subject + "\n";
    }
    std::string line = "  " + Padded(figure.measure, kMeasureWidth) +
                       Padded(ValueText(figure, figure.value), kValueWidth);
    if (figure.nominal > 0) {
      line +=
          PercentText(figure.value / figure.nominal) + " of " + ValueText(figure, figure.nominal);
    }
    line.resize(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  for (const std::string& note : result.notes) text += "Note: " + CleanText(note) + "\n";
  return text;
}

}  // namespace

std::string GpuText(const std::vector<GpuResult>& results, const GpuResult* before) {
  std::string text;
  for (const GpuResult& result : results) text += HostText(result) + "\n";
  const std::vector<SlowFigure> slow = FindSlow(results);
  size_t gpus = 0;
  for (const GpuResult& result : results) gpus += result.gpus.size();
  if (!slow.empty()) {
    text += "Slower than their like\n" + Lines(slow, "typical are");
  } else if (gpus > 1) {
    text += "No GPU and no link is slower than its like.\n";
  }
  if (before != nullptr) {
    std::vector<SlowFigure> slower;
    for (const GpuResult& result : results) {
      const std::vector<SlowFigure> of_host = FindSlower(result, *before);
      slower.insert(slower.end(), of_host.begin(), of_host.end());
    }
    text += slower.empty() ? "Nothing is slower than in the stored result of " +
                                 CleanText(before->host) + ".\n"
                           : "Slower than in the stored result\n" + Lines(slower, "then");
  }
  return text;
}

}  // namespace batchlight::probe
