// -t lprof: exact counts of lines, as kernprof writes them: a pickle of line_profiler's LineStats,
//   timings {(file, first line, name): [(line, hits, time)]}, unit (seconds)
// with the class under the name that every version of line_profiler has.
#include "analysis/python/line_counts.h"
#include "base/json_text.h"
#include "export/exporter.h"
#include "export/text/pickle.h"

namespace batchlight {

Result<uint64_t> ExportLprof(const Store& store, const ExportOptions& options) {
  const std::vector<PythonTimedFunction> functions = CountPythonLines(store);
  if (functions.empty()) {
    return InputError("no Python lines were counted: profile --lines=MODULE:FUNCTION");
  }
  ASSIGN_OR_RETURN(AtomicFileWriter file, OpenOutput(options));
  TextBuffer buffer(file);
  Pickle out(buffer);
  out.Op(
      "\x80\x02"
      "cline_profiler._line_profiler\nLineStats\n)\x81}(");
  out.Text("timings");
  out.Op("}(");
  uint64_t count = 0;
  for (const PythonTimedFunction& function : functions) {
    out.Text(ValidUtf8(store.Text(function.file)));
    out.Number(function.first_line);
    out.Text(ValidUtf8(store.Text(function.name)));
    out.Tuple(3);
    out.Op("](");
    for (const PythonLineCounts& line : function.lines) {
      if (line.hits == 0) continue;
      out.Number(line.line);
      out.Number(line.hits);
      out.Number(static_cast<uint64_t>(line.time_ns));
      out.Tuple(3);
      ++count;
    }
    out.Op("e");
    RETURN_IF_ERROR(buffer.FlushIfLarge());
  }
  out.Op("u");
  out.Text("unit");
  out.Real(1e-9);
  out.Op("ub.");
  RETURN_IF_ERROR(buffer.Finish());
  return count;
}

}  // namespace batchlight
