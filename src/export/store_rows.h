// Rows of any store table as named values with their references resolved: for the formats that show
// the store as it is (jsonlines, csv). Strings come as text, a thread as pid and tid, a process as
// pid, rows of other tables as numbers; times are shifted; a missing value is a null.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "export/event_selection.h"
#include "store/store.h"

namespace batchlight {

// Selects by time and process; a criterion does not apply to a table without such a column.
template <typename Table>
bool SelectsRow(const EventSelection& selection, const Table& table, size_t row) {
  if constexpr (std::is_same_v<Table, ProcessesTable>) {
    if (!selection.HasProcess(ProcessId::At(row))) return false;
  } else if constexpr (requires { table.process; }) {
    if (!selection.HasProcess(table.process[row])) return false;
  } else if constexpr (requires { table.thread; }) {
    if (!selection.HasThread(table.thread[row])) return false;
  }
  if constexpr (requires {
                  table.start_ns;
                  table.end_ns;
                }) {
    return selection.HasTime(table.start_ns[row], table.end_ns[row]);
  } else if constexpr (requires { table.start_ns; }) {
    return selection.HasTime(table.start_ns[row], table.start_ns[row]);
  } else {
    return true;
  }
}

// Whether a column of this name is a point in time, which a shift of the clock moves: cpu_ns and
// others are durations.
inline bool IsMoment(std::string_view name) {
  return name == "start_ns" || name == "end_ns" || name == "created_ns";
}

// Calls out.Null(name), out.Integer(name, i64), out.Unsigned(name, u64), out.Real(name, f64) or
// out.Text(name, bytes) for each value of a row, "row" first.
template <typename Table, typename Out>
void VisitRow(const Store& store, const EventSelection& selection, const Table& table, size_t row,
              Out& out) {
  out.Unsigned("row", row);
  table.VisitColumns([&](std::string_view name, std::string_view, const auto& column) {
    const auto value = column[row];
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, StringId>) {
      if (value.IsNone()) {
        out.Null(name);
      } else {
        out.Text(name, store.Text(value));
      }
    } else if constexpr (std::is_same_v<Value, ThreadId>) {
      const bool main = name == "thread";
      const std::string prefix = main ? "" : std::string(name) + "_";
      const ProcessId process = store.ProcessOf(value);
      if (process.IsNone()) {
        out.Null(prefix + "pid");
      } else {
        out.Unsigned(prefix + "pid", store.processes.pid[process.row()]);
      }
      if (value.IsNone()) {
        out.Null(prefix + "tid");
      } else {
        out.Unsigned(prefix + "tid", store.threads.tid[value.row()]);
      }
    } else if constexpr (std::is_same_v<Value, ProcessId>) {
      // Not named parent_pid: that column holds what the system said, which may be a process that
      // was not recorded.
      const std::string label =
          name == "process" ? "process_pid" : std::string(name) + "_process_pid";
      if (value.IsNone()) {
        out.Null(label);
      } else {
        out.Unsigned(label, store.processes.pid[value.row()]);
      }
    } else if constexpr (requires { value.IsNone(); }) {
      if (value.IsNone()) {
        out.Null(name);
      } else {
        out.Unsigned(name, value.row());
      }
    } else if constexpr (kIsKind<Value>) {
      out.Unsigned(name, Number(value));
    } else if constexpr (std::is_floating_point_v<Value>) {
      out.Real(name, value);
    } else if constexpr (std::is_same_v<Value, int64_t>) {
      if (value == kOpenEnd) {
        out.Null(name);
      } else {
        out.Integer(name, IsMoment(name) ? selection.Shifted(value) : value);
      }
    } else if constexpr (std::is_signed_v<Value>) {
      out.Integer(name, value);
    } else {
      out.Unsigned(name, value);
    }
  });
}

}  // namespace batchlight
