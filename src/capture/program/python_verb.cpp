#include "capture/program/python_verb.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/child.h"
#include "capture/program/install.h"

namespace batchlight::capture {

Result<std::vector<std::string>> PythonWords(const std::string& verb,
                                             const std::vector<std::string>& words) {
  ASSIGN_OR_RETURN(const Install install, FindInstall());
  const std::string beside = install.prefix + "/bin/python3";  // a virtual environment's
  std::vector<std::string> command = {access(beside.c_str(), X_OK) == 0 ? beside : "python3",
                                      install.python_folder + "/batchlight", verb};
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
  execvp(arguments[0], arguments.data());
  return NoPython(verb, errno);
}

}  // namespace batchlight::capture
