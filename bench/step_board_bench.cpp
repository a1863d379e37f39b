// What --monitor costs the program at the end of a step and around a phase, and what --overhead
// does at the end of one: it compares the step with its neighbours and plans the next ones.
//
//   build/release/bench/step_board_bench --benchmark_repetitions=5
//   --benchmark_report_aggregates_only
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "inject/collect/detail_plan.h"
#include "inject/collect/step_board.h"
#include "inject/testing/live_session.h"

namespace {

using namespace batchlight;

void MakeBoard(const std::string& folder) {
  const int fd = ::open((folder + "/" + format::kStepBoardFile).c_str(), O_RDWR | O_CREAT, 0600);
  const uint64_t magic = format::kStepBoardMagic;
  if (::posix_fallocate(fd, 0, sizeof(format::StepBoard)) != 0 ||
      ::pwrite(fd, &magic, sizeof magic, 0) != sizeof magic) {
    std::abort();
  }
  ::close(fd);
}

void StepEnds(benchmark::State& state) {
  uint64_t step = 0;
  for (auto _ : state) inject::BoardStepEnded(++step);
}
BENCHMARK(StepEnds);

void PhaseBeginsAndEnds(benchmark::State& state) {
  const auto phase = static_cast<uint32_t>(format::kBoardPhases[0]);
  for (auto _ : state) {
    inject::BoardPhaseBegins(phase);
    inject::BoardPhaseEnds();
  }
}
BENCHMARK(PhaseBeginsAndEnds);

void BudgetIsPlanned(benchmark::State& state) {
  inject::DetailPlan plan({.budget = 0.03});
  uint64_t step = 0;
  for (auto _ : state) {
    const bool detail = plan.HasDetail(step);
    plan.Took(step, detail, (detail ? 1'300'000 : 1'000'000) + step % 7 * 1'000);
    ++step;
  }
}
BENCHMARK(BudgetIsPlanned);

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv(format::kSessionDirVariable) == nullptr) {  // joined before main, so once more
    const inject::LiveSession session;
    session.SetEnvironment();
    MakeBoard(session.folder());
    const pid_t child = ::fork();
    if (child == 0) {
      ::execv("/proc/self/exe", argv);
      ::_exit(127);
    }
    int status = 1;
    ::waitpid(child, &status, 0);
    ::unlink((session.folder() + "/" + format::kStepBoardFile).c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
