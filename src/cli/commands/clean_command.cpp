// batchlight clean: what killed runs left in a folder.
#include <memory>
#include <string>
#include <vector>

#include "capture/recording/left_overs.h"
#include "cli/flags/command.h"
#include "cli/reading/standard_output.h"

namespace batchlight::cli {
namespace {

struct CleanFlags {
  std::vector<std::string> folders;
  capture::CleanOptions options;
};

Status CleanFolders(const CleanFlags& flags) {
  Status failed;
  std::vector<std::string> lines;
  for (const std::string& folder : flags.folders) {
    const Status status = capture::Clean(folder, flags.options, lines);
    if (!status.ok()) failed = status;
  }
  if (lines.empty() && failed.ok()) lines.emplace_back("nothing was left behind here");
  for (const std::string& line : lines) RETURN_IF_ERROR(WriteNamesOut(line + "\n"));
  return failed;
}

}  // namespace

void RegisterClean(const Command& app, Outcome& outcome) {
  auto flags = std::make_shared<CleanFlags>();
  const Command command =
      app.Add("clean", "Make recordings of what killed runs left, remove their unfinished files");
  command.Option("FOLDER", &flags->folders, "Where to look, not deeper (default: here)");
  command.Switch("-n,--dry-run", &flags->options.only_say, "Only say what would be done");
  command.Switch("--drop", &flags->options.drop_events,
                 "Remove what killed runs recorded, without making recordings of it");
  command.Runs([flags, &outcome] {
    if (flags->folders.empty()) flags->folders = {"."};
    outcome.status = CleanFolders(*flags);
  });
}

}  // namespace batchlight::cli
