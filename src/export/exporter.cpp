#include "export/exporter.h"

#include <array>

namespace batchlight {
namespace {

constexpr auto kExporters = std::to_array<Exporter>({
    {"sqlite", ".sqlite", "database with the tables and columns of nsys", false, ExportSqlite},
    {"jsonlines", ".jsonl", "one JSON object per event", false, ExportJsonLines},
    {"csv", "_csv", "folder with one CSV per table", true, ExportCsv},
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
