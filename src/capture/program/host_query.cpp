#include "capture/program/host_query.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>

#include "base/child.h"
#include "capture/program/install.h"

namespace batchlight::capture {
namespace {

Status Unanswered(const std::string& path, const ChildOutput& output) {
  if (output.error == ENOENT) {  // the file or its loader: FindInstall() has seen the file
    return InputError(path + " does not start: this system has no glibc. Recordings can be read " +
                      "here, programs cannot be recorded");
  }
  if (output.error != 0) {
    return InputError(path + " does not start: " + std::strerror(output.error) +
                      "; install batchlight anew");
  }
  return InputError(path + " was ended by signal " + std::to_string(WTERMSIG(output.wait_status)) +
                    (WTERMSIG(output.wait_status) == SIGALRM ? ": no answer within a minute" : ""));
}

}  // namespace

PrintedLines ReadPrintedLines(const std::string& text) {
  PrintedLines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    const size_t equals = line.find('=');
    if (equals != std::string::npos) {
      lines.emplace_back(line.substr(0, equals), line.substr(equals + 1));
    }
  }
  return lines;
}

std::string FirstValue(const PrintedLines& lines, const std::string& key) {
  for (const auto& [name, value] : lines) {
    if (name == key) return value;
  }
  return {};
}

Result<HostAnswer> AskHost(const std::vector<std::string>& words) {
  ASSIGN_OR_RETURN(const Install install, FindInstall());
  const std::string& path = install.host_query;
  if (access(path.c_str(), F_OK) != 0) {
    return InputError(path + " is missing: copy the whole installation");
  }
  ChildSpec spec{.words = {path}, .path = path};
  spec.words.insert(spec.words.end(), words.begin(), words.end());
  const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
  spec.error_fd = nothing;
  const ChildOutput output = RunAndRead(spec);
  if (nothing >= 0) close(nothing);
  if (output.error != 0 || !WIFEXITED(output.wait_status)) return Unanswered(path, output);
  return HostAnswer{ReadPrintedLines(output.text), WEXITSTATUS(output.wait_status) == 0};
}

}  // namespace batchlight::capture
