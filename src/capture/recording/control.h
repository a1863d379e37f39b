// The tool's side of the control page (format/control.h): makes it, and starts and stops
// collection through it.
#pragma once

#include <string>

#include "base/status.h"
#include "capture/recording/live_folder.h"
#include "format/control.h"
#include "format/layout.h"

namespace batchlight::capture {

class Control {
 public:
  // Makes the folder's control page. `fill` sets the options; the magic is written after it
  // returns.
  template <typename Fill>
  static Result<Control> Create(const LiveFolder& live_folder, Fill&& fill) {
    ASSIGN_OR_RETURN(Control control, Map(live_folder));
    fill(*control.page_);
    control.Publish();
    return control;
  }
  Control(Control&& other) noexcept;
  Control& operator=(Control&& other) noexcept;
  ~Control();

  format::ControlPage& page() { return *page_; }

  bool collecting() const { return (state() & format::kStateCollecting) != 0; }
  uint32_t capture_index() const { return state() >> 1; }
  // False if collection is on, or off, already: a process may have been faster.
  bool Start();
  bool Stop();
  // Lets another user's program map it. False with errno.
  bool GiveTo(uid_t user, gid_t group) const;
  // Makes its file as if it had changed just now: to other machines, which see no more of this one,
  // it is recorded yet (LiveFolder::HostElsewhere). Waits for the file system.
  void Touch() const;
  // Processes that start from now on are not recorded.
  void Disable();

  // Waits until the page says something new (see ControlPage::changes) or Wake() is called, and
  // returns what to pass as `seen` in the next call.
  uint32_t WaitForChange(uint32_t seen) const;
  void Wake();

 private:
  Control() = default;
  static Result<Control> Map(const LiveFolder& live_folder);
  void Publish();
  uint32_t state() const { return page_->state.load(std::memory_order_acquire); }

  format::ControlPage* page_ = nullptr;
  int fd_ = -1;
};

}  // namespace batchlight::capture
