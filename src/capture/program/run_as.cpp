#include "capture/program/run_as.h"

#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "capture/program/host_query.h"
#include "capture/program/target_environment.h"

namespace batchlight::capture {
bool CanReach(const RunAs& user, const std::string& path, int mode) {
  const pid_t pid = fork();
  if (pid == 0) _exit(Become(user) && access(path.c_str(), mode) == 0 ? 0 : 1);
  int status = 1;
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return pid > 0 && status == 0;
}

Result<RunAs> FindUser(const std::string& user) {
  ASSIGN_OR_RETURN(const HostAnswer answer, AskHost({"user", user}));
  if (!answer.known) return UsageError("--run-as: there is no user " + user);
  const auto number = [](const std::string& text) {
    return static_cast<uid_t>(std::strtoul(text.c_str(), nullptr, 10));
  };
  RunAs found{.uid = number(FirstValue(answer.lines, "uid")),
              .gid = number(FirstValue(answer.lines, "gid")),
              .name = FirstValue(answer.lines, "name"),
              .home = FirstValue(answer.lines, "home"),
              .shell = FirstValue(answer.lines, "shell")};
  for (const auto& [key, value] : answer.lines) {
    if (key == "group") found.groups.push_back(number(value));
  }
  if (geteuid() != 0 && found.uid != geteuid()) {
    return UsageError("--run-as: only root can start a program as " + user +
                      "; start batchlight itself as that user");
  }
  return found;
}

bool IsAnother(const std::optional<RunAs>& user) { return user && user->uid != geteuid(); }

bool Become(const RunAs& user) {
  if (geteuid() == user.uid) return true;
  return setgroups(user.groups.size(), user.groups.data()) == 0 &&
         setresgid(user.gid, user.gid, user.gid) == 0 &&
         setresuid(user.uid, user.uid, user.uid) == 0;
}

void SetUserVariables(const RunAs& user, const std::vector<std::string>& kept,
                      std::vector<std::string>& environment) {
  const std::pair<const char*, const std::string*> variables[] = {
      {"HOME", &user.home}, {"USER", &user.name}, {"LOGNAME", &user.name}, {"SHELL", &user.shell}};
  for (const auto& [name, value] : variables) {
    if (FindVariable(kept, name) == nullptr) SetVariable(environment, name, *value);
  }
}

Status CheckReach(const RunAs& user, const std::string& folder, const std::string& library) {
  if (!CanReach(user, folder, W_OK | X_OK)) {
    return OutputError("--run-as: " + user.name + " cannot reach " + folder +
                       ", where the program records; choose another place with -o");
  }
  if (!CanReach(user, library, R_OK)) {
    return OutputError("--run-as: " + user.name + " cannot read " + library +
                       "; install batchlight where every user can");
  }
  return {};
}

}  // namespace batchlight::capture
