#include "analysis/run/program_processes.h"

#include <gtest/gtest.h>

#include <csignal>

namespace batchlight {
namespace {

ProcessInfo Process(uint32_t pid, int32_t parent, uint64_t events, int exit_code = 0,
                    int exit_signal = 0) {
  return {.pid = pid,
          .parent = parent,
          .end_ns = 100,
          .exit_code = exit_code,
          .exit_signal = exit_signal,
          .events = events};
}

TEST(ProgramProcesses, APoolEndsItsWorkers) {
  SessionInfo session;
  session.processes = {Process(1, -1, 50), Process(2, 0, 5, -1, SIGTERM),
                       Process(3, 0, 5, -1, SIGKILL), Process(4, 0, 5, 3)};
  session.processes[1].end_ns = 90;
  const ProgramProcesses found = FindProgramProcesses(session);
  EXPECT_EQ(found.failed, (std::vector<bool>{false, false, true, true}));
  EXPECT_EQ(found.count, 4u);
  EXPECT_EQ(found.main, 0u);
}

TEST(ProgramProcesses, TheSameSignalFromOutsideIsAnAlarm) {
  SessionInfo session;  // as timeout and a cluster end a job: all of it, or its parent first
  session.processes = {Process(1, -1, 50, -1, SIGTERM), Process(2, 0, 5, -1, SIGTERM),
                       Process(3, 0, 5, -1, SIGTERM)};
  session.processes[2].end_ns = 200;
  EXPECT_EQ(FindProgramProcesses(session).failed, (std::vector<bool>{true, true, true}));
}

TEST(ProgramProcesses, AShimIsNotTheProgram) {
  SessionInfo session;  // shim, its helper that fails, python, a worker
  session.processes = {Process(1, -1, 0, -1, -1), Process(2, 0, 0, 1), Process(1, -1, 0),
                       Process(3, 2, 0)};
  session.processes[0].replaced = true;
  const ProgramProcesses found = FindProgramProcesses(session);
  EXPECT_EQ(found.main, 2u);
  EXPECT_EQ(found.launcher, (std::vector<bool>{true, true, false, false}));
  EXPECT_EQ(found.failed, std::vector<bool>(4));
  EXPECT_EQ(found.count, 2u);
}

TEST(ProgramProcesses, TheProgramIsTheScriptNotItsBusiestWorker) {
  SessionInfo session;
  session.processes = {Process(1, -1, 0), Process(2, 0, 9)};
  session.processes[0].name = session.processes[1].name = "pool.py";
  EXPECT_EQ(FindProgramProcesses(session).main, 0u);
  session.processes[0].name = "torchrun";
  EXPECT_EQ(FindProgramProcesses(session).main, 1u);
  session.processes[0].events = 1;
  EXPECT_EQ(FindProgramProcesses(session).main, 0u);
}

TEST(ProgramProcesses, OfNothing) {
  EXPECT_EQ(FindProgramProcesses({}).main, ProgramProcesses::kNone);
}

}  // namespace
}  // namespace batchlight
