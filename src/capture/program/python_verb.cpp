#include "capture/program/python_verb.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/child.h"
#include "base/split.h"
#include "capture/program/install.h"

namespace batchlight::capture {

std::string PythonPathOfOurs() {
  const char* const users = std::getenv("PYTHONPATH");
  std::string path;
  for (const std::string_view entry : SplitAt(users != nullptr ? users : "", ':')) {
    if (entry.starts_with('/')) path.append(path.empty() ? "" : ":").append(entry);
  }
  return path;
}

Result<std::vector<std::string>> PythonWords(const std::string& verb,
                                             const std::vector<std::string>& words) {
  ASSIGN_OR_RETURN(const Install install, FindInstall());
  const char* const users = std::getenv("PYTHONPATH");
  if (const std::string ours = PythonPathOfOurs(); users != nullptr && ours != users) {
    setenv("BATCHLIGHT_PYTHONPATH", users, 1);
    setenv("PYTHONPATH", ours.c_str(), 1);
  }
  // A virtual environment's, else by its path: Python looks along PATH for itself, too.
  std::string python = install.prefix + "/bin/python3";
  if (access(python.c_str(), X_OK) != 0) python = FindOwnProgram("python3");
  if (python.empty()) return NoPython(verb, ENOENT);
  std::vector<std::string> command = {python, install.python_folder + "/batchlight", verb};
  command.insert(command.end(), words.begin(), words.end());
  return command;
}

Status NoPython(const std::string& verb, int error) {
  return UsageError(verb + " needs python3, which cannot be started: " + std::strerror(error));
}

Status BecomePython(const std::string& verb, const std::vector<std::string>& words) {
  ASSIGN_OR_RETURN(const std::vector<std::string> command, PythonWords(verb, words));
  const std::vector<char*> arguments = TextPointers(command);
  GiveSignalsBack();
  execv(arguments[0], arguments.data());
  return NoPython(verb, errno);
}

}  // namespace batchlight::capture
