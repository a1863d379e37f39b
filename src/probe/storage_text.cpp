#include "probe/storage_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/json_text.h"
#include "report/text/number_text.h"
#include "report/text/utf8.h"

namespace batchlight::probe {
namespace {

constexpr size_t kNameWidth = 30;
constexpr size_t kFigureWidth = 11;

std::string Left(const std::string& text, size_t width) {
  return text + std::string(width - std::min(width, CharacterCount(text)), ' ');
}

std::string Right(const std::string& text, size_t width) {
  return std::string(width - std::min(width, CharacterCount(text)), ' ') + text;
}

std::string NameOf(const StorageMeasurement& row) {
  std::string name(row.what->pattern);
  const uint64_t kib = row.what->block_bytes >> 10;
  if (kib >= 1024) {
    name += " " + std::to_string(kib >> 10) + " MiB";
  } else if (kib > 0) {
    name += " " + std::to_string(kib) + " KiB";
  }
  const std::string_view cache = CacheStateName(row.cache);
  if (!cache.empty()) name += (name.empty() ? "" : ", ") + std::string(cache);
  if (row.cache == CacheState::kPartly) name += " " + PercentText(row.resident_share);
  return name;
}

std::string FigureOf(const StorageMeasurement& row) {
  if (row.bytes_per_s > 0) return ByteRateText(row.bytes_per_s);
  if (row.operations_per_s >= 1e6) return SignificantText(row.operations_per_s / 1e6) + " M/s";
  if (row.operations_per_s >= 1e4) return SignificantText(row.operations_per_s / 1e3) + " k/s";
  return SignificantText(row.operations_per_s) + "/s";
}

// Rows of one pattern in one state of the cache, by number of workers.
struct Line {
  std::string name;
  std::vector<const StorageMeasurement*> rows;
};

std::vector<Line> LinesOf(const StorageMeasurements& found) {
  std::vector<Line> lines;
  for (const StorageMeasurement& row : found.rows) {
    const std::string name = NameOf(row);
    if (lines.empty() || lines.back().name != name) lines.push_back({name, {}});
    lines.back().rows.push_back(&row);
  }
  return lines;
}

std::string Heading(const StorageMeasurements& found) {
  std::string text = CleanText(found.path);
  if (!found.file_system.empty()) {
    text += " (" + found.file_system + (found.device.empty() ? "" : ", " + found.device) + ")";
  }
  text += ": read from a file of " + BytesText(double(found.file_bytes)) + " and " +
          CountText(found.small_files) + " small files, in " + SignificantText(found.seconds) +
          " s\n";
  return text;
}

std::string FedText(const std::vector<FedAccelerators>& fed) {
  std::string text = "\nAccelerators fed, read cold (MLPerf Storage, H100 that never waits)\n";
  for (const FedAccelerators& row : fed) {
    text += "  " + Left(std::string(row.workload), 12);
    if (row.measured == nullptr) {
      text += "not known: no cold read was measured\n";
      continue;
    }
    text += Right(SignificantText(row.accelerators), 7) + "   each needs " +
            ByteRateText(row.needed_bytes_per_s) + ", the path gives " +
            ByteRateText(row.measured->bytes_per_s) + " to " + WorkersText(row.measured->workers) +
            " (" + std::string(row.measured->what->short_name) + ")\n";
  }
  return text;
}

std::string RunTextOf(const std::string& run, const RunVerdict& verdict) {
  const RunReads& reads = verdict.reads;
  std::string text = "\nFor " + CleanText(run) + "\n  A step of " + TimeText(reads.step_ns) +
                     " reads " + DecimalBytesText(reads.bytes_per_step) + " from " +
                     SignificantText(reads.files_per_step) + " files, " +
                     BytesText(reads.bytes_per_read) + " a call: it needs " +
                     ByteRateText(verdict.needed_bytes_per_s) + ".\n";
  if (verdict.measured == nullptr) {
    return text + "  What this path gives cold is not known.\n";
  }
  text += "  This path gives " + ByteRateText(verdict.measured->bytes_per_s) + " cold to " +
          WorkersText(verdict.measured->workers) + " (" +
          std::string(verdict.measured->what->short_name) + ")";
  if (verdict.warm != nullptr) text += ", " + ByteRateText(verdict.warm->bytes_per_s) + " warm";
  text += ".\n  ";
  if (verdict.times_needed >= 2) {
    text += "Storage is not the limit: it gives " + SignificantText(verdict.times_needed) +
            " times what the steps need.\n";
  } else if (verdict.times_needed >= 1) {
    text += "Storage keeps up, with little to spare: it gives " +
            SignificantText(verdict.times_needed) +
            " times what the steps need. A step that is twice as fast would wait for it.\n";
  } else {
    text +=
        "Storage is the limit as long as the data is not in memory: a step cannot be shorter "
        "than " +
        TimeText(verdict.step_ns) +
        ". Read less (compressed or packed data), keep the data "
        "in memory, or use faster storage.\n";
  }
  return text;
}

std::string MeasurementsText(const StorageMeasurements& found) {
  std::set<int> counts;
  for (const StorageMeasurement& row : found.rows) counts.insert(row.workers);
  std::string text = "\n" + Left("Workers", kNameWidth);
  for (const int count : counts) text += Right(std::to_string(count), kFigureWidth);
  text += Right("p50", kFigureWidth) + Right("p99", kFigureWidth) + "\n";
  for (const Line& line : LinesOf(found)) {
    text += Left(line.name, kNameWidth);
    for (const int count : counts) {
      const auto row = std::find_if(line.rows.begin(), line.rows.end(),
                                    [&](const auto* one) { return one->workers == count; });
      text += Right(row == line.rows.end() ? "" : FigureOf(**row), kFigureWidth);
    }
    const StorageMeasurement& first = *line.rows.front();
    text += Right(TimeText(first.p50_ns), kFigureWidth) +
            Right(TimeText(first.p99_ns), kFigureWidth) + "\n";
  }
  return text +
         "p50 and p99: of one operation at the fewest workers; -f column has those of all.\n";
}

}  // namespace

std::string StorageText(const StorageReport& report) {
  std::string text = Heading(report.found) + FedText(report.fed);
  if (report.for_run.has_value()) text += RunTextOf(report.run, *report.for_run);
  text += MeasurementsText(report.found);
  for (const std::string& note : report.found.notes) text += "Note: " + CleanText(note) + "\n";
  return text;
}

std::string StorageJson(const StorageReport& report) {
  const StorageMeasurements& found = report.found;
  nlohmann::json json = {
      {"path", ValidUtf8(found.path)},     {"file_system", ValidUtf8(found.file_system)},
      {"device", ValidUtf8(found.device)}, {"file_bytes", found.file_bytes},
      {"warm_bytes", found.warm_bytes},    {"small_files", found.small_files},
      {"seconds", found.seconds}};
  json["measurements"] = nlohmann::json::array();
  for (const StorageMeasurement& row : found.rows) {
    nlohmann::json one = {{"pattern", row.what->pattern},
                          {"block_bytes", row.what->block_bytes},
                          {"workers", row.workers},
                          {"operations", row.operations},
                          {"operations_per_s", row.operations_per_s},
                          {"bytes_per_s", row.bytes_per_s},
                          {"p50_ns", row.p50_ns},
                          {"p99_ns", row.p99_ns},
                          {"elapsed_ns", row.elapsed_ns}};
    if (row.cache != CacheState::kNone) one["cache"] = CacheStateName(row.cache);
    if (row.resident_share >= 0) one["in_memory"] = row.resident_share;
    json["measurements"].push_back(std::move(one));
  }
  json["accelerators"] = nlohmann::json::array();
  for (const FedAccelerators& row : report.fed) {
    nlohmann::json one = {{"workload", row.workload},
                          {"needed_bytes_per_s", row.needed_bytes_per_s}};
    if (row.measured != nullptr) {
      one["measured_bytes_per_s"] = row.measured->bytes_per_s;
      one["accelerators"] = row.accelerators;
    }
    json["accelerators"].push_back(std::move(one));
  }
  if (report.for_run.has_value()) {
    const RunVerdict& verdict = *report.for_run;
    json["run"] = {{"name", ValidUtf8(report.run)},
                   {"steps", verdict.reads.steps},
                   {"step_ns", verdict.reads.step_ns},
                   {"bytes_per_step", verdict.reads.bytes_per_step},
                   {"files_per_step", verdict.reads.files_per_step},
                   {"bytes_per_read", verdict.reads.bytes_per_read},
                   {"needed_bytes_per_s", verdict.needed_bytes_per_s}};
    if (verdict.measured != nullptr) {
      json["run"]["measured_bytes_per_s"] = verdict.measured->bytes_per_s;
      json["run"]["times_needed"] = verdict.times_needed;
    }
  }
  json["notes"] = nlohmann::json::array();
  for (const std::string& note : found.notes) json["notes"].push_back(ValidUtf8(note));
  return json.dump(2) + "\n";
}

}  // namespace batchlight::probe
