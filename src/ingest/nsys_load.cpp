#include "ingest/nsys_load.h"

#include <algorithm>

namespace batchlight::nsys {
namespace {

constexpr int64_t kLargestTime = int64_t{1} << 61;  // differences of two still fit

}  // namespace

uint32_t GlobalIds::Number(int64_t global) {
  if (global == last_ && last_number_ != UINT32_MAX) return last_number_;
  const auto [place, added] = numbers_.try_emplace(global, static_cast<uint32_t>(all_.size()));
  if (added) all_.push_back(global);
  last_ = global;
  last_number_ = place->second;
  return last_number_;
}

Status Strings::Load(const NsysDatabase& database, Store& store) {
  ASSIGN_OR_RETURN(NsysTable rows, NsysTable::Open(database, "StringIds", {"id", "value"}));
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

ThreadId Load::Thread(NsysTable& rows, int column) {
  if (rows.IsNull(column)) return ThreadId::None();
  return ThreadId{threads.Number(rows.Int(column))};
}

ProcessId Load::Process(NsysTable& rows, int column) {
  if (rows.IsNull(column)) return ProcessId::None();
  return ProcessId{processes.Number(rows.Int(column) & kProcessMask)};
}

StringId Load::String(NsysTable& rows, int column) const {
  return strings->Get(rows.Int(column, kNoString));
}

void Load::NoteMissing(const NsysTable& rows) {
  if (rows.Missing().empty()) return;
  notes.push_back("table " + rows.name() + " has no column " + rows.Missing() +
                  ": what they hold is taken as absent");
}

bool Times::Bad() {
  if (bad_rows_++ == 0) first_bad_row_ = rows_.row();
  return false;
}

bool Times::Read(int start_column, int end_column, bool may_be_open) {
  start_ = rows_.Int(start_column);
  end_ = rows_.Int(end_column, kOpenEnd);
  if (start_ < -kLargestTime || start_ > kLargestTime) return Bad();
  if (end_ == kOpenEnd) return may_be_open ? true : Bad();
  if (end_ < start_ || end_ > kLargestTime) return Bad();
  return true;
}

bool Times::ReadInstant(int column) {
  start_ = end_ = rows_.Int(column);
  return start_ >= -kLargestTime && start_ <= kLargestTime ? true : Bad();
}

Status Times::Done(Load& load) {
  RETURN_IF_ERROR(rows_.status());
  if (bad_rows_ > 0) {
    load.notes.push_back("table " + rows_.name() + ": " + std::to_string(bad_rows_) +
                         " row(s) end before they start or lie out of range and are left out; "
                         "the first is row " +
                         std::to_string(first_bad_row_));
  }
  return Status();
}

}  // namespace batchlight::nsys
