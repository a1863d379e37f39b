#include "cli/reading/browser_page.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "base/child.h"
#include "capture/session/session_protocol.h"

namespace batchlight::cli {

BrowserPage::BrowserPage(const std::string& url) {
  const bool display =
      std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr;
  if (url.empty() || !display) return;
  const std::string runtime = capture::OwnRuntimeFolder();
  file_ = (runtime.empty() ? "/tmp" : runtime) + "/batchlight-XXXXXX.html";
  const int fd = mkstemps(file_.data(), 5);  // mode 0600
  if (fd < 0) {
    file_.clear();
    return;
  }
  const std::string page =
      "<!doctype html><meta charset=\"utf-8\"><title>batchlight</title>"
      "<meta http-equiv=\"refresh\" content=\"0; url=" +
      url + "\">";
  const bool written = write(fd, page.data(), page.size()) == static_cast<ssize_t>(page.size());
  close(fd);
  // A browser lives on: who reads the tool's output must not wait for its end.
  const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (written) {
    StartChild({.words = {"xdg-open", file_},
                .input_fd = null_fd,
                .output_fd = null_fd,
                .error_fd = null_fd});
  }
  if (null_fd >= 0) close(null_fd);
}

BrowserPage::~BrowserPage() { Remove(); }

void BrowserPage::Remove() const {
  if (!file_.empty()) unlink(file_.c_str());
}

}  // namespace batchlight::cli
