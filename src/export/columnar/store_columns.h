// The columns of a store's table as those of a columnar file: each with how rows become its values.
// References are resolved as in csv (store_rows.h), with the rank beside the process; coded values
// are their labels.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "columnar/table_schema.h"
#include "columnar/text_codes.h"
#include "export/event_selection.h"
#include "export/store_rows.h"
#include "store/flat_map.h"
#include "store/store.h"

namespace batchlight {

struct StoreColumn {
  // Appends the values of these rows of the table.
  using Fill = std::function<void(std::span<const uint32_t> rows, ColumnarValues& values)>;

  ColumnarField field;
  Fill fill;
};

// Fills numbers from `value(row)`, an integer, and whether `is_there(value)`.
template <typename Value, typename IsThere>
auto FillNumbers(Value value, IsThere is_there) {
  return [value, is_there](std::span<const uint32_t> rows, ColumnarValues& values) {
    for (const uint32_t row : rows) {
      const auto number = value(row);
      values.numbers.push_back(static_cast<int64_t>(number));
      values.present.push_back(is_there(number) ? 1 : 0);
    }
  };
}

template <typename Value>
auto FillNumbers(Value value) {
  return FillNumbers(std::move(value), [](auto) { return true; });
}

// Rows that another column refers to, of which `value(row of the other table)` is shown.
template <typename Id, typename Value>
auto FillReferred(const std::vector<Id>& column, Value value) {
  return [&column, value](std::span<const uint32_t> rows, ColumnarValues& values) {
    for (const uint32_t row : rows) {
      const Id id = column[row];
      values.numbers.push_back(id.IsNone() ? 0 : static_cast<int64_t>(value(id.row())));
      values.present.push_back(id.IsNone() ? 0 : 1);
    }
  };
}

class StoreColumns {
 public:
  StoreColumns(const Store& store, const EventSelection& selection, bool since_epoch)
      : store_(store), selection_(selection), since_epoch_(since_epoch) {}

  // This, the store and the table outlive the columns.
  template <typename Table>
  std::vector<StoreColumn> Of(const Table& table) {
    columns_.clear();
    has_rank_ = requires { table.rank; };
    Add("row", ColumnarType::kInteger, "row of the table",
        FillNumbers([](size_t row) { return row; }));
    table.VisitColumns([&](std::string_view name, std::string_view doc, const auto& column) {
      AddColumn(name, doc, column);
    });
    return std::move(columns_);
  }

 private:
  // Of the process, once, in tables without a rank of their own.
  template <typename Fill>
  void AddRank(Fill fill) {
    if (has_rank_) return;
    has_rank_ = true;
    Add("rank", ColumnarType::kInteger, "of the process", std::move(fill));
  }

  void Add(std::string_view name, ColumnarType type, std::string_view help,
           StoreColumn::Fill fill) {
    const std::string_view unit = name.ends_with("_ns")                         ? "ns"
                                  : name == "bytes" || name.ends_with("_bytes") ? "bytes"
                                                                                : "";
    columns_.push_back(
        {{std::string(name), type, std::string(unit), std::string(help)}, std::move(fill)});
  }

  // For each type of value, which the columns of all tables call.
  [[gnu::noinline]] void AddColumn(std::string_view name, std::string_view doc,
                                   const std::vector<ThreadId>& column) {
    const std::string prefix = name == "thread" ? "" : std::string(name) + "_";
    const auto process = [this](size_t row) { return store_.threads.process[row]; };
    const auto fill = [&column, process](auto of_process, auto is_there) {
      return [&column, process, of_process, is_there](std::span<const uint32_t> rows,
                                                      ColumnarValues& values) {
        for (const uint32_t row : rows) {
          const ProcessId id =
              column[row].IsNone() ? ProcessId::None() : process(column[row].row());
          const int64_t value = id.IsNone() ? -1 : static_cast<int64_t>(of_process(id.row()));
          values.numbers.push_back(value);
          values.present.push_back(!id.IsNone() && is_there(value) ? 1 : 0);
        }
      };
    };
    if (prefix.empty()) {
      AddRank(fill([this](size_t row) { return store_.processes.rank[row]; },
                   [](int64_t rank) { return rank >= 0; }));
    }
    Add(prefix + "pid", ColumnarType::kInteger, doc,
        fill([this](size_t row) { return store_.processes.pid[row]; },
             [](int64_t) { return true; }));
    Add(prefix + "tid", ColumnarType::kInteger, doc,
        FillReferred(column, [this](size_t row) { return store_.threads.tid[row]; }));
  }

