#include <sys/wait.h>

#include <cstdlib>
#include <map>
#include <utility>

#include "base/child.h"
#include "base/split.h"
#include "cli/engines/line_children.h"
#include "cli/engines/workers.h"

namespace batchlight::cli {
namespace {

// A node that does not answer for so long is as good as dead.
constexpr char kPatienceSeconds[] = "60";

Result<std::vector<std::string>> LinesOf(const std::vector<std::string>& words) {
  const ChildOutput output = RunAndRead({.words = words});
  if (output.error != 0) {
    return UsageError("--engine slurm needs " + words[0] +
                      ", which is not here: run it where Slurm's commands are");
  }
  if (output.wait_status != 0) return UsageError("`" + words[0] + "` failed: see above");
  std::vector<std::string> lines;
  for (const std::string_view line : SplitAt(output.text, '\n')) {
    if (!line.empty()) lines.emplace_back(line);
  }
  return lines;
}

class Slurm : public Workers {
 public:
  explicit Slurm(std::string job) : job_(std::move(job)) {}

  Result<std::vector<WorkPlace>> Open() override {
    if (job_.empty()) {
      const char* const own = std::getenv("SLURM_JOB_ID");
      if (own == nullptr) {
        return UsageError(
            "--engine slurm runs inside of a job (salloc, sbatch); --engine slurm:JOB names "
            "one of yours, and `salloc -N 4 batchlight ranks --engine slurm RUN` starts one");
      }
      job_ = own;
    }
    ASSIGN_OR_RETURN(const std::vector<std::string> lists,
                     LinesOf({"squeue", "-h", "-t", "R", "-j", job_, "-o", "%N"}));
    if (lists.size() != 1) return UsageError("--engine slurm: job " + job_ + " does not run");
    ASSIGN_OR_RETURN(const std::vector<std::string> names,
                     LinesOf({"scontrol", "show", "hostnames", lists[0]}));
    std::vector<WorkPlace> places;
    for (const std::string& name : names) places.push_back({.name = name});
    return places;
  }

  Status Begin(size_t call, const std::string& place,
               const std::vector<std::string>& words) override {
    std::vector<std::string> command = {"srun",
                                        "--jobid=" + job_,
                                        "--overlap",
                                        "--nodes=1",
                                        "--ntasks=1",
                                        "--nodelist=" + place,
                                        "--input=none",
                                        "--quiet",
                                        "--quit-on-interrupt",
                                        std::string("--immediate=") + kPatienceSeconds};
    for (std::string& word : ProgramOfWorkers(words)) command.push_back(std::move(word));
    return children_.Start(call, command);
  }

  Result<Event> Next() override {
    LineChildren::Event next = children_.Next();
    Event event{.call = next.id, .ended = next.ended, .line = std::move(next.line), .failure = {}};
    if (next.ended && next.wait_status != 0) {
      event.failure = "exit code " + std::to_string(ShellExitCode(next.wait_status));
      const std::string_view said = next.said;
      const std::string_view last =
          SplitAt(said.substr(0, said.find_last_not_of('\n') + 1), '\n').back();
      if (!last.empty()) event.failure += ": " + std::string(last);
    }
    return event;
  }

 private:
  std::string job_;
  LineChildren children_;
};

}  // namespace

std::unique_ptr<Workers> SlurmWorkers(const std::string& job) {
  return std::make_unique<Slurm>(job);
}

}  // namespace batchlight::cli
