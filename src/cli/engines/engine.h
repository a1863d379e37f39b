// Where the recordings of a job are read: in this process, on the nodes of a Slurm job, or on the
// workers of a Dask cluster. What is done with each recording is the same, and so is the result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "cli/flags/command.h"

namespace batchlight::cli {

// An input as a machine sees it: two that see the same have the same file before them.
struct SeenInput {
  std::string path;
  uint64_t bytes = 0;      // 0 of a folder: it grows
  int64_t changed_ns = 0;  // likewise
  bool operator==(const SeenInput&) const = default;
  auto operator<=>(const SeenInput&) const = default;
};

struct EngineInput {
  SeenInput seen;
  std::vector<std::string> places;  // that see it; none: this machine
};

// What is done with each input: here, or elsewhere as `batchlight work WORDS -- INPUT...`.
struct Work {
  std::vector<std::string> words;
  std::function<Result<std::string>(const std::string& path)> run;
};

// Receives what came of an input, by its number; once for each, on any thread.
using TakeWork = std::function<void(size_t input, Result<std::string> bytes)>;

class Engine {
 public:
  virtual ~Engine() = default;
  // The inputs that the words of a command line stand for, in order. Errors: kInput; kUsage if the
  // engine cannot be reached.
  virtual Result<std::vector<EngineInput>> Find(const std::vector<std::string>& runs) = 0;
  // Errors: what ends all work. Of a single input `take` is told.
  virtual Status Run(const std::vector<EngineInput>& inputs, const Work& work,
                     const TakeWork& take) = 0;
};

// On the threads of this process; on one alone.
enum class LocalThreads { kAll, kOne };
std::unique_ptr<Engine> LocalEngine(LocalThreads threads);

// "local", "slurm[:JOB]", "dask:ADDRESS", "dask:SCHEDULER-FILE", "dask" (the cluster that
// DASK_SCHEDULER_ADDRESS or NSYS_DASK_SCHEDULER_FILE names, else as "local"). Errors: kUsage.
Result<std::unique_ptr<Engine>> OpenEngine(const std::string& text);

// --engine. `engine` must outlive the parsing.
void AddEngineFlag(const Command& command, std::string* engine);

}  // namespace batchlight::cli
