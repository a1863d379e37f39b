#include "base/mapped_file.h"

#include <fcntl.h>
#include <io.h>
#include <sys/stat.h>
#include <unistd.h>
#include <windows.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace batchlight {

Result<MappedFile> MappedFile::Open(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    struct stat info {};
    const int error = errno;  // that of a folder says that access is denied
    if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return FromDescriptor(fd, path);
    return InputError("cannot open " + path + ": " + std::strerror(error));
  }
  return FromDescriptor(fd, path);
}

Result<MappedFile> MappedFile::Open(const Folder& folder, const std::string& name) {
  return Open(folder.path() + "/" + name);
}

// SQLite's locks belong to its own handle here.
Result<MappedFile> MappedFile::OpenBesideLocks(const std::string& path) { return Open(path); }

Result<MappedFile> MappedFile::FromDescriptor(int fd, const std::string& path) {
  auto file = Map(fd, path);
  if (fd >= 0) close(fd);
  return file;
}

Result<MappedFile> MappedFile::Map(int fd, const std::string& path) {
  const auto handle = reinterpret_cast<HANDLE>(_get_osfhandle(fd));
  LARGE_INTEGER size{};
  if (fd < 0 || GetFileType(handle) != FILE_TYPE_DISK || !GetFileSizeEx(handle, &size)) {
    return InputError("cannot read " + path + ": not a regular file");
  }
  MappedFile file;
  file.size_ = static_cast<size_t>(size.QuadPart);
  if (file.size_ == 0) return file;
  const HANDLE mapping = CreateFileMappingA(handle, nullptr, PAGE_READONLY, 0, 0, nullptr);
  if (mapping != nullptr) {
    file.data_ = static_cast<const uint8_t*>(MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0));
    CloseHandle(mapping);  // the view holds it
  }
  if (file.data_ == nullptr) {
    return InputError("cannot map " + path + ": Windows error " + std::to_string(GetLastError()));
  }
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile::~MappedFile() {
  if (data_ != nullptr) UnmapViewOfFile(data_);
}

// A buffer's pages may be dropped, a file's leave the working set: what is not locked is "unlocked"
// into the standby list.
void ForgetPages(const void* begin, size_t bytes) {
  SYSTEM_INFO system{};
  GetSystemInfo(&system);
  const uintptr_t page = system.dwPageSize;
  const auto from = reinterpret_cast<uintptr_t>(begin);
  const uintptr_t first = (from + page - 1) / page * page;
  const uintptr_t last = (from + bytes) / page * page;
  if (first >= last) return;
  void* pages = reinterpret_cast<void*>(first);
  if (VirtualAlloc(pages, last - first, MEM_RESET, PAGE_READWRITE) == nullptr) {
    VirtualUnlock(pages, last - first);
  }
}

}  // namespace batchlight
