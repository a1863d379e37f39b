// RUN... of every command that reads: one file, or all that one job was recorded into.
#pragma once

#include <string>
#include <vector>

#include "analysis/ranks/job_clock.h"
#include "base/status.h"
#include "cli/flags/command.h"
#include "ingest/open_input.h"
#include "store/store.h"

namespace batchlight::cli {

// How the words of a command line become one run.
struct JobUse {
  InputUse input;
  std::string clock = "collectives";  // or utc, none
};

// --clock. `use` must outlive the parsing.
void AddClockFlag(const Command& command, JobUse* use);

// The store of the job: of one input what OpenInput gives; several are merged (store/merge_stores),
// on one clock (analysis/ranks/job_clock). What is doubtful or missing is among its reading notes.
// Errors: kUsage without RUN; kInput if an input is not there, none can be read, or they are of
// several jobs.
Result<Store> OpenJob(const std::vector<std::string>& words, const JobUse& use);

// The same in two parts, for a command that shows what is not one job in another way.
struct OpenedInput {
  std::string path;
  Store store;
};
// `missing`: a line for each input that cannot be read while others can.
Result<std::vector<OpenedInput>> ReadInputs(const std::vector<std::string>& words,
                                            const InputUse& use, std::vector<std::string>& missing);
Result<Store> MergeInputs(std::vector<OpenedInput> inputs, const JobUse& use,
                          std::vector<std::string> missing);

JobClock ClockOf(const JobUse& use);

// Whether a word that may be a program is a recording: by its name, or a file that nobody may
// execute.
bool IsRecording(const std::string& word);

// A path without its folder.
std::string NameOfInput(const std::string& path);

// What the words are called in headings and messages: "run.batchlight", "a.batchlight and 7 more".
std::string LabelOf(const std::vector<std::string>& words);

}  // namespace batchlight::cli
