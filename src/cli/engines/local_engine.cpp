#include <utility>

#include "base/thread_pool.h"
#include "cli/engines/engine.h"
#include "ingest/input_paths.h"

namespace batchlight::cli {
namespace {

class Local : public Engine {
 public:
  explicit Local(LocalThreads threads) : threads_(threads) {}

  Result<std::vector<EngineInput>> Find(const std::vector<std::string>& runs) override {
    ASSIGN_OR_RETURN(std::vector<std::string> paths, FindInputs(runs));
    std::vector<EngineInput> inputs;
    for (std::string& path : paths) inputs.push_back({.seen = {.path = std::move(path)}});
    return inputs;
  }

  Status Run(const std::vector<EngineInput>& inputs, const Work& work,
             const TakeWork& take) override {
    const auto one = [&](size_t i) { take(i, work.run(inputs[i].seen.path)); };
    if (threads_ == LocalThreads::kAll) {
      ParallelFor(inputs.size(), one);
    } else {
      for (size_t i = 0; i < inputs.size(); ++i) one(i);
    }
    return {};
  }

 private:
  const LocalThreads threads_;
};

}  // namespace

std::unique_ptr<Engine> LocalEngine(LocalThreads threads) {
  return std::make_unique<Local>(threads);
}

void AddEngineFlag(const Command& command, std::string* engine) {
  command
      .Option("--engine", engine,
              "Where recordings are read: local, slurm or slurm:JOB (on the nodes of a job), "
              "dask:ADDRESS or dask:SCHEDULER-FILE (by its workers); the result is the same")
      .TypeName("ENGINE")
      .ShowDefault();
}

}  // namespace batchlight::cli
