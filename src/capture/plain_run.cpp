#include "capture/plain_run.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "capture/find_program.h"
#include "capture/program.h"
#include "capture/signal_relay.h"
#include "capture/target_environment.h"
#include "capture/tool_log.h"

namespace batchlight::capture {
namespace {

class PlainRun {
 public:
  explicit PlainRun(const SessionOptions& options) : options_(options) {}

  Result<PlainEnd> Run() {
    EnvironmentOptions wanted;
    wanted.inherit = options_.inherit_environment;
    wanted.variables = options_.variables;
    std::vector<std::string> environment = MakeTargetEnvironment(wanted);
    if (options_.run_as) SetUserVariables(*options_.run_as, options_.variables, environment);
    const char* path = FindVariable(environment, "PATH");
    const FoundProgram found =
        FindProgram(options_.command[0], path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
    if (found.path.empty()) return CannotStart(found);
    RETURN_IF_ERROR(loop_.Open());
    signals_.Block();
    const ProgramSpec spec{found.path,           options_.command,         environment,
                           options_.show_output, signals_.original_mask(), options_.run_as};
    ASSIGN_OR_RETURN(Program program, Program::Fork(spec));
    pid_ = program.pid();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    RETURN_IF_ERROR(signals_.Open(pid_, [this] { Reap(); }));
    const int64_t start_ns = MonotonicNow();
    if (const StartFailure failure = program.Execute(""); failure.error != 0) {
      waitpid(pid_, nullptr, 0);
      return CannotStart(ExplainStartFailure(found.path, failure));
    }
    while (!over_) loop_.Wait(-1);
    end_.wall_ns = end_ns_ - start_ns;
    return end_;
  }

 private:
  static PlainEnd CannotStart(const FoundProgram& problem) {
    PlainEnd end;
    end.exit_code = problem.exit_code;
    end.problem = problem.problem;
    return end;
  }

  void Reap() {
    while (true) {
      int status = 0;
      const pid_t pid = waitpid(-1, &status, WNOHANG | WUNTRACED);
      if (pid < 0 && errno == EINTR) continue;
      if (pid <= 0) {
        if (end_ns_ != 0 && (pid < 0 || !options_.wait_all)) over_ = true;
        return;
      }
      if (pid != pid_) continue;
      if (WIFSTOPPED(status)) {
        signals_.ProgramStopped(WSTOPSIG(status));
        continue;
      }
      end_ns_ = MonotonicNow();
      end_.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      const bool had_terminal = signals_.ProgramEnded([this] { over_ = true; });
      end_.interrupted = had_terminal && WIFSIGNALED(status) && WTERMSIG(status) == SIGINT;
    }
  }

  const SessionOptions& options_;
  EventLoop loop_;
  SignalRelay signals_{loop_};
  pid_t pid_ = -1;
  int64_t end_ns_ = 0;
  bool over_ = false;
  PlainEnd end_;
};

}  // namespace

Result<PlainEnd> RunPlain(const SessionOptions& options) { return PlainRun(options).Run(); }

}  // namespace batchlight::capture
