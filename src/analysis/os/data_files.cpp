#include "analysis/os/data_files.h"

#include <cstdint>
#include <map>

namespace batchlight {

bool IsDataFile(std::string_view file) {
  for (const std::string_view folder : {"/proc/", "/sys/", "/dev/", "/usr/", "/etc/", "/lib/"}) {
    if (file.starts_with(folder)) return false;
  }
  for (const std::string_view kind : {".py", ".pyc", ".so"}) {
    if (file.ends_with(kind)) return false;
  }
  return file.starts_with('/');
}

std::string DataFolder(const Store& store) {
  std::map<std::string_view, uint64_t> bytes_below;
  uint64_t all_bytes = 0;
  const OsFilesTable& files = store.os_files;
  for (size_t row = 0; row < files.size(); ++row) {
    const std::string_view file = store.Text(files.file[row]);
    if (files.bytes_read[row] == 0 || !IsDataFile(file)) continue;
    all_bytes += files.bytes_read[row];
    for (size_t slash = file.rfind('/'); slash > 0; slash = file.rfind('/', slash - 1)) {
      bytes_below[file.substr(0, slash)] += files.bytes_read[row];
    }
  }
  std::string_view deepest;
  for (const auto& [folder, bytes] : bytes_below) {
    // Those that hold more than half lie within each other.
    if (bytes > all_bytes / 2 && folder.size() > deepest.size()) deepest = folder;
  }
  return std::string(deepest);
}

}  // namespace batchlight