  [[gnu::noinline]] void AddColumn(std::string_view name, std::string_view doc,
                                   const std::vector<ProcessId>& column) {
    if (name == "process") {
      AddRank(FillNumbers(
          [this, &column](size_t row) {
            return column[row].IsNone() ? -1 : store_.processes.rank[column[row].row()];
          },
          [](int32_t rank) { return rank >= 0; }));
    }
    Add(name == "process" ? "process_pid" : std::string(name) + "_process_pid",
        ColumnarType::kInteger, doc,
        FillReferred(column, [this](size_t row) { return store_.processes.pid[row]; }));
  }

  [[gnu::noinline]] void AddColumn(std::string_view name, std::string_view doc,
                                   const std::vector<StringId>& column) {
    // The one column that holds what is no text.
    const auto type = name == "bytes" ? ColumnarType::kBytes : ColumnarType::kText;
    Add(name, type, doc,
        [this, &column, type](std::span<const uint32_t> rows, ColumnarValues& values) {
          FlatMap codes;
          for (const uint32_t row : rows) {
            const StringId id = column[row];
            values.present.push_back(id.IsNone() ? 0 : 1);
            uint32_t code = 0;
            if (!id.IsNone()) {
              code = codes.FindOrAdd(id.row(), static_cast<uint32_t>(values.texts.size()));
              if (code == values.texts.size()) values.texts.push_back(store_.Text(id));
            }
            values.codes.push_back(code);
          }
          if (type == ColumnarType::kText) MakeUtf8(values);
        });
  }

  template <typename Value>
  [[gnu::noinline]] void AddColumn(std::string_view name, std::string_view doc,
                                   const std::vector<Value>& column) {
    const auto value = [&column](size_t row) { return column[row]; };
    if constexpr (requires(Value id) { id.IsNone(); }) {
      Add(name, ColumnarType::kInteger, doc, FillReferred(column, [](size_t row) { return row; }));
    } else if constexpr (std::is_same_v<Value, YesNo>) {
      Add(name, ColumnarType::kBool, doc,
          FillNumbers([&column](size_t row) { return IsYes(column[row]); }));
    } else if constexpr (kIsKind<Value>) {
      Add(name, ColumnarType::kText, doc,
          [&column](std::span<const uint32_t> rows, ColumnarValues& values) {
            TextCodes codes(values);
            for (const uint32_t row : rows) {
              const std::string_view label = Label(column[row]);
              values.present.push_back(label.empty() ? 0 : 1);
              values.codes.push_back(label.empty() ? 0 : codes.CodeOf(label));
            }
          });
    } else if constexpr (std::is_floating_point_v<Value>) {
      Add(name, ColumnarType::kReal, doc,
          [&column](std::span<const uint32_t> rows, ColumnarValues& values) {
            for (const uint32_t row : rows) {
              values.present.push_back(std::isfinite(column[row]) ? 1 : 0);
              values.reals.push_back(values.present.back() != 0 ? column[row] : 0);
            }
          });
    } else if constexpr (std::is_same_v<Value, int64_t>) {
      const bool is_moment = IsMoment(name);
      const int64_t shift_ns = is_moment ? selection_.shift_ns() : 0;
      Add(name, is_moment && since_epoch_ ? ColumnarType::kTimestampNs : ColumnarType::kInteger,
          doc, [&column, shift_ns](std::span<const uint32_t> rows, ColumnarValues& values) {
            for (const uint32_t row : rows) {
              const int64_t number = column[row];
              const bool known = number != kOpenEnd && number != INT64_MIN;
              values.present.push_back(known ? 1 : 0);
              values.numbers.push_back(known ? AddTimes(number, shift_ns) : 0);
            }
          });
    } else if constexpr (std::is_same_v<Value, int32_t>) {
      Add(name, ColumnarType::kInteger, doc,
          FillNumbers(value, [](int32_t number) { return number != INT32_MIN; }));
    } else {
      Add(name, std::is_same_v<Value, uint64_t> ? ColumnarType::kUnsigned : ColumnarType::kInteger,
          doc, FillNumbers(value));
    }
  }

  const Store& store_;
  const EventSelection& selection_;
  const bool since_epoch_;
  std::vector<StoreColumn> columns_;
  bool has_rank_ = false;
};

}  // namespace batchlight
