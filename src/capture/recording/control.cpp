#include "capture/recording/control.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

namespace batchlight::capture {

Result<Control> Control::Map(const LiveFolder& live_folder) {
  const std::string path = live_folder.path() + "/" + kControlFile;
  const int fd = live_folder.folder().MakePrivateFile(kControlFile);
  if (fd < 0) return OutputError("cannot write " + path + ": " + std::strerror(errno));
  // Reserved on the disk: writing into a hole on a full disk would be a SIGBUS.
  const int error = posix_fallocate(fd, 0, format::kControlBytes);
  void* memory =
      error == 0 ? mmap(nullptr, format::kControlBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                 : MAP_FAILED;
  const int reason = error != 0 ? error : errno;
  if (memory == MAP_FAILED) {
    close(fd);
    return OutputError("cannot write " + path + ": " + std::strerror(reason));
  }
  Control control;
  control.page_ = static_cast<format::ControlPage*>(memory);
  control.fd_ = fd;
  return control;
}

Control::Control(Control&& other) noexcept
    : page_(std::exchange(other.page_, nullptr)), fd_(std::exchange(other.fd_, -1)) {}

Control& Control::operator=(Control&& other) noexcept {
  std::swap(page_, other.page_);
  std::swap(fd_, other.fd_);
  return *this;
}

Control::~Control() {
  if (page_ != nullptr) munmap(page_, format::kControlBytes);
  if (fd_ >= 0) close(fd_);
}

void Control::Publish() {
  page_->version = format::kFormatVersion;
  std::atomic_ref<uint64_t>(page_->magic).store(format::kControlMagic, std::memory_order_release);
}

bool Control::Start() {
  uint32_t before = state();
  if ((before & format::kStateCollecting) != 0) return false;
  const uint32_t after = page_->captures_done.load() << 1 | format::kStateCollecting;
  if (!page_->state.compare_exchange_strong(before, after)) return false;
  Wake();
  return true;
}

bool Control::Stop() {
  uint32_t before = state();
  if ((before & format::kStateCollecting) == 0) return false;
  if (!page_->state.compare_exchange_strong(before, before & ~format::kStateCollecting)) {
    return false;
  }
  page_->captures_done.fetch_add(1);
  Wake();
  return true;
}

bool Control::GiveTo(uid_t user, gid_t group) const { return fchown(fd_, user, group) == 0; }

void Control::Touch() const { futimens(fd_, nullptr); }

void Control::Disable() {
  std::atomic_ref<uint32_t>(page_->disable).store(1, std::memory_order_release);
}

uint32_t Control::WaitForChange(uint32_t seen) const {
  auto* word = reinterpret_cast<uint32_t*>(&page_->changes);
  // Not without end: who cut the file short exchanged the word, and no wake-up comes any more.
  constexpr timespec kLongest{0, 500'000'000};
  syscall(SYS_futex, word, FUTEX_WAIT, seen, &kLongest, nullptr, 0);
  return page_->changes.load(std::memory_order_acquire);
}

void Control::Wake() {
  page_->changes.fetch_add(1, std::memory_order_acq_rel);
  auto* word = reinterpret_cast<uint32_t*>(&page_->changes);
  syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace batchlight::capture
