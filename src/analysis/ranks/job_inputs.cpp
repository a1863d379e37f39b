#include "analysis/ranks/job_inputs.h"

#include <algorithm>
#include <ctime>
#include <map>
#include <string_view>
#include <utility>

#include "analysis/phases/phase_marks.h"
#include "analysis/ranks/job_places.h"
#include "analysis/ranks/nccl_calls.h"

namespace batchlight {
namespace {

constexpr size_t kMostStretches = 12;  // of ranks that a text names

// Names of a job that a launcher gives. "none" is what torchrun says without one.
constexpr std::string_view kJobVariables[] = {"SLURM_JOB_ID", "TORCHELASTIC_RUN_ID"};

std::string JobOf(const Store& store) {
  for (const std::string_view name : kJobVariables) {
    const std::string_view id = store.Property("environment." + std::string(name));
    if (!id.empty() && id != "none") return std::string(name) + " " + std::string(id);
  }
  return "";
}

std::string TimeText(int64_t utc_ns) {
  const time_t seconds = static_cast<time_t>(utc_ns / 1'000'000'000);
  struct tm parts {};
  char text[32];
  gmtime_r(&seconds, &parts);
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  return text;
}

// "node0.batchlight (2026-11-22 10:00:00)".
std::string Named(const InputIdentity& input) {
  if (input.start_utc_ns == 0) return input.label;
  return input.label + " (" + TimeText(input.start_utc_ns) + ")";
}

bool Overlap(const InputIdentity& a, const InputIdentity& b) {
  if (a.start_utc_ns == 0 || b.start_utc_ns == 0) return true;
  return a.start_utc_ns <= b.end_utc_ns && b.start_utc_ns <= a.end_utc_ns;
}

bool Meet(const std::set<uint64_t>& a, const std::set<uint64_t>& b) {
  return std::any_of(a.begin(), a.end(), [&](uint64_t id) { return id != 0 && b.contains(id); });
}

Status SeveralJobs(const InputIdentity& a, const InputIdentity& b, const std::string& why) {
  return InputError(Named(a) + " and " + Named(b) + " are of different jobs (" + why +
                    "): read one job at a time, by its files or a folder of its own; `batchlight "
                    "diff A B` compares two");
}

class Planner {
 public:
  explicit Planner(std::span<const InputIdentity> inputs) : inputs_(inputs) {}

  Result<JobPlan> Run() {
    LeaveOutCopies();
    LeaveOutHelpers();
    RETURN_IF_ERROR(CheckJobs());
    RETURN_IF_ERROR(TakeRanks());
    RETURN_IF_ERROR(AssignRanks());
    SayMissing();
    SayVersions();
    std::stable_sort(kept_.begin(), kept_.end(),
                     [&](size_t a, size_t b) { return FirstRank(a) < FirstRank(b); });
    for (const size_t input : kept_) {
      plan_.used.push_back(input);
      const auto rank = assigned_.find(input);
      plan_.assigned.push_back(rank == assigned_.end() ? -1 : rank->second);
    }
    return std::move(plan_);
  }

 private:
  int32_t FirstRank(size_t input) const {
    const auto rank = assigned_.find(input);
    if (rank != assigned_.end()) return rank->second;
    return inputs_[input].ranks.empty() ? INT32_MAX : *inputs_[input].ranks.begin();
  }

  void LeaveOutCopies() {
    std::map<std::string, size_t> first;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const std::string& process = inputs_[i].first_process;
      const auto [known, is_new] = first.try_emplace(process, i);
      if (process.empty() || is_new) {
        kept_.push_back(i);
        continue;
      }
      plan_.notes.push_back(inputs_[i].label + " is the same run as " +
                            inputs_[known->second].label + " and is left out");
    }
  }

  // Where no input says its rank, any may be one.
  void LeaveOutHelpers() {
    const bool is_said = std::any_of(inputs_.begin(), inputs_.end(),
                                     [](const InputIdentity& one) { return !one.ranks.empty(); });
    if (!is_said) return;
    std::vector<size_t> ranks;
    std::vector<std::string> helpers;
    for (const size_t i : kept_) {
      const InputIdentity& input = inputs_[i];
      if (input.ranks.empty() && !input.trains) {
        helpers.push_back(input.label);
      } else {
        ranks.push_back(i);
      }
    }
    if (helpers.empty()) return;
    const std::string who = helpers.size() == 1
                                ? helpers[0] + " says no rank and holds"
                                : helpers[0] + " and " + std::to_string(helpers.size() - 1) +
                                      " more say no rank and hold";
    plan_.notes.push_back(who + " nothing of a training loop: left out");
    kept_ = std::move(ranks);
  }

  Status CheckJobs() const {
    const InputIdentity* named = nullptr;
    for (const size_t i : kept_) {
      if (inputs_[i].job.empty()) continue;
      if (named == nullptr) named = &inputs_[i];
      if (named->job != inputs_[i].job) {
        return SeveralJobs(*named, inputs_[i], named->job + ", " + inputs_[i].job);
      }
    }
    return {};
  }

  // Of several attempts at a rank, by a launcher that starts the ranks again, the last counts.
  Status TakeRanks() {
    std::map<int32_t, size_t> holder;
    std::set<size_t> earlier;
    for (const size_t i : kept_) {
      for (const int32_t rank : inputs_[i].ranks) {
        const auto [known, is_new] = holder.try_emplace(rank, i);
        if (is_new) continue;
        const InputIdentity& a = inputs_[known->second];
        const InputIdentity& b = inputs_[i];
        const std::string why = "both have rank " + std::to_string(rank);
        if (a.job.empty() || Overlap(a, b)) return SeveralJobs(a, b, why);
        const bool later = b.start_utc_ns > a.start_utc_ns;
        earlier.insert(later ? known->second : i);
        if (later) known->second = i;
      }
    }
    for (const size_t i : earlier) {
      plan_.notes.push_back(Named(inputs_[i]) + " is an earlier attempt at rank " +
                            RanksText(inputs_[i].ranks) + " and is left out");
    }
    std::erase_if(kept_, [&](size_t i) { return earlier.contains(i); });
    for (const size_t i : kept_) ranks_.insert(inputs_[i].ranks.begin(), inputs_[i].ranks.end());
    return {};
  }

  // An input that says no rank gets the lowest that is free, if something ties it to the others.
  Status AssignRanks() {
    if (kept_.size() < 2) return {};
    int32_t next = 0;
    for (const size_t i : kept_) {
      const InputIdentity& input = inputs_[i];
      if (!input.ranks.empty()) continue;
      const bool tied = std::any_of(kept_.begin(), kept_.end(), [&](size_t other) {
        return other != i && Tied(inputs_[other], input);
      });
      if (!tied) {
        const size_t other = kept_[i == kept_.front() ? 1 : 0];
        return SeveralJobs(inputs_[other], input,
                           "neither rank, job nor communicator ties them together");
      }
      while (ranks_.contains(next)) ++next;
      ranks_.insert(next);
      assigned_[i] = next;
      plan_.notes.push_back(input.label + " does not say its rank: taken as rank " +
                            std::to_string(next));
    }
    return {};
  }

  static bool Tied(const InputIdentity& a, const InputIdentity& b) {
    if (!a.job.empty() && a.job == b.job) return true;
    if (Meet(a.communicators, b.communicators)) return true;
    return a.command == b.command && Overlap(a, b);
  }

  void SayMissing() {
    int32_t world_size = 0;
    const InputIdentity* says = nullptr;
    for (const size_t i : kept_) {
      const InputIdentity& input = inputs_[i];
      if (input.world_size == 0) continue;
      if (says != nullptr && says->world_size != input.world_size) {
        plan_.notes.push_back(says->label + " is of a job of " + std::to_string(says->world_size) +
                              " ranks, " + input.label + " of one of " +
                              std::to_string(input.world_size));
      }
      if (says == nullptr || input.world_size > world_size) says = &input;
      world_size = std::max(world_size, input.world_size);
    }
    // An input may claim any number of ranks: what lies between those that are there.
    int64_t missing = 0;
    int64_t next = 0;
    std::string gaps;
    size_t stretches = 0;
    const auto add_gap = [&](int64_t end) {
      if (end <= next) return;
      missing += end - next;
      if (++stretches == kMostStretches + 1) gaps += ", ...";
      if (stretches > kMostStretches) return;
      gaps += (gaps.empty() ? "" : ", ") + std::to_string(next);
      if (end - next > 1) gaps += "-" + std::to_string(end - 1);
    };
    for (const int32_t rank : ranks_) {
      add_gap(std::min(rank, world_size));
      next = std::max(next, int64_t{rank} + 1);
    }
    add_gap(world_size);
    if (missing == 0) return;
    plan_.missing.push_back(std::to_string(missing) + " of " + std::to_string(world_size) +
                            " ranks are missing (" + gaps + "): waiting for them cannot be seen");
  }

  void SayVersions() {
    const InputIdentity& first = inputs_[kept_.front()];
    for (const size_t i : kept_) {
      const InputIdentity& input = inputs_[i];
      if (input.version == first.version || input.version.empty() || first.version.empty())
        continue;
      plan_.notes.push_back(first.label + " was recorded by batchlight " + first.version + ", " +
                            input.label + " by " + input.version);
      return;
    }
  }

  std::span<const InputIdentity> inputs_;
  std::vector<size_t> kept_;
  std::set<int32_t> ranks_;
  std::map<size_t, int32_t> assigned_;
  JobPlan plan_;
};

// Two inputs that do not hold the same events hardly agree in it.
uint64_t SumOfStarts(const Store& store) {
  uint64_t sum = static_cast<uint64_t>(store.duration_ns);
  const auto add = [&](const auto& table) {
    for (const int64_t start_ns : table.start_ns) sum += static_cast<uint64_t>(start_ns);
  };
  add(store.processes);
  add(store.threads);
  add(store.kernels);
  add(store.nvtx_ranges);
  add(store.operator_calls);
  return sum;
}

// The helpers of a launcher import, collect garbage and call single operators (a seed).
bool HoldsTraining(const Store& store) {
  const auto& phases = store.phase_calls.phase;
  return store.kernels.size() + store.module_calls.size() + store.nvtx_ranges.size() > 0 ||
         std::any_of(phases.begin(), phases.end(),
                     [](Phase phase) { return !IsOutsideOfLoops(phase); });
}

}  // namespace

InputIdentity IdentifyInput(const std::string& label, const Store& store) {
  InputIdentity input{.label = label,
                      .job = JobOf(store),
                      .command = std::string(store.Property("session.command")),
                      .first_process = {},
                      .version = std::string(store.Property("batchlight.version")),
                      .ranks = {},
                      .communicators = {},
                      .trains = HoldsTraining(store)};
  const NcclCalls nccl = FindNcclCalls(store);
  for (const JobPlace& place : FindJobPlaces(store, nccl)) {
    if (place.rank >= 0) input.ranks.insert(place.rank);
    input.world_size = std::max(input.world_size, place.world_size);
  }
  for (const auto& [id, communicator] : nccl.communicators) input.communicators.insert(id);
  if (store.session_start_utc_ns > 0) {
    input.start_utc_ns = store.session_start_utc_ns;
    input.end_utc_ns = store.session_start_utc_ns + store.duration_ns;
  }
  if (store.processes.size() > 0 && store.session_start_utc_ns > 0) {
    input.first_process = std::string(store.Property("machine.hostname")) + " " +
                          std::to_string(store.processes.pid[0]) + " " +
                          std::to_string(store.session_start_utc_ns) + " " +
                          std::to_string(SumOfStarts(store));
  }
  return input;
}

std::string RanksText(const std::set<int32_t>& ranks) {
  std::string text;
  size_t stretches = 0;
  for (auto rank = ranks.begin(); rank != ranks.end();) {
    const int32_t first = *rank;
    int32_t last = first;
    while (++rank != ranks.end() && *rank == last + 1) ++last;
    if (++stretches > kMostStretches) return text + ", ...";
    text += (text.empty() ? "" : ", ") + std::to_string(first);
    if (last > first) text += "-" + std::to_string(last);
  }
  return text;
}

Result<JobPlan> PlanJob(std::span<const InputIdentity> inputs) { return Planner(inputs).Run(); }

}  // namespace batchlight
