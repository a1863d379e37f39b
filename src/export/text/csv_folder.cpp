// -t csv: a folder with one CSV per table of the store that has rows.
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <functional>

#include "base/file.h"
#include "base/printable_text.h"
#include "export/exporter.h"
#include "export/folder_output.h"
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
  CsvRow(std::string& out, bool spreadsheet) : out_(out), spreadsheet_(spreadsheet) {}
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
  void Text(std::string_view, std::string_view name) {
    Separate();
    const std::string value = spreadsheet_ ? SpreadsheetText(name) : std::string(name);
    if (value.find_first_of(",\"\r\n") == std::string::npos) {
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
  bool spreadsheet_;
  bool first_ = true;
};

constexpr std::string_view kSuffix = ".csv";

// Whether a file of a folder being replaced was made by an earlier export.
bool IsTableFile(const Store& store, std::string_view name) {
  if (!name.ends_with(kSuffix)) return false;
  name.remove_suffix(kSuffix.size());
  bool is = false;
  store.VisitTables([&]<typename Table>(const Table&) { is = is || name == Table::kName; });
  return is;
}

// Of a file that is added to: whom it was kept from must not get it now.
void KeepAsNarrow(int old, int added_to) {
  constexpr mode_t kRights = 0777;
  struct stat before {
  }, now{};
  if (fstat(old, &before) != 0 || fstat(added_to, &now) != 0) return;
  mode_t rights = now.st_mode & before.st_mode & kRights;
  constexpr mode_t kOfGroup = 0070;
  if (before.st_gid != now.st_gid) rights &= ~kOfGroup;  // another group's
  (void)fchmod(added_to, rights);
}

// The existing rows of the file, if there is one and it has the same columns. Whoever may write the
// folder can put a link there to a file of ours that is not for them: none is read.
Result<bool> CopyOld(const FolderOutput& folder, const std::string& name, std::string_view header,
                     AtomicFileWriter& file) {
  const std::string path = folder.FinalPath(name);
  const int fd = folder.existing() == nullptr ? -1 : folder.existing()->OpenOwnFile(name, true);
  if (fd < 0 && (folder.existing() == nullptr || errno == ENOENT)) return false;
  if (fd < 0 && (errno == EPERM || errno == ELOOP)) {
    return OutputError(
        "cannot add to " + path +
        ": it is no file, is a link, has a second name, or is another user's, who could give "
        "away a file of yours by it; remove it, or append to another folder");
  }
  if (fd < 0) return OutputError("cannot add to " + path + ": " + std::strerror(errno));
  KeepAsNarrow(fd, file.fd());
  ASSIGN_OR_RETURN(const MappedFile old, MappedFile::FromDescriptor(fd, path));
  if (!old.text().starts_with(header)) {
    return OutputError(path + " has other columns than this version writes (" +
                       std::string(header.substr(0, header.find('\n'))) +
                       "); append to another folder");
  }
  RETURN_IF_ERROR(file.Write(old.text()));
  if (!old.text().ends_with('\n')) RETURN_IF_ERROR(file.Write("\n"));
  return true;
}

// What a table does for its file; all else is compiled once, not for each table.
struct TableRows {
  std::string file_name;
  size_t count;
  std::function<void(std::string& text)> header;
  std::function<bool(size_t row, std::string& text)> add;  // false: it is not selected
};

Result<uint64_t> WriteRows(const TableRows& table, bool append, const FolderOutput& folder) {
  constexpr size_t kFlushBytes = 1 << 16;
  const std::string path = folder.FinalPath(table.file_name);
  ASSIGN_OR_RETURN(AtomicFileWriter file,
                   AtomicFileWriter::Create(path, {.folder = &folder.held()}));
  std::string buffer;
  table.header(buffer);
  buffer += '\n';
  if (append) {
    ASSIGN_OR_RETURN(const bool has_header, CopyOld(folder, table.file_name, buffer, file));
    if (has_header) buffer.clear();
  }
  uint64_t rows = 0;
  for (size_t row = 0; row < table.count; ++row) {
    if (!table.add(row, buffer)) continue;
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

template <typename Table>
TableRows RowsOf(const Store& store, const ExportOptions& options, const Table& table) {
  const auto header = [&](std::string& text) {
    CsvHeader out(text);
    VisitRow(store, options.selection, table, 0, out);
  };
  const auto add = [&](size_t row, std::string& text) {
    if (!SelectsRow(options.selection, table, row)) return false;
    CsvRow out(text, options.spreadsheet);
    VisitRow(store, options.selection, table, row, out);
    return true;
  };
  return {std::string(Table::kName) + std::string(kSuffix), table.size(), header, add};
}

}  // namespace

Result<uint64_t> ExportCsv(const Store& store, const ExportOptions& options) {
  ASSIGN_OR_RETURN(FolderOutput folder, FolderOutput::Create(options.output, options.into));
  uint64_t rows = 0;
  Status status;
  store.VisitTables([&](const auto& table) {
    if (!status.ok() || table.size() == 0 || !options.selection.HasTable(table.kName)) return;
    const Result<uint64_t> written =
        WriteRows(RowsOf(store, options, table), options.append, folder);
    if (written.ok()) {
      rows += written.value();
    } else {
      status = written.status();
    }
  });
  RETURN_IF_ERROR(std::move(status));
  RETURN_IF_ERROR(folder.Commit(
      [&](std::string_view name) { return !options.append && IsTableFile(store, name); }));
  return rows;
}

}  // namespace batchlight
