// -t csv: a folder with one CSV per table of the store that has rows.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/file.h"
#include "export/exporter.h"
#include "export/store_rows.h"

namespace batchlight {
namespace {

class CsvHeader {
 public:
  explicit CsvHeader(std::string& out) : out_(out) {}
  void Null(std::string_view name) { Add(name); }
  void Integer(std::string_view name, int64_t) { Add(name); }
  void Unsigned(std::string_view name, uint64_t) { Add(name); }
  void Real(std::string_view name, double) { Add(name); }
  void Text(std::string_view name, std::string_view) { Add(name); }

 private:
  void Add(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    out_ += name;
  }
  std::string& out_;
  bool first_ = true;
};

class CsvRow {
 public:
  explicit CsvRow(std::string& out) : out_(out) {}
  void Null(std::string_view) { Separate(); }
  void Integer(std::string_view, int64_t value) { Number(value); }
  void Unsigned(std::string_view, uint64_t value) { Number(value); }
  void Real(std::string_view, double value) {
    if (std::isfinite(value)) {
      Number(value);
    } else {
      Separate();
    }
  }
  void Text(std::string_view, std::string_view value) {
    Separate();
    if (value.find_first_of(",\"\r\n") == std::string_view::npos) {
      out_ += value;
      return;
    }
    out_ += '"';
    for (const char c : value) {
      if (c == '"') out_ += '"';
      out_ += c;
    }
    out_ += '"';
  }

 private:
  void Separate() {
    if (!first_) out_ += ',';
    first_ = false;
  }
  template <typename T>
  void Number(T value) {
    Separate();
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    out_.append(digits.data(), end.ptr);
  }
  std::string& out_;
  bool first_ = true;
};

Status MakeFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0777) == 0) return Status();
  struct stat info {};
  if (errno == EEXIST && stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return Status();
  return OutputError("cannot make folder " + path + ": " + std::strerror(errno));
}

// A file that is there is read back first, so that what it becomes is still written at once.
template <typename Table>
Result<uint64_t> WriteTable(const Store& store, const ExportOptions& options, const Table& table) {
  constexpr size_t kFlushBytes = 1 << 16;
  const std::string path = options.output + '/' + std::string(table.kName) + ".csv";
  std::string buffer;
  if (options.append && FileExists(path)) {
    ASSIGN_OR_RETURN(buffer, ReadWholeFile(path));
  }
  if (buffer.empty()) {
    CsvHeader header(buffer);
    VisitRow(store, options.selection, table, 0, header);
    buffer += '\n';
  }
  ASSIGN_OR_RETURN(AtomicFileWriter file, AtomicFileWriter::Create(path));
  uint64_t rows = 0;
  for (size_t row = 0; row < table.size(); ++row) {
    if (!SelectsRow(options.selection, table, row)) continue;
    CsvRow out(buffer);
    VisitRow(store, options.selection, table, row, out);
    buffer += '\n';
    ++rows;
    if (buffer.size() < kFlushBytes) continue;
    RETURN_IF_ERROR(file.Write(buffer));
    buffer.clear();
  }
  RETURN_IF_ERROR(file.Write(buffer));
  RETURN_IF_ERROR(file.Commit());
  return rows;
}

}  // namespace

Result<uint64_t> ExportCsv(const Store& store, const ExportOptions& options) {
  RETURN_IF_ERROR(MakeFolder(options.output));
  uint64_t rows = 0;
  Status status;
  store.VisitTables([&](const auto& table) {
    if (!status.ok() || table.size() == 0 || !options.selection.HasTable(table.kName)) return;
    const Result<uint64_t> written = WriteTable(store, options, table);
    if (written.ok()) {
      rows += written.value();
    } else {
      status = written.status();
    }
  });
  RETURN_IF_ERROR(std::move(status));
  return rows;
}

}  // namespace batchlight
