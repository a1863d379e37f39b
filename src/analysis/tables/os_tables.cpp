#include "analysis/tables/os_tables.h"

#include <string>

#include "analysis/os/file_sums.h"
#include "analysis/os/library_sums.h"
#include "analysis/os/os_call_sums.h"
#include "analysis/result/result_column.h"
#include "analysis/run/steps_alone.h"

namespace batchlight {
namespace {

template <typename Sum>
struct OsRow {
  const Store& store;
  Sum sum;
};

template <typename Sum>
std::function<Cell(const OsRow<Sum>&)> Of(uint64_t Sum::*count) {
  return [count](const OsRow<Sum>& row) { return NumberCell(row.sum.*count); };
}
template <typename Sum>
std::function<Cell(const OsRow<Sum>&)> Of(int64_t Sum::*ns) {
  return [ns](const OsRow<Sum>& row) { return Cell{row.sum.*ns}; };
}
template <typename Sum>
std::function<Cell(const OsRow<Sum>&)> Of(StringId Sum::*text) {
  return [text](const OsRow<Sum>& row) { return std::string(row.store.Text(row.sum.*text)); };
}

const Columns<OsRow<OsCallSum>>& OsCallColumns() {
  static const Columns<OsRow<OsCallSum>> columns = {
      {TextColumn("call", "Call", "Function of the C library"), Of(&OsCallSum::name)},
      {CountColumn("calls", "Calls", "All, however short"), Of(&OsCallSum::calls)},
      {TimeColumn("total", "Total", "In all calls; locks taken without a wait count 0"),
       Of(&OsCallSum::total_ns)},
      {CountColumn("recorded", "Recorded",
                   "Calls of at least --osrt-threshold, recorded one by one"),
       Of(&OsCallSum::recorded)},
      {TimeColumn("recorded_total", "Recorded Total", "In those"), Of(&OsCallSum::recorded_ns)},
      {TimeColumn("longest", "Longest", "The longest call"), Of(&OsCallSum::longest_ns)},
      {CountColumn("bytes", "Bytes", "Read or written"), Of(&OsCallSum::bytes)},
      {CountColumn("threads", "Threads", "Threads that called it"), Of(&OsCallSum::threads)}};
  return columns;
}

Columns<OsRow<FileSum>> FileColumns(uint64_t steps) {
  return {
      {TextColumn("file", "File", "Path, or a pipe or socket by its number"), Of(&FileSum::file)},
      {TimeColumn("read_time", "Read Time", "In calls that read it"), Of(&FileSum::read_ns)},
      {CountColumn("bytes_read", "Bytes Read", "By these calls"), Of(&FileSum::bytes_read)},
      {CountColumn("reads", "Reads", "Calls, however short"), Of(&FileSum::reads)},
      {TimeColumn("write_time", "Write Time", "In calls that wrote it"), Of(&FileSum::write_ns)},
      {CountColumn("bytes_written", "Bytes Written", "By these calls"),
       Of(&FileSum::bytes_written)},
      {CountColumn("writes", "Writes", "Calls, however short"), Of(&FileSum::writes)},
      {TimeColumn("slowest", "Slowest", "The longest of these calls"), Of(&FileSum::slowest_ns)},
      {CountColumn("opened", "Opened", "Times that it was open"), Of(&FileSum::opened)},
      {CountColumn("processes", "Processes", "That read or wrote it"), Of(&FileSum::processes)},
      {CountColumn("bytes_per_step", "Bytes per Step",
                   "Read or written; of files that were open longer, by the part of that time"),
       [steps](const OsRow<FileSum>& row) {
         if (steps == 0) return Cell{};
         return NumberCell(static_cast<uint64_t>(row.sum.bytes_in_steps / double(steps) + 0.5));
       }}};
}

const Columns<OsRow<LibrarySum>>& LibraryColumns() {
  static const Columns<OsRow<LibrarySum>> columns = {
      {TextColumn("library", "Library", "cuBLAS (with cuBLASLt), cuDNN, cuSPARSE or cuSOLVER"),
       [](const OsRow<LibrarySum>& row) { return std::string(Label(row.sum.family)); }},
      {TextColumn("call", "Call", "Function of the library"), Of(&LibrarySum::name)},
      {CountColumn("calls", "Calls", "Times it was called"), Of(&LibrarySum::calls)},
      {TimeColumn("cpu_total", "CPU Total", "In the calls, with calls of libraries inside"),
       Of(&LibrarySum::total_ns)},
      {TimeColumn("longest", "Longest", "The longest call: often the first one"),
       Of(&LibrarySum::longest_ns)},
      {CountColumn("kernels", "Kernels", "Launched by it, not by another call inside"),
       Of(&LibrarySum::kernels)},
      {TimeColumn("gpu_total", "GPU Total", "That these kernels ran"), Of(&LibrarySum::gpu_ns)}};
  return columns;
}

template <typename Sum>
ResultTable OsTable(const Store& store, std::string name, std::string title,
                    const Columns<OsRow<Sum>>& columns, const std::vector<Sum>& sums) {
  ResultTable table = EmptyTable(std::move(name), std::move(title), columns);
  for (const Sum& sum : sums) AddRow(table, columns, OsRow<Sum>{store, sum});
  return table;
}

}  // namespace

ResultTable MakeOsCallsTable(const RunOverview& overview) {
  return OsTable(*overview.store, "os_calls", "Calls of the C library", OsCallColumns(),
                 SumOsCalls(*overview.store));
}

ResultTable MakeFilesTable(const RunOverview& overview) {
  const TimesOfSteps times(overview.steps, *overview.store);
  const auto in_steps = [&](ProcessId process, int64_t start_ns, int64_t end_ns) {
    return times.NsOf(process, start_ns, end_ns);
  };
  uint64_t steps = 0;
  for (const ProcessSteps& process : overview.steps.processes) steps += process.steady.size();
  return OsTable(*overview.store, "files", "Files, by time in reads and writes", FileColumns(steps),
                 SumFiles(*overview.store, in_steps));
}

ResultTable MakeLibraryCallsTable(const RunOverview& overview) {
  return OsTable(*overview.store, "library_calls", "Calls of CUDA's libraries", LibraryColumns(),
                 SumLibraryCalls(*overview.store));
}

}  // namespace batchlight
