#include "cli/reading/repeatable_input.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "cli/reading/standard_output.h"
#include "cli/reading/temporary_folder.h"

namespace batchlight::cli {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 30;
constexpr int kSilentMs = 5000;

bool IsStream() {
  struct stat status;
  return fstat(STDIN_FILENO, &status) == 0 &&
         (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

// Whether input, or its end, arrives within kSilentMs.
bool SomethingComes() {
  pollfd wait{STDIN_FILENO, POLLIN, 0};
  int ready;
  do {
    ready = poll(&wait, 1, kSilentMs);
  } while (ready < 0 && errno == EINTR);
  return ready != 0;
}

Status WriteAll(int file, const char* bytes, size_t count) {
  while (count > 0) {
    const ssize_t written = write(file, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      return OutputError(std::string("--measure-overhead: cannot keep standard input in TMPDIR: ") +
                         std::strerror(errno));
    }
    bytes += written;
    count -= static_cast<size_t>(written);
  }
  return {};
}

Status CopyInput(int file) {
  std::vector<char> bytes(1 << 16);
  for (int64_t total = 0;;) {
    const ssize_t count = read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return InputError(std::string("--measure-overhead: cannot read standard input: ") +
                        std::strerror(errno));
    }
    if (count == 0) return {};
    total += count;
    if (total > kMaxBytes) {
      return InputError(
          "--measure-overhead: more than 1 GiB comes through the pipe on standard input, and every "
          "run is to read it: give it as a file (< FILE)");
    }
    RETURN_IF_ERROR(WriteAll(file, bytes.data(), static_cast<size_t>(count)));
  }
}

}  // namespace

Result<RepeatableInput> RepeatableInput::Make() {
  if (!IsStream()) return RepeatableInput(lseek(STDIN_FILENO, 0, SEEK_CUR));
  if (!SomethingComes()) {
    SayLine(
        "batchlight: --measure-overhead: nothing comes through the pipe on standard input: it is "
        "not kept, and only the first run can read it");
    return RepeatableInput(-1);
  }
  ASSIGN_OR_RETURN(std::string path, PlaceForAWhile());
  path += "/batchlight-XXXXXX";
  const int file = mkostemp(path.data(), O_CLOEXEC);
  if (file < 0) {
    return OutputError("--measure-overhead: cannot make " + path + ": " + std::strerror(errno));
  }
  unlink(path.c_str());
  const Status copied = CopyInput(file);
  if (copied.ok()) dup2(file, STDIN_FILENO);
  close(file);
  RETURN_IF_ERROR(copied);
  lseek(STDIN_FILENO, 0, SEEK_SET);
  return RepeatableInput(0);
}

void RepeatableInput::Rewind() const {
  if (start_ >= 0) lseek(STDIN_FILENO, start_, SEEK_SET);
}

}  // namespace batchlight::cli
