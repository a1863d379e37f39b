// The lines of Python code that cost most.
#include "analysis/lines/source_place.h"
#include "report/terminal/summary_sections.h"
#include "report/text/number_text.h"

namespace batchlight {
namespace {

struct Shown {
  const LineRow& line;
  bool on_gpu;

  int64_t Of(int64_t LineRow::*gpu, int64_t LineRow::*cpu) const {
    return on_gpu ? line.*gpu : line.*cpu;
  }
  int64_t forward_ns() const { return Of(&LineRow::gpu_forward_ns, &LineRow::cpu_forward_ns); }
  int64_t backward_ns() const { return Of(&LineRow::gpu_backward_ns, &LineRow::cpu_backward_ns); }
  int64_t recompute_ns() const {
    return Of(&LineRow::gpu_recompute_ns, &LineRow::cpu_recompute_ns);
  }
  int64_t total_ns() const { return forward_ns() + backward_ns() + recompute_ns(); }
};

std::string PlaceText(const Store& store, const LineRow& line) {
  if (line.frame.IsNone()) return std::string(LineKindName(line.kind));
  const size_t frame = line.frame.row();
  return std::string(ShortFile(store.Text(store.python_frames.file[frame]))) + ':' +
         std::to_string(store.python_frames.line[frame]);
}

std::string SourceText(const Store& store, const LineRow& line) {
  if (line.frame.IsNone()) return "";
  const std::string text(store.Text(store.python_frames.text[line.frame.row()]));
  return line.kind == LineKind::kLine ? text : std::string(LineKindName(line.kind)) + ": " + text;
}

}  // namespace

void WriteLines(SummaryText& out, const RunOverview& overview, size_t rows) {
  const LineTimes& times = overview.lines;
  if (times.empty()) return;
  const bool on_gpu = times.gpu_ns > 0;
  const int64_t whole_ns = on_gpu ? times.gpu_ns : times.cpu_ns;
  const TimesInOneUnit time(double(Shown{times.rows.front(), on_gpu}.total_ns()));
  SummaryTable table(out, {{.header = "", .right = false},
                           {.header = "source", .right = false, .least_width = 90},
                           {.header = time.Header("forward")},
                           {.header = time.Header("backward")},
                           {.header = "of all"}});
  for (size_t i = 0; i < times.rows.size() && i < rows; ++i) {
    const Shown line{times.rows[i], on_gpu};
    if (line.total_ns() <= 0) break;
    table.Row({{PlaceText(*overview.store, line.line)},
               {SourceText(*overview.store, line.line), Tone::kDim},
               {time.Text(double(line.forward_ns() + line.recompute_ns()))},
               {time.Text(double(line.backward_ns()))},
               {PercentText(whole_ns == 0 ? 0 : double(line.total_ns()) / double(whole_ns)),
                Tone::kStrong}});
  }
  table.Print(on_gpu ? "Lines of Python, time on the GPU" : "Lines of Python, CPU of operators");
}

}  // namespace batchlight
