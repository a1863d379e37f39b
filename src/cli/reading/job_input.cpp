#include "cli/reading/job_input.h"

#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "analysis/ranks/job_inputs.h"
#include "base/file.h"
#include "cli/reading/progress_line.h"
#include "ingest/input_paths.h"
#include "store/merge_stores.h"
#include "store/reason_features.h"

namespace batchlight::cli {
namespace {

// Names by which people tell the inputs apart: without their folders, if these are all the same.
std::vector<std::string> LabelsOf(const std::vector<OpenedInput>& inputs) {
  std::vector<std::string> labels;
  for (const OpenedInput& input : inputs) {
    std::string label = NameOfInput(input.path);
    for (const OpenedInput& other : inputs) {
      if (&other != &input && NameOfInput(other.path) == label) label = input.path;
    }
    labels.push_back(std::move(label));
  }
  return labels;
}

void SayFirst(std::string_view feature, const std::vector<std::string>& notes, Store& store) {
  for (const std::string& note : notes) {
    store.reasons.Append(
        {.feature = store.strings.Intern(feature), .text = store.strings.Intern(note)});
  }
}

void GiveRank(int32_t rank, Store& store) {
  for (int32_t& own : store.processes.rank) own = rank;
}

}  // namespace

void AddClockFlag(const Command& command, JobUse* use) {
  command
      .Option("--clock", &use->clock,
              "How the clocks of several RUNs become one: by the ends of collectives on the GPUs, "
              "as the hosts' clocks are, or none: all begin at 0")
      .OneOf({"collectives", "utc", "none"})
      .ShowDefault();
}

JobClock ClockOf(const JobUse& use) {
  if (use.clock == "utc") return JobClock::kUtc;
  return use.clock == "none" ? JobClock::kNone : JobClock::kCollectives;
}

bool IsRecording(const std::string& word) {
  for (const std::string_view ending :
       {".batchlight", ".batchlight.live", ".sqlite", ".nsys-rep"}) {
    if (word.ends_with(ending)) return true;
  }
  namespace fs = std::filesystem;
  constexpr fs::perms kMayExecute =
      fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
  std::error_code unknown;
  const fs::file_status status = fs::status(word, unknown);
  if (!fs::exists(status)) return false;
  return fs::is_directory(status) || (status.permissions() & kMayExecute) == fs::perms::none;
}

std::string NameOfInput(const std::string& path) {
  std::string name = path;
  while (name.size() > 1 && name.ends_with('/')) name.pop_back();
  const size_t slash = name.rfind('/');
  return slash == std::string::npos || slash + 1 == name.size() ? name : name.substr(slash + 1);
}

std::string LabelOf(const std::vector<std::string>& words) {
  if (words.empty()) return "";
  if (words.size() == 1) return words[0];
  return words[0] + " and " + std::to_string(words.size() - 1) + " more";
}

Result<std::vector<OpenedInput>> ReadInputs(const std::vector<std::string>& words,
                                            const InputUse& use,
                                            std::vector<std::string>& missing) {
  if (words.empty()) return UsageError("no RUN given");
  ASSIGN_OR_RETURN(const std::vector<std::string> paths, FindInputs(words));
  InputUse each = use;
  if (paths.size() > 1) {  // the time that was asked for is on the clock of all
    each.recorded.first_ns = INT64_MIN;
    each.recorded.last_ns = INT64_MAX;
  }
  std::vector<OpenedInput> inputs;
  ProgressLine progress;
  Status first_error;
  for (size_t i = 0; i < paths.size(); ++i) {
    if (paths.size() > 1) {
      progress.Show("reading " + std::to_string(paths.size()) + " recordings",
                    double(i) / double(paths.size()));
    }
    auto store = OpenInput(paths[i], each);
    if (store.ok()) {
      inputs.push_back({paths[i], std::move(store).value()});
      continue;
    }
    // One that is not there is a mistake in the command line; one that cannot be read may be all
    // that a killed rank left.
    if (paths.size() == 1 || !FileExists(paths[i])) return store.status();
    if (first_error.ok()) first_error = store.status();
    missing.push_back(store.status().message() + ": left out");
  }
  if (inputs.empty()) return first_error;
  return inputs;
}

Result<Store> MergeInputs(std::vector<OpenedInput> inputs, const JobUse& use,
                          std::vector<std::string> missing) {
  if (inputs.size() == 1) {
    SayFirst(kInputFeature, missing, inputs[0].store);
    return std::move(inputs[0].store);
  }
  const std::vector<std::string> labels = LabelsOf(inputs);
  std::vector<InputIdentity> identities;
  for (size_t i = 0; i < inputs.size(); ++i) {
    identities.push_back(IdentifyInput(labels[i], inputs[i].store));
  }
  ASSIGN_OR_RETURN(JobPlan plan, PlanJob(identities));
  missing.insert(missing.begin(), plan.missing.begin(), plan.missing.end());
  std::vector<const Store*> stores;
  std::vector<std::string> used_labels;
  for (size_t i = 0; i < plan.used.size(); ++i) {
    Store& store = inputs[plan.used[i]].store;
    if (plan.assigned[i] >= 0) GiveRank(plan.assigned[i], store);
    stores.push_back(&store);
    used_labels.push_back(labels[plan.used[i]]);
  }
  const ClocksOfJob clocks = SettleClocks(stores, used_labels, ClockOf(use));
  std::vector<std::string> notes = std::move(plan.notes);
  notes.insert(notes.end(), clocks.notes.begin(), clocks.notes.end());
  std::vector<MergeInput> merge;
  for (size_t i = 0; i < plan.used.size(); ++i) {
    merge.push_back({std::move(inputs[plan.used[i]].store), clocks.shifts[i], used_labels[i]});
  }
  inputs.clear();
  const bool several = merge.size() > 1;
  ASSIGN_OR_RETURN(Store store, MergeStores(std::move(merge)));
  store.session_start_utc_ns = clocks.start_utc_ns;
  if (several) {
    store.properties.Append(
        {{}, store.strings.Intern("job.clocks"), store.strings.Intern(clocks.how)});
  }
  SayFirst(kInputFeature, missing, store);
  SayFirst(kJobFeature, notes, store);
  return store;
}

Result<Store> OpenJob(const std::vector<std::string>& words, const JobUse& use) {
  std::vector<std::string> missing;
  ASSIGN_OR_RETURN(std::vector<OpenedInput> inputs, ReadInputs(words, use.input, missing));
  std::string source = inputs.size() == 1 ? inputs[0].store.source : LabelOf(words);
  ASSIGN_OR_RETURN(Store store, MergeInputs(std::move(inputs), use, std::move(missing)));
  store.source = std::move(source);
  return store;
}

}  // namespace batchlight::cli
