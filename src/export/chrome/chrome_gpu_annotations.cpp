// Annotations of the CPU as they are on the GPU: Kineto's gpu_user_annotation.
#include <algorithm>
#include <map>
#include <tuple>

#include "export/chrome/chrome_trace.h"

namespace batchlight {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// The innermost annotation around each CUDA call, by row of api_calls.
std::vector<uint32_t> AnnotationsAroundCalls(const ChromeTrace& trace) {
  const ApiCallsTable& calls = trace.store.api_calls;
  const std::vector<ChromeAnnotation>& annotations = trace.annotations;
  std::vector<uint32_t> around(calls.size(), kNone);
  std::vector<uint32_t> open;  // may overlap: ranges of different domains need not nest
  size_t next = 0;
  // Both are in the order of threads and starts.
  for (size_t row = 0; row < calls.size(); ++row) {
    const ThreadId thread = calls.thread[row];
    for (; next < annotations.size() &&
           std::pair(annotations[next].thread, annotations[next].start_ns) <=
               std::pair(thread, calls.start_ns[row]);
         ++next) {
      open.push_back(static_cast<uint32_t>(next));
    }
    std::erase_if(open, [&](uint32_t i) {
      return annotations[i].thread != thread || annotations[i].end_ns <= calls.start_ns[row];
    });
    for (const uint32_t i : open) {
      if (annotations[i].end_ns >= calls.end_ns[row]) around[row] = i;
    }
  }
  return around;
}

}  // namespace

Status WriteAnnotationsOnGpu(ChromeTrace& trace) {
  std::vector<ChromeAnnotation>& annotations = trace.annotations;
  std::stable_sort(annotations.begin(), annotations.end(),
                   [](const ChromeAnnotation& a, const ChromeAnnotation& b) {
                     return std::tuple(a.thread, a.start_ns, -a.end_ns) <
                            std::tuple(b.thread, b.start_ns, -b.end_ns);
                   });
  const std::vector<uint32_t> around = AnnotationsAroundCalls(trace);
  struct Span {
    int64_t start_ns;
    int64_t end_ns;
  };
  std::map<std::tuple<uint32_t, int64_t, uint32_t>, Span> spans;  // by annotation, GPU, stream
  const auto add = [&](const auto& table) {
    if (!trace.selection.HasTable(table.kName)) return;
    for (size_t row = 0; row < table.size(); ++row) {
      if (table.api_call[row].IsNone() || !SelectsRow(trace.selection, table, row)) continue;
      const uint32_t annotation = around[table.api_call[row].row()];
      if (annotation == kNone || table.end_ns[row] == kOpenEnd) continue;
      const int64_t gpu = trace.gpus.PidOf(table.process[row], table.device[row]);
      const auto [place, added] = spans.try_emplace({annotation, gpu, table.stream[row]},
                                                    Span{table.start_ns[row], table.end_ns[row]});
      place->second.start_ns = std::min(place->second.start_ns, table.start_ns[row]);
      place->second.end_ns = std::max(place->second.end_ns, table.end_ns[row]);
    }
  };
  add(trace.store.kernels);
  add(trace.store.memcpys);
  add(trace.store.memsets);
  add(trace.store.graph_launches);
  for (const auto& [key, span] : spans) {
    const auto& [annotation, gpu, stream] = key;
    trace.file.Begin("gpu_user_annotation", annotations[annotation].name, gpu, stream,
                     span.start_ns, span.end_ns);
    RETURN_IF_ERROR(trace.file.End());
  }
  return {};
}

}  // namespace batchlight
