#include "capture/session/target_program.h"

#include <sys/prctl.h>

namespace batchlight::capture {

EnvironmentOptions PlainEnvironment(const SessionOptions& options) {
  EnvironmentOptions environment;
  environment.inherit = options.inherit_environment;
  environment.variables = options.variables;
  return environment;
}

TargetProgram FindTarget(const SessionOptions& options, const EnvironmentOptions& environment) {
  TargetProgram target;
  target.environment = MakeTargetEnvironment(environment);
  if (options.run_as) SetUserVariables(*options.run_as, options.variables, target.environment);
  const char* path = FindVariable(target.environment, "PATH");
  target.found =
      FindProgram(options.command[0], path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
  return target;
}

namespace {

// Who starts a program that is to die with him (PR_SET_PDEATHSIG) starts the tool so, which hands
// it on: one that runs on by itself afterwards keeps none.
int DeathSignal(const SessionOptions& options) {
  int signal = 0;
  if (options.kill_signal == 0 || prctl(PR_GET_PDEATHSIG, &signal) != 0) return 0;
  return signal;
}

}  // namespace

ProgramSpec SpecOf(const SessionOptions& options, const TargetProgram& target,
                   const SignalRelay& signals, const InheritedDescriptors& inherited) {
  return {.path = target.found.path,
          .arguments = options.command,
          .environment = target.environment,
          .error_fd = inherited.program_error(),
          .show_output = options.show_output,
          .signal_mask = signals.original_mask(),
          .run_as = options.run_as,
          .death_signal = DeathSignal(options),
          .shares_group = signals.shares_group(),
          .apart = signals.apart(),
          .input_fd = signals.program_input(),
          .others = inherited.others()};
}

}  // namespace batchlight::capture
