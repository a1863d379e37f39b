#include "analysis/stages/stage_paint.h"

namespace batchlight {
namespace {

void Append(std::vector<StageSpan>& stages, int64_t start_ns, int64_t end_ns, StageKind kind) {
  if (start_ns >= end_ns) return;
  if (!stages.empty() && stages.back().kind == kind && stages.back().end_ns == start_ns) {
    stages.back().end_ns = end_ns;
  } else {
    stages.push_back({start_ns, end_ns, kind});
  }
}

}  // namespace

std::vector<StageSpan> Paint(const std::vector<StageSpan>& stages,
                             const std::vector<TimeSpan>& over, StageKind kind) {
  std::vector<StageSpan> painted;
  painted.reserve(stages.size() + 2 * over.size());
  size_t next = 0;
  for (const StageSpan& stage : stages) {
    int64_t at_ns = stage.start_ns;
    while (next < over.size() && over[next].end_ns <= at_ns) ++next;
    for (size_t i = next; i < over.size() && over[i].start_ns < stage.end_ns; ++i) {
      const int64_t start_ns = std::max(at_ns, over[i].start_ns);
      const int64_t end_ns = std::min(stage.end_ns, over[i].end_ns);
      Append(painted, at_ns, start_ns, stage.kind);
      Append(painted, start_ns, end_ns, kind);
      at_ns = std::max(at_ns, end_ns);
    }
    Append(painted, at_ns, stage.end_ns, stage.kind);
  }
  return painted;
}

}  // namespace batchlight
