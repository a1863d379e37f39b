// Windows gives a process one text in place of words, and its handle is what others wait for:
// Child::pid holds that.
#include "base/child.h"

#include <fcntl.h>
#include <io.h>
#include <sys/wait.h>
#include <unistd.h>
#include <windows.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string_view>

#include "base/split.h"
#include "base/windows/last_error.h"

namespace batchlight {
namespace {

// Between quotes, where backslashes count only before a quote.
std::string Quoted(const std::string& word) {
  if (!word.empty() && word.find_first_of(" \t\"") == std::string::npos) return word;
  std::string text = "\"";
  size_t backslashes = 0;
  for (const char c : word) {
    if (c == '"') text.append(backslashes + 1, '\\');
    backslashes = c == '\\' ? backslashes + 1 : 0;
    text += c;
  }
  return text.append(backslashes, '\\') + '"';
}

// NAME=VALUE, each ended by a zero byte, in the order of names that Windows wants.
std::string EnvironmentBlock(const std::vector<std::pair<std::string, std::string>>& variables) {
  std::map<std::string, std::string> all;
  for (char** entry = _environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const size_t equals = text.find('=', 1);
    if (equals != std::string::npos) all[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : variables) all[name] = value;
  std::string block;
  for (const auto& [name, value] : all) block += name + "=" + value + '\0';
  return block + '\0';
}

// The handle of `fd`, or of the tool's own stream; the child inherits it.
HANDLE Inherited(int fd, int own) {
  const auto handle = reinterpret_cast<HANDLE>(_get_osfhandle(fd >= 0 ? fd : own));
  SetHandleInformation(handle, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
  return handle;
}

}  // namespace

// Windows has no signals of children.
void TakeSignals() {}
void GiveSignalsBack() {}

// CreateProcess looks in the present folder first.
std::string FindOwnProgram(const std::string& name) {
  if (name.find_first_of("/\\") != std::string::npos) return name;
  const char* const users = std::getenv("PATH");
  for (const std::string_view entry : SplitAt(users != nullptr ? users : "", ';')) {
    const std::string folder(entry);
    char path[MAX_PATH];
    if (!std::filesystem::path(folder).is_absolute() || name.empty()) continue;
    const DWORD length =
        SearchPathA(folder.c_str(), name.c_str(), ".exe", sizeof path, path, nullptr);
    if (length > 0 && length < sizeof path) return path;
  }
  return "";
}

Child StartChild(const ChildSpec& spec) {
  std::string path = spec.path;
  if (path.empty() && !spec.is_users) {
    path = FindOwnProgram(spec.words[0]);
    if (path.empty()) return {.error = ENOENT};
  }
  STARTUPINFOA startup{};
  startup.cb = sizeof startup;
  startup.dwFlags = STARTF_USESTDHANDLES;
  startup.hStdInput = Inherited(spec.input_fd, STDIN_FILENO);
  startup.hStdOutput = Inherited(spec.output_fd, STDOUT_FILENO);
  startup.hStdError = Inherited(spec.error_fd, STDERR_FILENO);
  std::string line;
  for (const std::string& word : spec.words) line += (line.empty() ? "" : " ") + Quoted(word);
  std::string environment = EnvironmentBlock(spec.variables);
  PROCESS_INFORMATION process{};
  Child child;
  if (!CreateProcessA(path.empty() ? nullptr : path.c_str(), line.data(), nullptr, nullptr, TRUE, 0,
                      environment.data(), nullptr, &startup, &process)) {
    child.error = ErrorOfWindows();
    return child;
  }
  CloseHandle(process.hThread);
  child.pid = reinterpret_cast<intptr_t>(process.hProcess);
  return child;
}

int WaitForChild(pid_t pid) {
  const auto process = reinterpret_cast<HANDLE>(pid);
  DWORD code = 0;
  WaitForSingleObject(process, INFINITE);
  GetExitCodeProcess(process, &code);
  CloseHandle(process);
  return static_cast<int>(code & 0xff) << 8 | (code > 0xff ? 1 << 8 : 0);
}

int ShellExitCode(int wait_status) { return WEXITSTATUS(wait_status); }

ChildOutput RunAndRead(ChildSpec spec) {
  ChildOutput output;
  int ends[2];
  if (_pipe(ends, 1 << 16, _O_BINARY | _O_NOINHERIT) != 0) {
    output.error = errno;
    return output;
  }
  spec.output_fd = ends[1];
  const Child child = StartChild(spec);
  close(ends[1]);
  output.error = child.error;
  if (child.error == 0) {
    char block[65536];
    int count = 0;
    while ((count = read(ends[0], block, sizeof block)) > 0) {
      output.text.append(block, static_cast<size_t>(count));
    }
  }
  close(ends[0]);
  if (child.error == 0) output.wait_status = WaitForChild(child.pid);
  return output;
}

FedChild RunAndFeed(ChildSpec spec, const std::function<void(std::FILE* input)>& write) {
  int ends[2];
  if (_pipe(ends, 1 << 16, _O_BINARY | _O_NOINHERIT) != 0) return {.error = errno};
  spec.input_fd = ends[0];
  const Child child = StartChild(spec);
  close(ends[0]);
  if (child.error != 0) {
    close(ends[1]);
    return {.error = child.error};
  }
  std::FILE* pipe = fdopen(ends[1], "wb");
  write(pipe);
  std::fclose(pipe);
  return {.wait_status = WaitForChild(child.pid)};
}

}  // namespace batchlight
