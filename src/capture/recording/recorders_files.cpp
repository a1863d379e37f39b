#include "capture/recording/recorders_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>

#include "capture/recording/live_folder.h"
#include "cpython/process_frames.h"
#include "format/control.h"
#include "format/layout.h"
#include "format/step_board.h"
#include "format/timer_samples.h"

namespace batchlight::capture {
namespace {

// 0: no recorder's name.
uint64_t MagicOf(std::string_view name) {
  if (name == kControlFile) return format::kControlMagic;
  if (name == format::kStepBoardFile) return format::kStepBoardMagic;
  if (name == format::kTimerSamplesFile) return format::kTimerSamplesMagic;
  if (name.ends_with(cpython::kFramesSuffix)) return cpython::kFramesMagic;
  return name.ends_with(".blp") ? format::kChunkMagic : 0;
}

}  // namespace

bool IsRecordersName(std::string_view name) { return MagicOf(name) != 0; }

Beginning BeginningOf(int fd, std::string_view name) {
  const uint64_t wanted = MagicOf(name);
  struct stat info {};
  uint64_t magic = 0;
  const size_t size = wanted == format::kChunkMagic ? sizeof(uint32_t) : sizeof magic;
  const bool is_file = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  const ssize_t bytes = is_file ? pread(fd, &magic, size, 0) : -1;
  if (bytes != 0 && bytes != static_cast<ssize_t>(size)) return Beginning::kOther;
  if (magic == wanted) return Beginning::kRecorders;
  return magic == 0 ? Beginning::kBlank : Beginning::kOther;
}

Beginning BeginningOf(const Folder& folder, const std::string& name) {
  const int fd = folder.OpenFile(name, O_RDONLY);
  if (fd < 0) return Beginning::kOther;
  const Beginning beginning = BeginningOf(fd, name);
  close(fd);
  return beginning;
}

bool IsRecordersFolder(const Folder& folder) {
  bool only_blank = true;
  for (const std::string& name : folder.Names()) {
    const Beginning beginning =
        IsRecordersName(name) ? BeginningOf(folder, name) : Beginning::kOther;
    if (beginning == Beginning::kRecorders) return true;
    only_blank = only_blank && beginning == Beginning::kBlank;
  }
  return only_blank;
}

}  // namespace batchlight::capture
