#include "inject/entry/exec_target.h"

#include <elf.h>
#include <sys/stat.h>

#include <cstring>

#include "inject/rt/sys.h"

namespace batchlight::inject {
namespace {

constexpr size_t kHeadBytes = 1024;  // program headers follow the file's header

// The dynamic linker named in the file's head; "" if there is none, nullptr if that is not clear.
const char* InterpreterIn(char* head, size_t bytes) {
  Elf64_Ehdr file;
  std::memcpy(&file, head, sizeof file);
  if (file.e_phentsize != sizeof(Elf64_Phdr)) return nullptr;
  for (size_t i = 0; i < file.e_phnum; ++i) {
    if (file.e_phoff > bytes || (i + 1) * sizeof(Elf64_Phdr) > bytes - file.e_phoff) return nullptr;
    Elf64_Phdr part;
    std::memcpy(&part, head + file.e_phoff + i * sizeof part, sizeof part);
    if (part.p_type != PT_INTERP) continue;
    if (part.p_offset > bytes || part.p_filesz > bytes - part.p_offset || part.p_filesz == 0) {
      return nullptr;
    }
    head[part.p_offset + part.p_filesz - 1] = 0;
    return head + part.p_offset;
  }
  return "";
}

bool IsDynamicLinker(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return std::strncmp(slash != nullptr ? slash + 1 : path, "ld-", 3) == 0;
}

const char* WhyNotByHead(const char* path, char* head, size_t bytes) {
  if (bytes < sizeof(Elf64_Ehdr) || std::memcmp(head, ELFMAG, SELFMAG) != 0) return nullptr;
  if (head[EI_CLASS] == ELFCLASS32) return " is a 32-bit program: nothing of it is recorded";
  const char* interpreter = InterpreterIn(head, bytes);
  if (interpreter == nullptr || (*interpreter == 0 && IsDynamicLinker(path))) return nullptr;
  if (*interpreter == 0) return " is statically linked: nothing of it is recorded";
  return nullptr;
}

}  // namespace

const char* WhyNotRecorded(const char* path) {
  struct stat info;
  if (path == nullptr || sys::Call(SYS_newfstatat, AT_FDCWD, path, &info, 0) != 0) return nullptr;
  if (!S_ISREG(info.st_mode)) return nullptr;
  const auto user = static_cast<uid_t>(sys::Call(SYS_geteuid));
  const auto group = static_cast<gid_t>(sys::Call(SYS_getegid));
  if (((info.st_mode & S_ISUID) != 0 && info.st_uid != user) ||
      ((info.st_mode & S_ISGID) != 0 && info.st_gid != group)) {
    return " runs with privileges of its own: nothing of it and of what it starts is recorded";
  }
  const int fd = sys::Open(path, O_RDONLY | O_NONBLOCK);
  if (fd < 0) return nullptr;
  char head[kHeadBytes];
  const long bytes = sys::Read(fd, head, sizeof head);
  sys::Close(fd);
  return bytes > 0 ? WhyNotByHead(path, head, static_cast<size_t>(bytes)) : nullptr;
}

}  // namespace batchlight::inject
