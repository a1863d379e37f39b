#include "report/text/rank_names.h"

#include "report/text/utf8.h"

namespace batchlight {

std::string RankName(const JobResult& job, size_t row) {
  const RankTimes& rank = job.ranks[row];
  if (rank.rank < 0) return "process " + std::to_string(rank.pid);
  std::string name = std::to_string(rank.rank);
  if (job.grid) name += " (" + CleanText(job.grid->PlaceText(rank.rank)) + ")";
  return name;
}

std::string RankLineName(const JobResult& job, const RankLine& line) {
  if (line.end - line.begin == 1) return RankName(job, line.begin);
  return std::to_string(job.ranks[line.begin].rank) + "-" +
         std::to_string(job.ranks[line.end - 1].rank);
}

}  // namespace batchlight
