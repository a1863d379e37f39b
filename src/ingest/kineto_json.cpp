#include "ingest/kineto_json.h"

#include "ingest/byte_source.h"
#include "ingest/kineto_reader.h"
#include "ingest/kineto_tables.h"

namespace batchlight {
namespace {

void AddNotice(const std::string& text, Store& store) {
  store.reasons.Append(
      {.feature = store.strings.Intern("input"), .text = store.strings.Intern(text)});
}

void AddNotices(const KinetoReport& report, uint64_t left_out, Store& store) {
  if (!report.cut.empty()) {
    AddNotice(report.cut + ": " + std::to_string(report.events) + " events before that were read",
              store);
  }
  if (report.malformed > 0) {
    AddNotice(std::to_string(report.malformed) + " events are not valid JSON and were skipped",
              store);
  }
  if (left_out > 0) {
    AddNotice(
        std::to_string(left_out) + " events have no table (Python functions, profiler internals)",
        store);
  }
}

}  // namespace

Result<Store> ImportKinetoJson(const std::string& path) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, ByteSource::Open(path));
  Store store;
  KinetoTables tables(store);
  bool is_trace = false;
  KinetoReader reader(
      *source, [&](const KinetoEvent& event) { tables.AddEvent(event); },
      [&](std::string_view key, std::string_view value) {
        is_trace = is_trace || key == "schemaVersion" || key == "traceName";
        tables.AddFact(key, value);
      });
  Result<KinetoReport> report = reader.Read();
  if (!report.ok()) return Status(report.status()).WithContext("cannot read " + path);
  if (report->events == 0 && !(is_trace && report->cut.empty())) {
    const std::string why = report->cut.empty() ? "no traceEvents in it" : report->cut;
    return InputError("cannot read " + path + ": not a torch.profiler trace: " + why);
  }
  tables.Finish();
  AddNotices(report.value(), tables.left_out(), store);
  store.source = path;
  store.source_format = "kineto";
  return store;
}

}  // namespace batchlight
