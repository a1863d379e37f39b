#include "analysis/os/file_sums.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/numbers/closed_end.h"

namespace batchlight {

namespace {

// Calls are not told apart: they are taken as even over the time from the first to the close.
double PartInSteps(const Store& store, const OsFilesRow& file, const NsInSteps& in_steps) {
  const int64_t end_ns = std::max(ClosedEnd(store, file.start_ns, file.end_ns), file.start_ns + 1);
  return double(in_steps(file.process, file.start_ns, end_ns)) / double(end_ns - file.start_ns);
}

}  // namespace

std::vector<FileSum> SumFiles(const Store& store, const NsInSteps& in_steps) {
  std::map<StringId, FileSum> sums;
  std::map<StringId, std::set<ProcessId>> processes;
  const OsFilesTable& files = store.os_files;
  for (size_t row = 0; row < files.size(); ++row) {
    FileSum& sum = sums[files.file[row]];
    ++sum.opened;
    sum.reads += files.reads[row];
    sum.bytes_read += files.bytes_read[row];
    sum.read_ns += files.read_ns[row];
    sum.writes += files.writes[row];
    sum.bytes_written += files.bytes_written[row];
    sum.write_ns += files.write_ns[row];
    sum.slowest_ns = std::max(sum.slowest_ns, files.slowest_ns[row]);
    sum.bytes_in_steps += double(files.bytes_read[row] + files.bytes_written[row]) *
                          PartInSteps(store, files.Row(row), in_steps);
    processes[files.file[row]].insert(files.process[row]);
  }
  std::vector<FileSum> result;
  for (auto& [file, sum] : sums) {
    sum.file = file;
    sum.processes = processes[file].size();
    result.push_back(sum);
  }
  const auto order = [&](const FileSum& sum) {
    return std::tuple(-(sum.read_ns + sum.write_ns),
                      -static_cast<int64_t>(sum.bytes_read + sum.bytes_written),
                      store.Text(sum.file));
  };
  std::sort(result.begin(), result.end(),
            [&](const FileSum& a, const FileSum& b) { return order(a) < order(b); });
  return result;
}

}  // namespace batchlight
