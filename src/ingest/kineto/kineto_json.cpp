#include "ingest/kineto/kineto_json.h"

#include "ingest/kineto/byte_source.h"
#include "ingest/kineto/kineto_reader.h"
#include "ingest/kineto/kineto_tables.h"
#include "store/reason_features.h"

namespace batchlight {
namespace {

void AddNotice(std::string_view feature, const std::string& text, Store& store) {
  store.reasons.Append(
      {.feature = store.strings.Intern(feature), .text = store.strings.Intern(text)});
}

std::string CountOf(uint64_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

// "the file ends in the middle of an event, at byte 4096 of the unpacked text"
std::string WhereItWasCut(const KinetoReport& report, const ByteSource& source) {
  return report.cut + ", at byte " + std::to_string(report.cut_place) +
         (source.packed() ? " of the unpacked text" : "");
}

// What reading lost, one sentence for each kind of loss.
std::vector<std::string> NoticesOf(const KinetoReport& report, const KinetoTables& tables,
                                   const ByteSource& source) {
  std::vector<std::string> notices;
  if (!report.cut.empty()) {
    notices.push_back(WhereItWasCut(report, source) + ": " + std::to_string(report.events) +
                      " events before that were kept");
  }
  if (report.malformed > 0) {
    notices.push_back(std::to_string(report.malformed) +
                      " event(s) are not valid JSON and are left out (first: at byte " +
                      std::to_string(report.first_malformed) + ")");
  }
  for (std::string& notice : tables.Notices()) notices.push_back(std::move(notice));
  return notices;
}

// Why a file without a single event to show is not accepted as input.
Status NothingInIt(const std::string& path, const KinetoReport& report, bool is_trace,
                   const ByteSource& source, const std::vector<std::string>& notices) {
  std::string why = notices.empty() ? std::string("it holds no events") : notices.front();
  if (report.events == 0 && !report.cut.empty()) {
    why = WhereItWasCut(report, source) + ", before the first whole event";
  } else if (!report.has_events) {
    why = "not a torch.profiler trace: no traceEvents in it";
  } else if (notices.empty() && is_trace) {
    why = "a trace without events: was anything profiled between start and stop?";
  }
  return InputError("cannot read " + path + ": " + why);
}

}  // namespace

Result<Store> ImportKinetoJson(const std::string& path) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, ByteSource::Open(path));
  Store store;
  KinetoTables tables(store);
  bool is_trace = false;
  const MemoryWatch memory(path);
  KinetoReader reader(
      *source, memory, [&](const KinetoEvent& event) { tables.AddEvent(event); },
      [&](std::string_view key, std::string_view value) {
        is_trace = is_trace || key == "schemaVersion" || key == "traceName";
        tables.AddFact(key, value);
      });
  Result<KinetoReport> report = reader.Read();
  if (!report.ok()) return Status(report.status()).WithContext("cannot read " + path);
  RETURN_IF_ERROR(report->memory);
  const std::vector<std::string> notices = NoticesOf(report.value(), tables, *source);
  if (tables.kept() == 0 && tables.left_out() == 0) {
    return NothingInIt(path, report.value(), is_trace, *source, notices);
  }
  tables.Finish();
  for (const std::string& notice : notices) AddNotice(kInputFeature, notice, store);
  if (tables.left_out() > 0) {
    AddNotice(kUnreadFeature,
              CountOf(tables.left_out(), "event has", "events have") +
                  " no table (Python functions, profiler internals)",
              store);
  }
  store.source = path;
  store.source_format = "kineto";
  return store;
}

}  // namespace batchlight
