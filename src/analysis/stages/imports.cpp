#include "analysis/stages/imports.h"

#include <algorithm>

#include "analysis/numbers/closed_end.h"
#include "store/interval_index.h"

namespace batchlight {
namespace {

std::string_view LastPart(std::string_view name, char separator) {
  return name.substr(name.rfind(separator) + 1);
}

// Of two files that come with an import: an extension module's own is named after the module
// ("torch._C": "_C.cpython-311-x86_64-linux-gnu.so"), Python's is no library at all.
bool IsLibraryBeside(std::string_view module, std::string_view file) {
  const std::string_view name = LastPart(file, '/');
  const size_t stem = name.find('.');
  const std::string_view ending = name.substr(std::min(stem, name.size()));
  const bool is_library = ending.ends_with(".so") || ending.find(".so.") != std::string_view::npos;
  return is_library && name.substr(0, stem) != LastPart(module, '.');
}

class Imports {
 public:
  explicit Imports(const Store& store) : store_(store), place_(store.phase_calls.size(), kNoRow) {}

  std::vector<Import> Find() {
    const PhaseCallsTable& calls = store_.phase_calls;
    for (uint32_t row = 0; row < calls.size(); ++row) {
      const bool is_row =
          calls.phase[row] == Phase::kImport || calls.phase[row] == Phase::kRecorderBuild;
      if (is_row && !calls.thread[row].IsNone()) Add(row);
    }
    AddFiles();
    AddCuda();
    return std::move(found_);
  }

 private:
  // The import around a call; kNoRow: none.
  uint32_t Around(PhaseCallId call) const {
    for (; !call.IsNone(); call = store_.phase_calls.parent[call.row()]) {
      if (place_[call.row()] != kNoRow) return place_[call.row()];
    }
    return kNoRow;
  }

  void Add(uint32_t row) {
    const PhaseCallsTable& calls = store_.phase_calls;
    const int64_t start_ns = calls.start_ns[row];
    const int64_t ns = ClosedEnd(store_, start_ns, calls.end_ns[row]) - start_ns;
    const uint32_t around = Around(calls.parent[row]);
    if (around != kNoRow) found_[around].self_ns -= ns;
    const bool builds = calls.phase[row] == Phase::kRecorderBuild;
    for (uint32_t outer = builds ? around : kNoRow; outer != kNoRow; outer = around_[outer]) {
      found_[outer].total_ns -= ns;
    }
    place_[row] = static_cast<uint32_t>(found_.size());
    around_.push_back(around);
    found_.push_back({.thread = calls.thread[row],
                      .module = calls.name[row],
                      .depth = around == kNoRow ? 0 : found_[around].depth + 1,
                      .is_recorder = builds || (around != kNoRow && found_[around].is_recorder),
                      .start_ns = start_ns,
                      .total_ns = ns,
                      .self_ns = ns});
  }

  void AddFiles() {
    const ImportedFilesTable& files = store_.imported_files;
    for (size_t i = 0; i < files.size(); ++i) {
      const uint32_t place = Around(files.phase_call[i]);
      if (place == kNoRow) continue;
      Import& import = found_[place];
      if (IsLibraryBeside(store_.Text(import.module), store_.Text(files.file[i]))) {
        import.libraries.push_back(files.file[i]);
      } else {
        import.file = files.file[i];
      }
      import.bytes += files.bytes[i];
    }
    for (uint32_t place = static_cast<uint32_t>(found_.size()); place-- > 0;) {
      found_[place].total_bytes += found_[place].bytes;  // those inside have been added
      if (around_[place] != kNoRow) found_[around_[place]].total_bytes += found_[place].total_bytes;
    }
  }

  void AddCuda() {
    if (found_.empty() || store_.api_calls.size() == 0) return;
    const PhaseCallsTable& calls = store_.phase_calls;
    const IntervalIndex imports(calls.thread, calls.start_ns, calls.end_ns,
                                [&](uint32_t row) { return place_[row] == kNoRow; });
    const ApiCallsTable& cuda = store_.api_calls;
    int64_t end_ns = INT64_MIN;  // of the call before: those inside it count with it
    ThreadId thread;
    for (size_t row = 0; row < cuda.size(); ++row) {
      if (cuda.thread[row].IsNone()) continue;
      if (cuda.thread[row] != thread) end_ns = INT64_MIN;
      thread = cuda.thread[row];
      if (cuda.start_ns[row] < end_ns) continue;
      end_ns = ClosedEnd(store_, cuda.start_ns[row], cuda.end_ns[row]);
      uint32_t inside = imports.Innermost(thread, cuda.start_ns[row]);
      for (; inside != kNoRow; inside = imports.Outer(inside, cuda.start_ns[row])) {
        found_[place_[inside]].cuda_ns += end_ns - cuda.start_ns[row];
      }
    }
  }

  const Store& store_;
  std::vector<uint32_t> place_;  // in found_, by row of phase_calls
  std::vector<Import> found_;
  std::vector<uint32_t> around_;  // by place in found_: the import around it
};

}  // namespace

std::vector<Import> FindImports(const Store& store) { return Imports(store).Find(); }

}  // namespace batchlight
