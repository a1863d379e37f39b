#include "report/text/rank_sentences.h"

#include <algorithm>
#include <vector>

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

}  // namespace batchlight
