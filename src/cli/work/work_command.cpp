// batchlight work: what engines start on other machines. It prints lines for the tool that asked
// (engines/work_lines.h), not for people.
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "cli/engines/remote_engine.h"
#include "cli/engines/seen_inputs.h"
#include "cli/engines/work_lines.h"
#include "cli/flags/command.h"
#include "cli/ranks/rank_work.h"
#include "cli/reading/standard_output.h"
#include "cli/recipes/recipe_work.h"

namespace batchlight::cli {
namespace {

Result<Work> WorkOf(const std::vector<std::string>& words) {
  if (words == RankWork().words) return RankWork();
  if (words.size() == 2 && words[0] == kRecipeWork) {
    ASSIGN_OR_RETURN(const recipes::RecipeCall call, recipes::ParseRecipe(words[1]));
    return RecipeWork(call);
  }
  return UsageError("batchlight work is started by --engine, of the same version");
}

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "this machine";
}

Result<std::string> RunOne(const Work& work, const SeenInput& input, bool& sees_other) {
  sees_other = !AwaitInput(input, kMostLagSeconds);
  if (!sees_other) return work.run(input.path);
  return InputError(HostName() + " sees another file there than the others");
}

Status Answer(const Work& work, const std::vector<SeenInput>& inputs) {
  std::mutex mutex;
  Status written;
  ParallelFor(inputs.size(), [&](size_t i) {
    WorkAnswer answer{.at = i};
    answer.bytes = RunOne(work, inputs[i], answer.sees_other);
    const std::string line = AnswerLine(answer);
    const std::lock_guard lock(mutex);
    if (written.ok()) written = WriteOut(line);
    if (written.ok()) written = FinishOut();  // what follows may end this process
  });
  return written;
}

Status List(const std::vector<std::string>& runs) {
  const auto seen = SeeInputs(runs);
  if (!seen.ok()) return {};  // this machine has none of them
  for (const SeenInput& input : seen.value()) RETURN_IF_ERROR(WriteOut(SeenLine(input)));
  return FinishOut();
}

Status DoWork(const std::vector<std::string>& words) {
  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (dashes == words.end()) return WorkOf({}).status();
  const std::vector<std::string> what(words.begin(), dashes);
  const std::vector<std::string> which(dashes + 1, words.end());
  if (what == std::vector<std::string>{"list"}) return List(which);
  ASSIGN_OR_RETURN(const Work work, WorkOf(what));
  std::vector<SeenInput> inputs;
  for (const std::string& word : which) {
    auto input = ReadInputWord(word);
    if (!input) return UsageError("batchlight work: what is " + word + "?");
    inputs.push_back(std::move(*input));
  }
  return Answer(work, inputs);
}

}  // namespace

void RegisterWork(const Command& app, Outcome& outcome) {
  const Command command = app.Add("work", "What --engine runs on other machines");
  command.TakeAllWords();
  command.Runs([&outcome] {
    const std::vector<std::string> words = std::move(outcome.words);
    outcome.words.clear();  // they are no program's
    outcome.status = DoWork(words);
  });
}

}  // namespace batchlight::cli
