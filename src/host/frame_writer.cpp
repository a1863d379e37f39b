#include "host/frame_writer.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

namespace batchlight::host {

void FrameWriter::Begin(FrameKind kind, size_t bytes) {
  if (sizeof buffer_ - used_ < sizeof(FrameHead) + bytes) Flush();
  const FrameHead head = {kind, static_cast<uint32_t>(bytes)};
  Add(&head, sizeof head);
}

void FrameWriter::Add(const void* bytes, size_t count) {
  if (sizeof buffer_ - used_ < count) Flush();
  if (sizeof buffer_ < count) return;
  memcpy(buffer_ + used_, bytes, count);
  used_ += count;
}

void FrameWriter::AddText(const char* text) { Add(text, strlen(text) + 1); }

void FrameWriter::Reason(const char* text) {
  Begin(FrameKind::kReason, strlen(text));
  Add(text, strlen(text));
}

void FrameWriter::Flush() {
  for (size_t at = 0; at < used_ && !is_broken_;) {
    const ssize_t written = write(STDOUT_FILENO, buffer_ + at, used_ - at);
    if (written > 0) {
      at += static_cast<size_t>(written);
    } else if (errno != EINTR) {
      is_broken_ = true;
    }
  }
  used_ = 0;
}

}  // namespace batchlight::host
