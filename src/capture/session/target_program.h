// The program that a session runs, with and without the recorder: where it lies, and the
// environment it gets.
#pragma once

#include <string>
#include <vector>

#include "capture/loop/signal_relay.h"
#include "capture/program/find_program.h"
#include "capture/program/inherited_descriptors.h"
#include "capture/program/program.h"
#include "capture/program/target_environment.h"
#include "capture/recording/options.h"

namespace batchlight::capture {

struct TargetProgram {
  std::vector<std::string> environment;
  FoundProgram found;
};

// What the options say of the environment; nothing in it brings the recorder in yet.
EnvironmentOptions PlainEnvironment(const SessionOptions& options);

// Looks for the program along the PATH that it will have itself.
TargetProgram FindTarget(const SessionOptions& options, const EnvironmentOptions& environment);

ProgramSpec SpecOf(const SessionOptions& options, const TargetProgram& target,
                   const SignalRelay& signals, const InheritedDescriptors& inherited);

}  // namespace batchlight::capture
