#include "export/exporter.h"

#include <array>

namespace batchlight {
namespace {

constexpr auto kExporters = std::to_array<Exporter>({
    {"sqlite", ".sqlite", "database with the tables and columns of nsys", ExportForm::kDatabase,
     ExportSqlite},
    {"jsonlines", ".jsonl", "one JSON object per event", ExportForm::kText, ExportJsonLines},
    {"csv", "_csv", "folder with one CSV per table", ExportForm::kFolder, ExportCsv},
    {"parquet", "_parquet", "folder with one Parquet file per table, for DuckDB, pandas, Spark",
     ExportForm::kFolder, ExportParquet},
    {"arrow", "_arrow", "the same as Arrow IPC files (Feather)", ExportForm::kFolder, ExportArrow},
    {"chrome", ".trace.json", "trace as torch.profiler writes it; chrome://tracing, HTA",
     ExportForm::kText, ExportChrome},
    {"perfetto", ".pftrace", "trace for ui.perfetto.dev and trace_processor", ExportForm::kText,
     ExportPerfetto},
    {"folded", ".folded", "stacks and their own ns, for flame graphs", ExportForm::kText,
     ExportFolded},
    {"speedscope", ".speedscope.json", "profile for speedscope.app", ExportForm::kText,
     ExportSpeedscope},
    {"pprof", ".pb", "stacks with calls, CPU and GPU time, or bytes, for go tool pprof",
     ExportForm::kText, ExportPprof},
    {"pstats", ".pstats", "exact counts of functions, for pstats, snakeviz, gprof2dot",
     ExportForm::kText, ExportPstats},
    {"lprof", ".lprof", "exact counts of lines, for python -m line_profiler", ExportForm::kText,
     ExportLprof},
    {"importtime", ".importtime", "imports as python -X importtime prints them; tuna",
     ExportForm::kText, ExportImportTime},
    {"mprof", ".dat", "resident memory over time with ranges, for mprof plot (memory_profiler)",
     ExportForm::kText, ExportMprof},
    {"memory-snapshot", ".snapshot.pickle",
     "GPU memory of PyTorch's allocator as torch.cuda.memory's snapshot, for memory_viz",
     ExportForm::kText, ExportMemorySnapshot},
});

}  // namespace

std::span<const Exporter> Exporters() { return kExporters; }

const Exporter* FindExporter(std::string_view name) {
  for (const Exporter& exporter : kExporters) {
    if (exporter.name == name) return &exporter;
  }
  return nullptr;
}

Result<AtomicFileWriter> OpenOutput(const ExportOptions& options) {
  if (options.into == nullptr && IsStream(options.output)) {
    return AtomicFileWriter::Stream(options.output);
  }
  return AtomicFileWriter::Create(options.output, {.folder = options.into});
}

}  // namespace batchlight
