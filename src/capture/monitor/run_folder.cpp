#include "capture/monitor/run_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/file.h"
#include "capture/recording/output_name.h"

namespace batchlight::capture {
namespace {

constexpr char kWindowFile[] = "window";
constexpr char kStatusPrefix[] = "status.";
constexpr int64_t kFreshNs = 30'000'000'000;
constexpr off_t kMostBytes = 4096;

// The number behind "KEY=" at the beginning of a line; 0 if there is none.
uint64_t NumberOf(const std::string& text, const std::string& key) {
  const size_t at = ("\n" + text).find("\n" + key + "=");
  if (at == std::string::npos) return 0;
  uint64_t number = 0;
  const char* const begin = text.data() + at + key.size() + 1;
  const auto read = std::from_chars(begin, text.data() + text.size(), number);
  return read.ec == std::errc() ? number : 0;
}

// "" if it is not there or no small file. What was looked at is what is read: whoever may write the
// folder may exchange it at any moment.
std::string SmallFile(const Folder& folder, const std::string& name) {
  const int fd = folder.OpenFile(name, O_RDONLY);
  if (fd < 0) return {};
  struct stat info {};
  std::string text;
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size <= kMostBytes) {
    text.resize(kMostBytes);
    const ssize_t count = pread(fd, text.data(), text.size(), 0);
    text.resize(static_cast<size_t>(std::max<ssize_t>(0, count)));
  }
  close(fd);
  return text;
}

}  // namespace

RunFolder::RunFolder(std::string path, Folder folder)
    : path_(std::move(path)),
      folder_(std::move(folder)),
      status_name_(kStatusPrefix + HostName() + "." + std::to_string(getpid())) {}

Result<RunFolder> RunFolder::Make(const std::string& path) {
  if (mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) {
    return OutputError("--monitor: cannot make the folder " + path + ": " + std::strerror(errno));
  }
  auto folder = Folder::OpenForOutput(path);
  if (!folder.ok()) return OutputError("--monitor: " + folder.status().message());
  return RunFolder(path, std::move(folder).value());
}

Result<RunFolder> RunFolder::Open(const std::string& path) {
  ASSIGN_OR_RETURN(Folder folder, Folder::Open(path));
  return RunFolder(path, std::move(folder));
}

std::string RunFolder::PathOf(const std::string& name) const {
  return folder_.DescriptorPath() + "/" + name;
}

Status RunFolder::WriteStatus(const RunStatus& status) const {
  return WriteWholeFile(PathOf(status_name_),
                        "step=" + std::to_string(status.step) +
                            "\nstep_ns=" + std::to_string(status.step_ns) +
                            "\nrealtime_ns=" + std::to_string(status.realtime_ns) +
                            "\nstart_ns=" + std::to_string(status.start_ns) + "\n");
}

void RunFolder::RemoveStatus() const { unlink(PathOf(status_name_).c_str()); }

std::optional<RunStatus> RunFolder::FurthestStatus(int64_t now_ns) const {
  std::optional<RunStatus> furthest;
  for (const std::string& name : folder_.Names()) {
    if (!name.starts_with(kStatusPrefix) || name.find(kPartialInfix) != std::string::npos) continue;
    const std::string text = SmallFile(folder_, name);
    const RunStatus status = {
        .step = NumberOf(text, "step"),
        .step_ns = static_cast<int64_t>(NumberOf(text, "step_ns") & INT64_MAX),
        .realtime_ns = static_cast<int64_t>(NumberOf(text, "realtime_ns") & INT64_MAX),
        .start_ns = static_cast<int64_t>(NumberOf(text, "start_ns") & INT64_MAX)};
    // One of a clock that goes far ahead would be fresh for ever.
    const bool is_fresh =
        status.realtime_ns > now_ns - kFreshNs && status.realtime_ns < now_ns + kFreshNs;
    if (is_fresh && (!furthest || status.step > furthest->step)) furthest = status;
  }
  return furthest;
}

Status RunFolder::WriteRequest(format::StepRequest request, int64_t realtime_ns) const {
  return WriteWholeFile(PathOf(kWindowFile), "first=" + std::to_string(request.first) +
                                                 "\ncount=" + std::to_string(request.count) +
                                                 "\nrealtime_ns=" + std::to_string(realtime_ns) +
                                                 "\n");
}

format::StepRequest RunFolder::ReadRequest(int64_t since_ns) const {
  const std::string text = SmallFile(folder_, kWindowFile);
  const format::StepRequest request = {.first = NumberOf(text, "first"),
                                       .count = NumberOf(text, "count")};
  const auto asked_ns = static_cast<int64_t>(NumberOf(text, "realtime_ns") & INT64_MAX);
  const bool fits = asked_ns >= since_ns && request.first >= 1 &&
                    request.first <= format::kLastRequestableStep &&
                    request.count <= format::kMostRequestedSteps;
  return fits ? request : format::StepRequest();
}

}  // namespace batchlight::capture
