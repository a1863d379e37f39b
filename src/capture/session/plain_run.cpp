#include "capture/session/plain_run.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/child.h"
#include "capture/loop/clock.h"
#include "capture/loop/signal_relay.h"
#include "capture/loop/timer.h"
#include "capture/program/reap.h"
#include "capture/session/target_program.h"

namespace batchlight::capture {
namespace {

class PlainRun {
 public:
  explicit PlainRun(const SessionOptions& options) : options_(options) {}

  Result<PlainEnd> Run() {
    const TargetProgram target = FindTarget(options_, PlainEnvironment(options_));
    if (target.found.path.empty()) return CannotStart(target.found);
    RETURN_IF_ERROR(loop_.Open());
    signals_.Block(IsAnother(options_.run_as));
    ASSIGN_OR_RETURN(Program program,
                     Program::Fork(SpecOf(options_, target, signals_, inherited_)));
    pid_ = program.pid();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    RETURN_IF_ERROR(signals_.Open(
        pid_, [this] { Reap(); }, [] {}));
    inherited_.LetGo(options_.keeps);
    signals_.LendTerminal();
    const int64_t start_ns = MonotonicNow();
    const StartFailure failure = program.Execute("", [this] { signals_.EndIfAsked(); });
    if (failure.error != 0) {
      signals_.ProgramEnded([] {});
      WaitForChild(pid_);
      return CannotStart(ExplainStartFailure(target.found.path, failure));
    }
    while (!over_) {
      loop_.Wait(Timer::TimeoutMs({&stop_waiting_}));
      if (stop_waiting_.Due()) over_ = true;
    }
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
    const bool left = ReapChildren([this](const siginfo_t& child) { signals_.NoteEnd(child); },
                                   [this](pid_t pid, int status, uint64_t) {
                                     if (pid != pid_) return;
                                     WIFSTOPPED(status) ? signals_.ProgramStopped(WSTOPSIG(status))
                                                        : ProgramEnded(status);
                                   });
    if (end_ns_ != 0 && (!left || !options_.wait_all)) over_ = true;
  }

  void ProgramEnded(int status) {
    end_ns_ = MonotonicNow();
    end_.exit_code = ShellExitCode(status);
    const bool had_terminal = signals_.ProgramEnded([this] { over_ = true; });
    if (signals_.asked_to_end()) stop_waiting_.Start(SignalRelay::kEndWithinS);
    end_.interrupted = had_terminal && WIFSIGNALED(status) && WTERMSIG(status) == SIGINT;
    end_.others_know = signals_.others_know();
  }

  const SessionOptions& options_;
  const InheritedDescriptors inherited_;
  EventLoop loop_;
  Timer stop_waiting_;  // for what is left, where the job was asked to end
  SignalRelay signals_{loop_};
  pid_t pid_ = -1;
  int64_t end_ns_ = 0;
  bool over_ = false;
  PlainEnd end_;
};

}  // namespace

Result<PlainEnd> RunPlain(const SessionOptions& options) { return PlainRun(options).Run(); }

}  // namespace batchlight::capture
