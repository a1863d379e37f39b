#include "report/terminal/ranks_links.h"

#include <algorithm>
#include <set>
#include <string>

#include "report/text/number_text.h"
#include "report/text/rank_sentences.h"
#include "report/text/utf8.h"

namespace batchlight {
namespace {

constexpr size_t kMostNames = 4;

// "ranks 8 to 15", "ranks 0, 8, 16, 24", "ranks 0, 8, ..., 248": by even distances.
std::string MembersText(const JobResult& job, const SlowLink& link) {
  std::vector<int32_t> ranks;
  for (const uint32_t row : link.members) ranks.push_back(job.ranks[row].rank);
  const int32_t apart = ranks[1] - ranks[0];
  bool is_even = apart > 0;
  for (size_t i = 1; i < ranks.size(); ++i) is_even = is_even && ranks[i] - ranks[i - 1] == apart;
  if (is_even && apart == 1 && ranks.size() > 2) {
    return "ranks " + std::to_string(ranks.front()) + " to " + std::to_string(ranks.back());
  }
  std::string text = "ranks ";
  const bool is_long = ranks.size() > 2 * kMostNames;
  for (size_t i = 0; i < (is_long ? (is_even ? 2 : kMostNames) : ranks.size()); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  }
  return is_long ? text + ", ..., " + std::to_string(ranks.back()) : text;
}

std::string HostsText(const JobResult& job, const SlowLink& link) {
  std::set<std::string> hosts;
  for (const uint32_t row : link.members) hosts.insert(job.ranks[row].host);
  std::string text;
  for (const std::string& host : hosts) {
    if (hosts.size() > kMostNames) return CountText(hosts.size()) + " hosts";
    text += (text.empty() ? "" : ", ") + CleanText(host);
  }
  return text;
}

std::string OperationText(const SlowLink& link) {
  return CleanText(link.operation) + " " + BytesText(double(link.bytes));
}

std::string Sentence(const JobResult& job, const SlowLink& link) {
  return "Group " + std::to_string(link.communicator) + " (" + MembersText(job, link) + " on " +
         HostsText(job, link) + ") moves " + OperationText(link) + " with " +
         SignificantText(link.bus_gbps()) + " GB/s, the " + CountText(link.like) +
         " others of as many ranks on as many hosts with " +
         SignificantText(link.others_bus_gbps()) +
         " in the middle: " + TimeText(link.longer_per_step_ns) +
         " of a step of its kernels. Look at the links of " +
         (link.hosts > 1 ? "these hosts (ibstat, ethtool -S: errors, speed; the switch between)."
                         : "these GPUs (nvidia-smi nvlink -s and -e, nvidia-smi topo -m).");
}

}  // namespace

void WriteSlowLinks(SummaryText& out, const JobResult& job, size_t rows) {
  if (job.slow_links.empty()) return;
  out.Title("Slow links");
  out.Put("  ").Wrapped(Sentence(job, job.slow_links.front()), 2, Tone::kStrong);
  SummaryTable table(out, {{.header = "", .right = false},
                           {.header = "operation, message", .right = false},
                           {.header = "transfer"},
                           {.header = "of its like"},
                           {.header = "bus GB/s"},
                           {.header = "of its like"},
                           {.header = "longer, of a step"}});
  for (size_t i = 0; i < std::min(rows, job.slow_links.size()); ++i) {
    const SlowLink& link = job.slow_links[i];
    table.Row({{std::to_string(link.communicator) + ", " + MembersText(job, link)},
               {OperationText(link)},
               {TimeText(link.transfer_ns)},
               {TimeText(link.others_ns)},
               {SignificantText(link.bus_gbps())},
               {SignificantText(link.others_bus_gbps())},
               {TimeText(link.longer_per_step_ns)}});
  }
  table.Print("group");
}

}  // namespace batchlight
