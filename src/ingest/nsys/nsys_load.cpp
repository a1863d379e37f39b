#include "ingest/nsys/nsys_load.h"

#include <algorithm>

#include "nsys/info_tables.h"

namespace batchlight::nsys {

uint32_t GlobalIds::Number(int64_t global) {
  if (global == last_ && last_number_ != UINT32_MAX) return last_number_;
  const auto [place, added] = numbers_.try_emplace(global, static_cast<uint32_t>(all_.size()));
  if (added) all_.push_back(global);
  last_ = global;
  last_number_ = place->second;
  return last_number_;
}

Status Strings::Load(const NsysDatabase& database, Store& store) {
  ASSIGN_OR_RETURN(NsysTable rows,
                   NsysTable::Open(database, kStringIds.name, ReadColumns(kStringIds)));
  while (rows.Next()) {
    const int64_t id = rows.Int(0, -1);
    const StringId string = store.strings.Intern(rows.Text(1));
    if (id >= 0 && static_cast<uint64_t>(id) == dense_.size()) {
      dense_.push_back(string);
    } else {
      sparse_.insert_or_assign(id, string);
    }
  }
  RETURN_IF_ERROR(rows.status());
  unknown_ = store.strings.Intern("[string missing in the file]");
  return Status();
}

StringId Strings::Get(int64_t id) const {
  if (id >= 0 && static_cast<uint64_t>(id) < dense_.size()) {
    return dense_[static_cast<size_t>(id)];
  }
  if (id == kNoString) return StringId::None();
  const auto place = sparse_.find(id);
  return place == sparse_.end() ? unknown_ : place->second;
}

ThreadId Load::Thread(std::optional<int64_t> global) {
  return global.has_value() ? ThreadId{threads.Number(*global)} : ThreadId::None();
}

ProcessId Load::Process(std::optional<int64_t> global) {
  return global.has_value() ? ProcessId{processes.Number(*global & kProcessMask)}
                            : ProcessId::None();
}

StringId Load::String(std::optional<int64_t> id, const NsysTable& rows) {
  const StringId string = strings->Get(id.value_or(kNoString));
  if (string == strings->unknown()) dangling_strings.Add(rows);
  return string;
}

ThreadId Load::Thread(NsysTable& rows, int column) {
  return rows.IsNull(column) ? ThreadId::None() : ThreadId{threads.Number(rows.Int(column))};
}

ProcessId Load::Process(NsysTable& rows, int column) {
  return rows.IsNull(column) ? ProcessId::None() : Process(rows.Int(column));
}

StringId Load::String(NsysTable& rows, int column) {
  return String(rows.Int(column, kNoString), rows);
}

void Load::NoteMissing(const NsysTable& rows) {
  if (rows.Missing().empty()) return;
  notes.push_back("table " + rows.name() + " has no column " + rows.Missing() +
                  ": what they hold is taken as absent");
}

void Load::NoteFaults(const NsysTable& rows) {
  dangling_strings.Note(rows.name(), "name a string that the file does not have", notes);
  narrow_numbers.Note(rows.name(), "hold a number beyond the range of its column, taken as absent",
                      notes);
}

void FaultyRows::Note(std::string_view table, std::string_view what,
                      std::vector<std::string>& notes) {
  if (count_ > 0) {
    notes.push_back("table " + std::string(table) + ": " + std::to_string(count_) + " row(s) " +
                    std::string(what) + " (first: " + first_ + ")");
  }
  *this = FaultyRows();
}

bool RowChecks::Bad(FaultyRows& fault) {
  fault.Add(rows_);
  return false;
}

bool RowChecks::ReadStart(int column) {
  if (rows_.IsNull(column)) return Bad(without_time_);
  start_ = rows_.Int(column);
  if (!IsPossibleTime(start_)) return Bad(impossible_time_);
  if (start_ < 0) early_.Add(rows_);
  return true;
}

bool RowChecks::ReadTimes(int start_column, int end_column, bool may_be_open) {
  if (!ReadStart(start_column)) return false;
  end_ = rows_.Int(end_column, kOpenEnd);
  if (end_ == kOpenEnd) return may_be_open ? true : Bad(without_time_);
  if (end_ < start_) return Bad(backward_);
  if (!IsPossibleTime(end_) || !durations_.Add(end_ - start_)) return Bad(impossible_time_);
  return true;
}

bool RowChecks::ReadInstant(int column, bool may_lack) {
  if (may_lack && rows_.IsNull(column)) {
    start_ = end_ = kOpenEnd;
    return true;
  }
  if (!ReadStart(column)) return false;
  end_ = start_;
  return true;
}

bool RowChecks::TakeBytes(int64_t bytes) {
  return bytes_.Add(bytes) ? true : Bad(impossible_size_);
}

Status RowChecks::Done(Load& load) {
  RETURN_IF_ERROR(rows_.status());
  const std::string& table = rows_.name();
  without_time_.Note(table, "have no start or no end and are left out", load.notes);
  backward_.Note(table, "end before they start and are left out", load.notes);
  impossible_time_.Note(table,
                        "have a time that cannot be (beyond 2^61 ns, or longer than 104 days)"
                        " and are left out",
                        load.notes);
  impossible_size_.Note(table,
                        "have a size that cannot be (negative, or beyond 2^53 bytes) and are "
                        "left out",
                        load.notes);
  early_.Note(table, "start before time 0", load.notes);
  load.NoteFaults(rows_);
  return Status();
}

}  // namespace batchlight::nsys
