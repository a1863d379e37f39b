#include "report/text/rank_names.h"

#include "report/text/utf8.h"

namespace batchlight {

namespace {

// "3", "process 4711"
std::string NumberOf(const RankTimes& rank) {
  return rank.rank < 0 ? "process " + std::to_string(rank.pid) : std::to_string(rank.rank);
}

}  // namespace

std::string RankName(const JobResult& job, size_t row) {
  const RankTimes& rank = job.ranks[row];
  std::string name = NumberOf(rank);
  if (rank.rank >= 0 && job.grid) name += " (" + CleanText(job.grid->PlaceText(rank.rank)) + ")";
  return name;
}

std::string RankLineName(const JobResult& job, const RankLine& line) {
  if (line.end - line.begin == 1) return RankName(job, line.begin);
  return NumberOf(job.ranks[line.begin]) + "-" + NumberOf(job.ranks[line.end - 1]);
}

}  // namespace batchlight
