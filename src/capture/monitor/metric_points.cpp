#include "capture/monitor/metric_points.h"

#include <cstdio>
#include <string_view>

namespace batchlight::capture {
namespace {

enum class Id {
#define METRIC(Row, name, type, help) k##Row,
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

MetricLabels LabelsOf(const ProcessSteps& process) {
  return {{"rank", process.rank >= 0 ? std::to_string(process.rank) : ""},
          {"pid", std::to_string(process.pid)}};
}

MetricPoint Durations(const ProcessSteps& process) {
  MetricPoint point{.labels = LabelsOf(process),
                    .value = Seconds(process.total_ns),
                    .count = std::to_string(process.timed_steps),
                    .quantiles = {}};
  for (const auto& [name, share] : {std::pair("0.5", 0.5), {"0.9", 0.9}, {"0.99", 0.99}}) {
    if (process.timed_steps == 0) break;
    point.quantiles.emplace_back(name, Seconds(process.Quantile(share)));
  }
  return point;
}

void AddPhases(const ProcessSteps& process, std::vector<MetricPoint>& points) {
  constexpr int64_t kNsPerUs = 1000;
  for (size_t i = 0; i < format::kBoardPhaseCount; ++i) {
    if (process.phase_us[i] == 0) continue;
    MetricPoint& point = points.emplace_back();
    point.labels = LabelsOf(process);
    point.labels.emplace_back("phase", PhaseName(format::kBoardPhases[i]));
    point.value = Seconds(process.phase_us[i] * kNsPerUs);
  }
}

}  // namespace

std::vector<Metric> MetricsOf(const MetricsInput& input) {
  std::vector<Metric> metrics = {
#define METRIC(Row, name, type, help) {name, help, MetricType::k##type, {}},
#include "capture/monitor/metrics.def"
#undef METRIC
  };
  const auto points = [&](Id id) -> std::vector<MetricPoint>& {
    return metrics[static_cast<size_t>(id)].points;
  };
  const auto add = [&](Id id, MetricLabels labels, std::string value) {
    MetricPoint& point = points(id).emplace_back();
    point.labels = std::move(labels);
    point.value = std::move(value);
  };
  add(Id::kInfo, {{"version", input.version}}, "1");
  for (const ProcessSteps* process : input.processes) {
    add(Id::kStep, LabelsOf(*process), std::to_string(process->step));
    add(Id::kLastStep, LabelsOf(*process), Seconds(process->end_ns + input.monotonic_to_unix_ns));
    points(Id::kDuration).push_back(Durations(*process));
    AddPhases(*process, points(Id::kPhase));
    add(Id::kUnread, LabelsOf(*process), std::to_string(process->unread_steps));
  }
  add(Id::kWindows, {}, std::to_string(input.windows));
  return metrics;
}

}  // namespace batchlight::capture
