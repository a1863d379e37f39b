// -t importtime: what Python imported, as `python -X importtime` prints it.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analysis/stages/imports.h"
#include "export/exporter.h"
#include "export/text_buffer.h"

namespace batchlight {
namespace {

// CPython prints a line when an import ends, so those inside come before it.
std::vector<size_t> OrderOfEnds(const std::vector<Import>& imports) {
  std::vector<size_t> order, open;
  const auto close = [&](uint32_t depth) {
    while (open.size() > depth) {
      order.push_back(open.back());
      open.pop_back();
    }
  };
  ThreadId thread;
  for (size_t i = 0; i < imports.size(); ++i) {
    close(imports[i].thread == thread ? imports[i].depth : 0);
    thread = imports[i].thread;
    open.push_back(i);
  }
  close(0);
  return order;
}

std::string RightAligned(int64_t value, size_t width) {
  const std::string digits = std::to_string(value);
  return std::string(width - std::min(width, digits.size()), ' ') + digits;
}

// Of the process that imported most: `-X importtime` knows one only.
std::vector<Import> ImportsOfOne(const Store& store, const EventSelection& selection) {
  std::map<ProcessId, std::vector<Import>> by_process;
  for (const Import& import : FindImports(store)) {
    if (import.is_recorder) continue;  // no import of the program's
    if (selection.HasThread(import.thread) &&
        selection.HasTime(import.start_ns, import.start_ns + import.total_ns)) {
      by_process[store.ProcessOf(import.thread)].push_back(import);
    }
  }
  std::vector<Import> most;
  for (auto& [process, imports] : by_process) {
    if (imports.size() > most.size()) most = std::move(imports);
  }
  return most;
}

}  // namespace

Result<uint64_t> ExportImportTime(const Store& store, const ExportOptions& options) {
  const std::vector<Import> imports = ImportsOfOne(store, options.selection);
  if (imports.empty()) {
    return UsageError("no imports of Python were recorded (profile -t python --pytorch=...)");
  }
  ASSIGN_OR_RETURN(AtomicFileWriter file, OpenOutput(options));
  TextBuffer out(file);
  out << "import time: self [us] | cumulative | imported package\n";
  for (const size_t i : OrderOfEnds(imports)) {
    const Import& import = imports[i];
    out << "import time: " << RightAligned(import.self_ns / 1000, 9) << " | "
        << RightAligned(import.total_ns / 1000, 10) << " | " << std::string(2 * import.depth, ' ')
        << store.Text(import.module) << '\n';
    RETURN_IF_ERROR(out.FlushIfLarge());
  }
  RETURN_IF_ERROR(out.Finish());
  return imports.size();
}

}  // namespace batchlight
