#include "export/exporter.h"

#include <array>

namespace batchlight {
namespace {

constexpr auto kExporters = std::to_array<Exporter>({
    {"sqlite", ".sqlite", "database with the tables and columns of nsys", false, ExportSqlite},
    {"jsonlines", ".jsonl", "one JSON object per event", false, ExportJsonLines},
    {"csv", "_csv", "folder with one CSV per table", true, ExportCsv},
    {"chrome", ".trace.json", "trace as torch.profiler writes it; chrome://tracing, HTA", false,
     ExportChrome},
    {"perfetto", ".pftrace", "trace for ui.perfetto.dev and trace_processor", false,
     ExportPerfetto},
    {"folded", ".folded", "stacks and their own ns, for flame graphs", false, ExportFolded},
    {"speedscope", ".speedscope.json", "profile for speedscope.app", false, ExportSpeedscope},
});

}  // namespace

std::span<const Exporter> Exporters() { return kExporters; }

const Exporter* FindExporter(std::string_view name) {
  for (const Exporter& exporter : kExporters) {
    if (exporter.name == name) return &exporter;
  }
  return nullptr;
}

}  // namespace batchlight
