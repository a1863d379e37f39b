#include "capture/recording/output_name.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/file.h"
#include "capture/recording/live_folder.h"

namespace batchlight::capture {
namespace {

// Also by a link to nothing: no new file gets that name.
bool NameIsTaken(const std::string& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0;
}

}  // namespace

std::string HostName() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

Result<std::string> ExpandOutputName(const std::string& pattern, pid_t pid) {
  std::string name;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      name += pattern[i];
      continue;
    }
    const char what = i + 1 < pattern.size() ? pattern[++i] : '\0';
    if (what == '%') {
      name += '%';
    } else if (what == 'p') {
      name += std::to_string(pid);
    } else if (what == 'h') {
      name += HostName();
    } else if (what == 'q' && i + 1 < pattern.size() && pattern[i + 1] == '{' &&
               pattern.find('}', i) != std::string::npos) {
      const size_t end = pattern.find('}', i);
      const std::string variable = pattern.substr(i + 2, end - i - 2);
      const char* value = std::getenv(variable.c_str());
      if (value == nullptr) {
        return UsageError("-o " + pattern + ": the environment variable " + variable +
                          " is not set");
      }
      name += value;
      i = end;
    } else {
      return UsageError("-o " + pattern + ": after % only p (pid), h (host name), q{NAME} " +
                        "(environment variable) and % are known");
    }
  }
  const std::string suffix = kRecordingSuffix;
  if (name.ends_with(suffix) && name.size() > suffix.size()) {
    name.resize(name.size() - suffix.size());
  }
  if (name.empty()) return UsageError("-o: the name is empty");
  return name.back() == '/' ? NextFreeName(name + "report") : name;
}

std::string NextFreeName(const std::string& base) {
  for (int number = 1;; ++number) {
    std::string name = base + std::to_string(number);
    if (!NameIsTaken(RecordingPath(name, 0)) && !NameIsTaken(RecordingPath(name, 1)) &&
        !NameIsTaken(name + kLiveSuffix)) {
      return name;
    }
  }
}

std::string RecordingPath(const std::string& name, int number) {
  return name + (number > 0 ? "." + std::to_string(number) : "") + kRecordingSuffix;
}

Status CheckOutputIsFree(const std::string& name, bool several) {
  const std::string path = RecordingPath(name, several ? 1 : 0);
  if (!NameIsTaken(path)) return {};
  return OutputError(path + " exists; pass -f to overwrite it, or choose another name with -o");
}

}  // namespace batchlight::capture
