// -t jsonlines: every row of every table of the store as one JSON object per line.
#include <array>
#include <charconv>
#include <cmath>

#include "base/file.h"
#include "base/json_text.h"
#include "export/exporter.h"
#include "export/store_rows.h"

namespace batchlight {
namespace {

class JsonRow {
 public:
  explicit JsonRow(std::string& out) : out_(out) {}

  void Begin(std::string_view table) {
    out_ += "{\"table\":\"";
    out_ += table;
    out_ += '"';
  }
  void End() { out_ += "}\n"; }

  void Null(std::string_view name) {
    Key(name);
    out_ += "null";
  }
  void Integer(std::string_view name, int64_t value) { Number(name, value); }
  void Unsigned(std::string_view name, uint64_t value) { Number(name, value); }
  void Real(std::string_view name, double value) {
    if (!std::isfinite(value)) return Null(name);
    Number(name, value);
  }
  void Text(std::string_view name, std::string_view value) {
    Key(name);
    out_ += '"';
    AppendJsonEscaped(value, out_);
    out_ += '"';
  }

 private:
  void Key(std::string_view name) {
    out_ += ",\"";
    out_ += name;
    out_ += "\":";
  }
  template <typename T>
  void Number(std::string_view name, T value) {
    Key(name);
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    out_.append(digits.data(), end.ptr);
  }
  std::string& out_;
};

}  // namespace

Result<uint64_t> ExportJsonLines(const Store& store, const ExportOptions& options) {
  if (options.append) return UsageError("--append is for folders; jsonlines is one file");
  ASSIGN_OR_RETURN(AtomicFileWriter file, OpenOutput(options));
  constexpr size_t kFlushBytes = 1 << 16;
  std::string buffer;
  uint64_t rows = 0;
  Status status;
  store.VisitTables([&](const auto& table) {
    if (!status.ok() || !options.selection.HasTable(table.kName)) return;
    JsonRow out(buffer);
    for (size_t row = 0; row < table.size() && status.ok(); ++row) {
      if (!SelectsRow(options.selection, table, row)) continue;
      out.Begin(table.kName);
      VisitRow(store, options.selection, table, row, out);
      out.End();
      ++rows;
      if (buffer.size() < kFlushBytes) continue;
      status = file.Write(buffer);
      buffer.clear();
    }
  });
  RETURN_IF_ERROR(std::move(status));
  RETURN_IF_ERROR(file.Write(buffer));
  RETURN_IF_ERROR(file.Commit());
  return rows;
}

}  // namespace batchlight
