// batchlight trace dump|assemble|seal: recordings as text and back. A new subcommand needs an Add
// function of its own and a line in RegisterTrace.
#include <memory>

#include "base/file.h"
#include "cli/flags/command.h"
#include "cli/reading/standard_output.h"
#include "ingest/dump/trace_text.h"

namespace batchlight::cli {

void AddTraceSeal(const Command& trace, Outcome& outcome);  // trace_seal_command.cpp

namespace {

Status Dump(const std::string& input, const DumpOptions& options, const std::string& output) {
  if (output.empty() || output == "-") {
    return DumpRecording(input, options, WriteOut);
  }
  ASSIGN_OR_RETURN(AtomicFileWriter file, AtomicFileWriter::Create(output));
  RETURN_IF_ERROR(
      DumpRecording(input, options, [&](std::string_view text) { return file.Write(text); }));
  return file.Commit();
}

Status Assemble(const std::string& input, const std::string& output) {
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(input));
  const auto files = AssembleRecording(text);
  if (!files.ok()) return Status(files.status()).WithContext(input);
  return WriteLiveFolder(files.value(), output);
}

void AddDump(const Command& trace, Outcome& outcome) {
  struct Flags {
    std::string input;
    std::string output;
    bool only_chunks = false;
    bool only_records = false;
  };
  auto flags = std::make_shared<Flags>();
  const Command app = trace.Add("dump", "Print every record as one line of text");
  app.Option("RUN,--run", &flags->input, "Recording, sealed or live").Required().TypeName("");
  app.Option("-o,--output", &flags->output, "Write to this file instead of standard output")
      .TypeName("FILE");
  app.Switch("--chunks", &flags->only_chunks, "Only the chunk lines");
  app.Switch("--records", &flags->only_records, "Only the record lines").Excludes("--chunks");
  app.Runs([flags, &outcome] {
    const DumpOptions options{.chunks = !flags->only_records, .records = !flags->only_chunks};
    outcome.status = Dump(flags->input, options, flags->output);
  });
}

void AddAssemble(const Command& trace, Outcome& outcome) {
  struct Flags {
    std::string input;
    std::string output;
  };
  auto flags = std::make_shared<Flags>();
  const Command app = trace.Add("assemble", "Make a recording of what `dump` printed");
  app.Option("FILE", &flags->input, "What `dump` printed").Required();
  app.Option("-o,--output", &flags->output, "Live folder to make: NAME.batchlight.live")
      .TypeName("FILE")
      .Required();
  app.Runs([flags, &outcome] { outcome.status = Assemble(flags->input, flags->output); });
}

}  // namespace

void RegisterTrace(const Command& app, Outcome& outcome) {
  const Command trace = app.Add("trace", "Look into the bytes of a recording");
  trace.NeedsSubcommand();
  AddDump(trace, outcome);
  AddAssemble(trace, outcome);
  AddTraceSeal(trace, outcome);
}

}  // namespace batchlight::cli
