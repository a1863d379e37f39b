#include "report/text/rank_sentences.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "report/text/number_text.h"
#include "report/text/utf8.h"

namespace batchlight {

std::string RankName(const RankTimes& rank) {
  std::string name =
      rank.rank >= 0 ? "Rank " + std::to_string(rank.rank) : "Process " + std::to_string(rank.pid);
  if (!rank.host.empty()) name += " (" + CleanText(rank.host) + ")";
  return name;
}

namespace {

// ", in all 60 steps", ", in 12 of 60 steps (4, 9, 14, ...)".
std::string StepsText(const std::vector<int64_t>& late_steps, size_t steps) {
  constexpr size_t kMost = 5;
  const size_t count = late_steps.size();
  if (count == steps) return ", in all " + CountText(count) + " steps";
  std::string numbers;
  for (size_t i = 0; i < std::min(count, kMost); ++i) {
    numbers += (i == 0 ? "" : ", ") + std::to_string(late_steps[i]);
  }
  return ", in " + CountText(count) + " of " + CountText(steps) + " steps (" + numbers +
         (count > kMost ? ", ..." : "") + ")";
}

// Where there is no straggler.
std::string NobodySentence(const JobResult& job) {
  if (job.ranks.size() < 2) return "There is one rank only.";
  if (job.waits_by == WaitsBy::kNothing) {
    return "No rank stands out by what it takes longer for; how long they wait for each other is "
           "not known: no collective of several ranks was recorded.";
  }
  if (!job.seldom_late) {
    return "No rank stands out: what is lost by waiting is due to all in turn.";
  }
  const SeldomLate& found = *job.seldom_late;
  return "Most of what is lost by waiting is due to " + RankName(job.ranks[found.row]) + ", " +
         TimeText(found.waited_ns) + " of a step (" + PercentText(found.of_step) + ")" +
         StepsText(found.late_steps, found.steps) + ". So few may be chance: no rank stands out.";
}

// What is not known is left out.
std::string ClockSentence(const LowClock& clock) {
  std::string text = "Its GPU";
  if (clock.mhz >= 0) {
    text += " runs at " + SignificantText(clock.mhz) + " MHz";
    if (clock.others_mhz >= 0) {
      text += ", that of the rank in the middle at " + SignificantText(clock.others_mhz);
    }
    text += "; it";
  }
  std::string reasons;
  for (const auto& [name, own, others] :
       {std::tuple("heat", clock.held_by_heat, clock.others_held_by_heat),
        std::tuple("power", clock.held_by_power, clock.others_held_by_power)}) {
    if (own < 0) continue;
    reasons += (reasons.empty() ? "" : ", ") + std::string("by ") + name + " for " +
               PercentText(own) + " of the time";
    if (others >= 0) reasons += " (in the middle " + PercentText(others) + ")";
  }
  return text + (reasons.empty() ? " is not said to be held back" : " is held back " + reasons) +
         ".";
}

// "aten::mm takes 12.0 ms of such a step (4.00 ms at most on another rank), aten::add 3.00 ms (1.00
// ms)"
std::string LongerCallsText(const std::vector<LongerCall>& calls) {
  std::string text;
  for (const LongerCall& call : calls) {
    const bool first = text.empty();
    text += (first ? "" : ", ") + ElideMiddle(CleanText(call.name), 60) +
            (first ? " takes " : " ") + TimeText(call.ns) + (first ? " of such a step (" : " (") +
            TimeText(call.others_ns) + (first ? " at most on another rank)" : ")");
  }
  return text;
}

}  // namespace

std::string StragglerSentence(const JobResult& job) {
  if (!job.straggler) return "";
  const JobStraggler& found = *job.straggler;
  const RankTimes& rank = job.ranks[found.row];
  const std::string place =
      job.grid && rank.rank >= 0 ? ", " + CleanText(job.grid->PlaceText(rank.rank)) + "," : "";
  return RankName(rank) + place + " makes the others wait " + TimeText(found.waited_ns) +
         " of a step (" + PercentText(found.of_step) + ")" +
         StepsText(found.late_steps, found.steps) + ".";
}

std::string WaitedForSentence(const JobResult& job) {
  return job.straggler ? StragglerSentence(job) : NobodySentence(job);
}

std::vector<std::string> CauseSentences(const JobStraggler& straggler) {
  std::vector<std::string> causes;
  if (!straggler.phase.empty()) {
    causes.push_back("It takes " + TimeText(straggler.longer_ns) + " longer for " +
                     CleanText(straggler.phase) + " in these steps than any other rank.");
  }
  if (straggler.lost_ns < straggler.waited_ns / 2) {
    causes.push_back("The others are hardly faster: a step would be " +
                     TimeText(straggler.lost_ns) + " shorter if it were as fast as they are.");
  }
  for (const auto& [kind, calls] : {std::pair("operators", &straggler.causes.operators),
                                    {"modules", &straggler.causes.modules}}) {
    if (calls->empty()) continue;
    causes.push_back(std::string("Of its ") + kind + ", without what they call, " +
                     LongerCallsText(*calls) + ".");
  }
  if (straggler.causes.collected_ns > 0) {
    causes.push_back("Python's garbage collector takes " + TimeText(straggler.causes.collected_ns) +
                     " of such a step there, " + TimeText(straggler.causes.others_collected_ns) +
                     " at most on another rank: call gc.freeze() before the loop, or gc.disable() "
                     "in it and gc.collect() in the same steps on all ranks.");
  }
  const std::optional<LowClock>& clock = straggler.causes.clock;
  if (straggler.causes.kernels) {
    const SlowKernels& kernels = *straggler.causes.kernels;
    std::string text = "Its kernels take " + SignificantText(kernels.times) +
                       " times as long as those of the rank in the middle";
    if (!kernels.worst.empty()) {
      text += ", " + ElideMiddle(CleanText(kernels.worst), 40) + " " +
              SignificantText(kernels.worst_times) + " times";
    }
    causes.push_back(text + (clock ? "."
                                   : ": look at that GPU's clock, power and temperature (profile "
                                     "--gpu-metrics-devices cuda-visible records them)."));
  }
  if (clock) causes.push_back(ClockSentence(*clock));
  return causes;
}

}  // namespace batchlight
