// batchlight help and version.
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/nearest.h"
#include "cli/flags/command.h"
#include "cli/reading/standard_output.h"
#include "cli/reference/describe.h"
#include "cli/reference/help_text.h"
#include "cli/reference/man_page.h"
#include "cli/reference/markdown.h"

namespace batchlight::cli {
namespace {

struct HelpFlags {
  std::vector<std::string> words;
  std::string man_folder;
  bool markdown = false;
};

Status WriteManual(const CommandReference& all, const std::string& folder) {
  for (const ManPage& page : ManPages(all, BATCHLIGHT_VERSION)) {
    RETURN_IF_ERROR(WriteWholeFile(folder + "/" + page.file, page.text));
  }
  return {};
}

Status Help(const HelpFlags& flags, const CommandReference& all) {
  if (!flags.man_folder.empty()) return WriteManual(all, flags.man_folder);
  if (flags.markdown) return WriteOut(ReferenceMarkdown(all));
  const CommandReference* command = &all;
  for (const std::string& word : flags.words) {
    const CommandReference* below = command->Find(word);
    if (below == nullptr) {
      std::vector<std::string> verbs;
      for (const CommandReference& known : command->commands) verbs.push_back(known.verb());
      if (verbs.empty()) return UsageError(command->name + " has no commands of its own");
      return UsageError("unknown command " + word +
                        NearestOrAll(word, {verbs.begin(), verbs.end()}));
    }
    command = below;
  }
  return WriteOut(HelpText(*command));
}

}  // namespace

void RegisterHelp(const Command& app, Outcome& outcome) {
  auto flags = std::make_shared<HelpFlags>();
  const Command command = app.Add("help", "Tell what a command does and takes, with examples");
  command.Option("COMMAND", &flags->words, "Of which command; without it, what commands there are")
      .TypeName("COMMAND");
  command.Option("--man-pages", &flags->man_folder, "Write the manual pages into this folder")
      .TypeName("FOLDER");
  command.Switch("--markdown", &flags->markdown, "Print all of it as Markdown, docs/cli.md");
  command.Runs([flags, app, &outcome] { outcome.status = Help(*flags, Describe(app)); });
}

void RegisterVersion(const Command& app, Outcome& outcome) {
  const Command command = app.Add("version", "Print the version");
  command.Runs([&outcome] { outcome.status = WriteOut("batchlight " BATCHLIGHT_VERSION "\n"); });
}

}  // namespace batchlight::cli
