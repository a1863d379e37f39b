// A session without the tool, for tests and benchmarks: a temporary live folder with a control page
// that the test can change.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "format/control.h"
#include "format/layout.h"

namespace batchlight::inject {

class LiveSession {
 public:
  // `parent`: an existing folder; TMPDIR or /tmp by default.
  explicit LiveSession(const char* parent = nullptr) {
    const char* temporary = std::getenv("TMPDIR");
    std::string pattern = parent != nullptr ? parent : temporary != nullptr ? temporary : "/tmp";
    pattern += "/batchlight_XXXXXX";
    folder_ = ::mkdtemp(pattern.data()) != nullptr ? pattern : "";
    const int fd = ::open((folder_ + "/control").c_str(), O_RDWR | O_CREAT, 0600);
    void* memory = MAP_FAILED;
    if (::ftruncate(fd, format::kControlBytes) == 0) {
      memory = ::mmap(nullptr, format::kControlBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    ::close(fd);
    if (memory == MAP_FAILED) std::abort();
    page_ = static_cast<format::ControlPage*>(memory);
    page_->version = format::kFormatVersion;
    page_->trace = ~0u;
    page_->state = format::kStateCollecting;
    page_->magic = format::kControlMagic;
  }
  ~LiveSession() {
    for (const std::string& file : Files()) ::unlink(file.c_str());
    ::unlink((folder_ + "/control").c_str());
    ::rmdir(folder_.c_str());
    ::munmap(page_, format::kControlBytes);
  }
  LiveSession(const LiveSession&) = delete;
  LiveSession& operator=(const LiveSession&) = delete;

  // Processes started from here, and a library loaded from here, join the session.
  void SetEnvironment() const { ::setenv(format::kSessionDirVariable, folder_.c_str(), 1); }

  format::ControlPage& page() { return *page_; }
  const std::string& folder() const { return folder_; }

  // The processes' files.
  std::vector<std::string> Files() const {
    std::vector<std::string> files;
    DIR* dir = ::opendir(folder_.c_str());
    while (const dirent* entry = dir != nullptr ? ::readdir(dir) : nullptr) {
      const std::string name = entry->d_name;
      if (name.size() > 4 && name.substr(name.size() - 4) == ".blp") {
        files.push_back(folder_ + "/" + name);
      }
    }
    if (dir != nullptr) ::closedir(dir);
    return files;
  }

 private:
  std::string folder_;
  format::ControlPage* page_;
};

}  // namespace batchlight::inject
