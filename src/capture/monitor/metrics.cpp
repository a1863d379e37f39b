#include "capture/monitor/metrics.h"

#include <cstdio>
#include <string_view>
#include <utility>

namespace batchlight::capture {
namespace {

enum class Metric {
#define METRIC(Id, name, type, help) k##Id,
#include "capture/monitor/metrics.def"
#undef METRIC
};

struct MetricSpec {
  const char* name;
  const char* type;
  const char* help;
};
constexpr MetricSpec kMetrics[] = {
#define METRIC(Id, name, type, help) {name, #type, help},
#include "capture/monitor/metrics.def"
#undef METRIC
};

// As --metrics-file spells them: "data_loading".
std::string PhaseName(format::Phase phase) {
  std::string_view label;
  switch (phase) {
    case format::Phase::kNone:
      break;
#define PHASE(Name, number, text) \
  case format::Phase::k##Name:    \
    label = text;                 \
    break;
#include "format/phases.def"
#undef PHASE
  }
  std::string name(label);
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c < 'a' || c > 'z') c = '_';
  }
  return name;
}

std::string Seconds(int64_t ns) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9f", static_cast<double>(ns) * 1e-9);
  return text;
}

class Text {
 public:
  void Begin(Metric metric) {
    spec_ = &kMetrics[static_cast<size_t>(metric)];
    text_ += std::string("# HELP ") + spec_->name + " " + spec_->help + "\n# TYPE " + spec_->name +
             " " + spec_->type + "\n";
  }
  void Add(const std::string& suffix, const std::string& labels, const std::string& value) {
    text_ += spec_->name + suffix + (labels.empty() ? "" : "{" + labels + "}") + " " + value + "\n";
  }
  std::string Take() { return std::move(text_); }

 private:
  const MetricSpec* spec_ = nullptr;
  std::string text_;
};

std::string LabelsOf(const ProcessSteps& process) {
  const std::string rank = process.rank >= 0 ? std::to_string(process.rank) : "";
  return "rank=\"" + rank + "\",pid=\"" + std::to_string(process.pid) + "\"";
}

void AddDurations(Text& text, const ProcessSteps& process) {
  const std::string labels = LabelsOf(process);
  for (const auto& [name, share] : {std::pair("0.5", 0.5), {"0.9", 0.9}, {"0.99", 0.99}}) {
    if (process.timed_steps == 0) break;
    text.Add("", labels + ",quantile=\"" + name + "\"", Seconds(process.Quantile(share)));
  }
  text.Add("_sum", labels, Seconds(process.total_ns));
  text.Add("_count", labels, std::to_string(process.timed_steps));
}

void AddPhases(Text& text, const ProcessSteps& process) {
  constexpr int64_t kNsPerUs = 1000;
  for (size_t i = 0; i < format::kBoardPhaseCount; ++i) {
    if (process.phase_us[i] == 0) continue;
    text.Add("", LabelsOf(process) + ",phase=\"" + PhaseName(format::kBoardPhases[i]) + "\"",
             Seconds(process.phase_us[i] * kNsPerUs));
  }
}

}  // namespace

std::string MetricsText(const MetricsInput& input) {
  Text text;
  const auto each = [&](Metric metric, auto&& add) {
    text.Begin(metric);
    for (const ProcessSteps* process : input.processes) add(*process);
  };
  text.Begin(Metric::kInfo);
  text.Add("", "version=\"" + input.version + "\"", "1");
  each(Metric::kStep, [&](const ProcessSteps& process) {
    text.Add("", LabelsOf(process), std::to_string(process.step));
  });
  each(Metric::kLastStep, [&](const ProcessSteps& process) {
    text.Add("", LabelsOf(process), Seconds(process.end_ns + input.monotonic_to_unix_ns));
  });
  each(Metric::kDuration, [&](const ProcessSteps& process) { AddDurations(text, process); });
  each(Metric::kPhase, [&](const ProcessSteps& process) { AddPhases(text, process); });
  each(Metric::kUnread, [&](const ProcessSteps& process) {
    text.Add("", LabelsOf(process), std::to_string(process.unread_steps));
  });
  text.Begin(Metric::kWindows);
  text.Add("", "", std::to_string(input.windows));
  return text.Take();
}

}  // namespace batchlight::capture
