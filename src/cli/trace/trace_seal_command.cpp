// batchlight trace seal: turn a live folder that a killed tool left behind into one file.
#include <cstdio>
#include <memory>
#include <string>

#include "capture/recording/live_folder.h"
#include "capture/recording/seal.h"
#include "cli/flags/command.h"

namespace batchlight::cli {
namespace {

struct SealFlags {
  std::string folder;
  std::string output;
  bool replace = false;
  bool keep = false;
};

Status SealFolder(SealFlags flags) {
  while (flags.folder.size() > 1 && flags.folder.back() == '/') flags.folder.pop_back();
  if (flags.output.empty()) {
    const std::string suffix = capture::kLiveSuffix;
    if (!flags.folder.ends_with(suffix)) {
      return UsageError("give the recording a name with -o: " + flags.folder + " does not end in " +
                        suffix);
    }
    flags.output =
        flags.folder.substr(0, flags.folder.size() - suffix.size()) + capture::kRecordingSuffix;
  }
  ASSIGN_OR_RETURN(const capture::LiveFolder folder, capture::LiveFolder::Open(flags.folder));
  const std::string writer = folder.FindWriter();
  if (!writer.empty() && !flags.keep) {
    return InputError(flags.folder + " is still written by " + writer +
                      "; wait for its end, or pass --keep for what is there so far");
  }
  // What they hold would be removed with the folder.
  if (const auto others = folder.FilesOfOthers(); !others.empty() && !flags.keep) {
    return InputError(flags.folder + "/" + others[0] +
                      " can be read by another user alone, whose " +
                      "tool recorded it (--run-as); ask root, or pass --keep for what is yours");
  }
  ASSIGN_OR_RETURN(
      const capture::SealSummary summary,
      capture::Seal(folder, flags.output, {.replace = flags.replace, .ended = !flags.keep}));
  if (!flags.keep) RETURN_IF_ERROR(folder.Remove());
  std::printf("%s: %llu chunks, %llu bytes\n", flags.output.c_str(),
              static_cast<unsigned long long>(summary.chunks),
              static_cast<unsigned long long>(summary.file_bytes));
  if (summary.damaged_stretches > 0) {
    std::fprintf(stderr, "batchlight: %llu damaged stretches of the folder were skipped\n",
                 static_cast<unsigned long long>(summary.damaged_stretches));
  }
  return {};
}

}  // namespace

void AddTraceSeal(const Command& trace, Outcome& outcome) {
  auto flags = std::make_shared<SealFlags>();
  const Command app = trace.Add("seal", "Make one file of the live folder of a killed run");
  app.Option("FOLDER", &flags->folder, "NAME.batchlight.live").Required();
  app.Option("-o,--output", &flags->output, "Recording to make (NAME.batchlight)").TypeName("FILE");
  app.Switch("-f,--force-overwrite", &flags->replace, "Overwrite an existing recording");
  app.Switch("--keep", &flags->keep, "Do not remove the folder");
  app.Runs([flags, &outcome] { outcome.status = SealFolder(*flags); });
}

}  // namespace batchlight::cli
