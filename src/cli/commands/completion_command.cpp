// batchlight completion SHELL: what a shell reads to complete our command lines; batchlight
// complete: what that asks.
#include <memory>
#include <string>

#include "cli/completion/scripts.h"
#include "cli/flags/command.h"
#include "cli/reading/known_values.h"
#include "cli/reading/standard_output.h"
#include "cli/reference/complete.h"
#include "cli/reference/describe.h"

namespace batchlight::cli {

void RegisterCompletion(const Command& app, Outcome& outcome) {
  auto shell = std::make_shared<std::string>();
  const Command command = app.Add("completion", "Print the completion script for a shell");
  command.Details(
      "Packages have put the scripts where the shells look for them. For the shell that is open "
      "now: "
      "`eval \"$(batchlight completion bash)\"`, the same with zsh (after compinit), and "
      "`batchlight "
      "completion fish | source`.");
  command.Option("SHELL", shell.get(), "bash, zsh or fish")
      .Required()
      .OneOf({"bash", "zsh", "fish"});
  command.Runs([shell, &outcome] {
    outcome.status = WriteOut(*shell == "bash"  ? kBashCompletion
                              : *shell == "zsh" ? kZshCompletion
                                                : kFishCompletion);
  });
}

void RegisterComplete(const Command& app, Outcome& outcome) {
  const Command command = app.Add("complete", "What may come next, for the completion scripts");
  command.TakeAllWords();
  command.Runs([app, &outcome] {
    std::vector<std::string> words = std::move(outcome.words);
    outcome.words.clear();  // they are no program's
    if (!words.empty() && words[0] == "--") words.erase(words.begin());
    const CommandReference all = Describe(app);
    const auto known = [&](std::string_view name) { return KnownWords(all, name); };
    outcome.status = WriteOut(CompletionText(Complete(all, words, known)));
  });
}

}  // namespace batchlight::cli
