// The file formats of `batchlight export`, listed in kExporters in exporter.cpp. A format takes the
// store and writes a file, or a folder of files; a partial file never has the final name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "analysis/steps/steps.h"
#include "base/file.h"
#include "base/status.h"
#include "export/event_selection.h"
#include "store/store.h"

namespace batchlight {

// What the stacks of folded, speedscope and pprof are of.
enum class ExportStacks : uint8_t {
  kCalls,          // ranges, modules, operators, calls of CUDA
  kPython,         // lines that called operators
  kNative,         // functions that CPU samples found
  kNativePhases,   // the same under the phase of the step that they lie in
  kNativeIdle,     // the same of launching threads while a GPU waited, under its cause
  kPythonSamples,  // functions of Python that looks from outside found
  kCudaCalls,      // native functions, and Python's, that made long calls of CUDA
  kOsCalls,        // native functions that made long calls of the C library
  // Lines of Python by bytes, of RAM and of GPUs: held at the peak, and allocated in all.
  kMemory,
  kAllocations,
  kGpuMemory,
  kGpuAllocations,
};

inline bool IsOfBytes(ExportStacks stacks) { return stacks >= ExportStacks::kMemory; }

// Whether they are those of export/text/named_stacks.h.
inline bool IsNamed(ExportStacks stacks) {
  return stacks != ExportStacks::kCalls && stacks != ExportStacks::kPython;
}

struct ExportOptions {
  std::string output;            // file, "-" or a pipe; folder when the format is a folder
  const Folder* into = nullptr;  // takes the output, under the last part of its name
  bool append = false;           // folders: add to the files that are there
  bool lazy = true;              // sqlite, parquet, arrow: leave tables without rows out
  bool by_gpu = false;           // folded: time of the work on the GPU that a stack launched
  ExportStacks stacks = ExportStacks::kCalls;  // folded, speedscope, pprof
  bool spreadsheet = false;                    // csv: no text that could be a formula
  EventSelection selection;                    // --tables, --times, --ts-shift, --ts-normalize
  StepOptions steps;                           // chrome: what is written as ProfilerStep#
  bool operators_as_ranges = false;            // sqlite: in NVTX_EVENTS too
  // Of a store that is one rank of several and may not know which; -1: what the store says.
  int32_t rank = -1;
  int32_t world_size = 0;
  bool since_epoch = false;  // --ts-normalize: the selection's shift has the first store's start
};

enum class ExportForm : uint8_t {
  kText,      // one file from begin to end: can go to a pipe
  kDatabase,  // one file, written in any order
  kFolder,
};

struct Exporter {
  std::string_view name;       // of -t
  std::string_view extension;  // of the default output, with dot: ".sqlite"
  std::string_view help;       // what it is and what reads it
  ExportForm form;
  // Returns the number of events written. `options.output` does not exist, or may be replaced.
  // Errors: kOutput, kUsage for an option the format cannot honour.
  Result<uint64_t> (*run)(const Store& store, const ExportOptions& options);
};

std::span<const Exporter> Exporters();
const Exporter* FindExporter(std::string_view name);  // null if there is none

// Where a format of form kText writes. Errors: kOutput.
Result<AtomicFileWriter> OpenOutput(const ExportOptions& options);

// The formats.
Result<uint64_t> ExportSqlite(const Store& store, const ExportOptions& options);
Result<uint64_t> ExportJsonLines(const Store& store, const ExportOptions& options);
Result<uint64_t> ExportCsv(const Store& store, const ExportOptions& options);
Result<uint64_t> ExportParquet(const Store& store, const ExportOptions& options);
Result<uint64_t> ExportArrow(const Store& store, const ExportOptions& options);
Result<uint64_t> ExportChrome(const Store& store, const ExportOptions& options);
Result<uint64_t> ExportPerfetto(const Store& store, const ExportOptions& options);
Result<uint64_t> ExportFolded(const Store& store, const ExportOptions& options);
Result<uint64_t> ExportImportTime(const Store& store, const ExportOptions& options);
Result<uint64_t> ExportSpeedscope(const Store& store, const ExportOptions& options);
Result<uint64_t> ExportPprof(const Store& store, const ExportOptions& options);
Result<uint64_t> ExportPstats(const Store& store, const ExportOptions& options);
Result<uint64_t> ExportLprof(const Store& store, const ExportOptions& options);
Result<uint64_t> ExportMprof(const Store& store, const ExportOptions& options);
Result<uint64_t> ExportMemorySnapshot(const Store& store, const ExportOptions& options);

}  // namespace batchlight
