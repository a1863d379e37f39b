#include "ingest/nsys/nsys_sqlite.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "base/thread_pool.h"
#include "base/work_progress.h"
#include "ingest/nsys/nsys_load.h"
#include "ingest/nsys/nsys_unite.h"
#include "nsys/foreign_tables.h"
#include "nsys/schema_version.h"
#include "nsys/source_format.h"
#include "nsys/tables.h"
#include "store/finish.h"
#include "store/reason_features.h"

namespace batchlight {
namespace {

// Each job fills tables of its own. Only NVTX among them interns strings.
using Job = Status (*)(nsys::Load&);
constexpr std::array<Job, 7> kJobs = {
    nsys::LoadApiCalls,         nsys::LoadNvtx,      nsys::LoadKernels,      nsys::LoadOsCalls,
    nsys::LoadMemoryOperations, nsys::LoadGpuEvents, nsys::LoadUnifiedMemory};

bool IsNsysExport(const NsysDatabase& database) {
  if (database.Find(nsys::kStringIds.name) == nullptr) return false;
  for (const NsysDatabase::Table& table : database.tables()) {
    for (const std::string_view mark :
         {nsys::kExportFacts.name, nsys::kSessionStart.name, nsys::kNvtxEvents.name,
          nsys::kRuntime.name, nsys::kKernel.name, nsys::kOsRuntime.name,
          nsys::kAnalysisDetails.name, nsys::kMpiOther.name}) {
      if (table.name == mark) return true;
    }
  }
  return false;
}

// EXPORT_SCHEMA_VERSION; 0 where the file does not say.
struct Schema {
  int major = 0;
  int minor = 0;
};

Result<Schema> ReadSchemaVersion(const NsysDatabase& database) {
  ASSIGN_OR_RETURN(NsysTable rows, NsysTable::Open(database, nsys::kExportFacts.name,
                                                   nsys::ReadColumns(nsys::kExportFacts)));
  Schema schema;
  while (rows.Next()) {
    const std::string_view name = rows.Text(0);
    if (name != "EXPORT_SCHEMA_VERSION_MAJOR" && name != "EXPORT_SCHEMA_VERSION_MINOR") continue;
    int& part = name.ends_with("MINOR") ? schema.minor : schema.major;
    const std::string_view value = rows.Text(1);
    std::from_chars(value.data(), value.data() + value.size(), part);
  }
  RETURN_IF_ERROR(rows.status());
  return schema;
}

void AddReason(Store& store, std::string_view feature, std::string_view text) {
  store.reasons.Append(
      {.feature = store.strings.Intern(feature), .text = store.strings.Intern(text)});
}

void NoteUnread(const NsysDatabase& database, Store& store) {
  std::string unread;
  for (const nsys::ForeignTable& foreign : nsys::kForeignTables) {
    if (foreign.what.empty()) continue;
    const NsysDatabase::Table* table = database.Find(foreign.name);
    if (table == nullptr) continue;
    unread += (unread.empty() ? "" : ", ") + table->name + " (" + std::string(foreign.what) + ")";
  }
  if (!unread.empty()) AddReason(store, kUnreadFeature, "tables that are not read: " + unread);
}

// Newer schemas than those known are read too, but what they add is ignored.
void NoteSchema(const Schema& schema, Store& store) {
  if (schema.major == 0 && schema.minor == 0) return;  // exported without META_DATA_EXPORT
  const int major = schema.major == 0 ? nsys::kSchemaMajor : schema.major;
  const bool same = major == nsys::kSchemaMajor;
  const bool newer = major > nsys::kSchemaMajor || (same && schema.minor > nsys::kNewestMinor);
  const bool older = major < nsys::kSchemaMajor || (same && schema.minor < nsys::kOldestMinor);
  if (!newer && !older) return;
  const auto version = [](int minor) {
    return std::to_string(nsys::kSchemaMajor) + "." + std::to_string(minor);
  };
  AddReason(store, kImportFeature,
            "schema " + std::to_string(major) + "." + std::to_string(schema.minor) + " is " +
                (newer ? "newer than " + version(nsys::kNewestMinor) + ", the newest"
                       : "older than " + version(nsys::kOldestMinor) + ", the oldest") +
                " that was tried: tables and columns may be missing");
}

void SetDuration(Store& store) {
  store.VisitTables([&](const auto& table) {
    if constexpr (requires {
                    table.start_ns;
                    table.end_ns;
                  }) {
      for (const int64_t end : table.end_ns) {
        if (end != kOpenEnd) store.duration_ns = std::max(store.duration_ns, end);
      }
    }
  });
}

Status RunJobs(const NsysDatabase& database, std::vector<nsys::Load>& loads) {
  std::array<Status, kJobs.size()> results;
  ReadingProgress().Expect(kJobs.size());
  ParallelFor(kJobs.size(), [&](size_t job) {
    loads[job].database = &database;
    if (database.pages() != nullptr) {
      results[job] = kJobs[job](loads[job]);
      ReadingProgress().Done(1);
      return;
    }
    auto connection = database.Another();
    if (connection.ok()) {
      loads[job].database = &connection.value();
      results[job] = kJobs[job](loads[job]);
    } else {
      results[job] = connection.status();
    }
    loads[job].database = nullptr;
    ReadingProgress().Done(1);
  });
  for (Status& result : results) RETURN_IF_ERROR(std::move(result));
  return Status();
}

}  // namespace

Result<Store> ImportNsysSqlite(const std::string& path, bool doubled_calls) {
  ASSIGN_OR_RETURN(const NsysDatabase database, NsysDatabase::Open(path));
  if (!IsNsysExport(database)) {
    return InputError(path +
                      ": an SQLite database, but not an nsys export (no StringIds and event "
                      "tables); make one with `nsys export -t sqlite report.nsys-rep`");
  }
  Store store;
  store.source = path;
  store.source_format = nsys::kNsysFormat;
  nsys::Strings strings;
  RETURN_IF_ERROR(strings.Load(database, store));
  ASSIGN_OR_RETURN(const Schema schema, ReadSchemaVersion(database));

  std::vector<nsys::Load> loads(kJobs.size() + 1);
  for (nsys::Load& load : loads) {
    load.strings = &strings;
    load.store = &store;
    load.schema_minor = schema.minor;
    load.doubled_calls = doubled_calls;
  }
  RETURN_IF_ERROR(RunJobs(database, loads));
  nsys::Load& rest = loads.back();
  rest.database = &database;
  RETURN_IF_ERROR(nsys::LoadOtherRuntimes(rest));
  RETURN_IF_ERROR(nsys::LoadOwnTables(rest));
  RETURN_IF_ERROR(nsys::LoadGpuMetrics(rest));
  RETURN_IF_ERROR(nsys::UniteThreads(database, loads, store));
  RETURN_IF_ERROR(nsys::CompleteProcesses(database, strings, store));
  RETURN_IF_ERROR(nsys::LoadTargetInfo(rest));
  NoteSchema(schema, store);
  for (const nsys::Load& load : loads) {
    for (const std::string& note : load.notes) AddReason(store, kImportFeature, note);
  }
  NoteUnread(database, store);
  SetDuration(store);
  // Our own tables hold parents; nsys's do not.
  FinishStore(store, {.has_call_parents = true});
  return store;
}

}  // namespace batchlight
