#include "report/terminal/ranks_exchanges.h"

#include <algorithm>
#include <string>

#include "report/text/number_text.h"
#include "report/text/rank_sentences.h"

namespace batchlight {
namespace {

constexpr double kUneven = 1.2;  // times the mean
constexpr size_t kMostGroups = 8;

}  // namespace

void WriteExchanges(SummaryText& out, const JobResult& job) {
  if (job.exchanges.empty()) return;
  out.Title("Exchanges of all with all");
  const auto worst = std::max_element(
      job.exchanges.begin(), job.exchanges.end(),
      [](const ExchangeTotal& a, const ExchangeTotal& b) { return a.imbalance < b.imbalance; });
  if (worst->imbalance >= kUneven) {
    std::string text = "The rank that gives or gets most in an exchange has " +
                       SignificantText(worst->imbalance) + " times the mean";
    if (worst->busiest_times >= kUneven) {
      text += ", " + RankName(job.ranks[worst->busiest]) + " in all " +
              SignificantText(worst->busiest_times) + " times";
    }
    text +=
        ": if these are tokens, its experts compute longest and all wait for them. Balance the "
        "experts (auxiliary loss, limits of capacity), or place those that are wanted most on "
        "several ranks.";
    out.Put("  ").Wrapped(text, 2);
  }
  SummaryTable table(out, {{.header = "", .right = false},
                           {.header = "ranks"},
                           {.header = "calls"},
                           {.header = "a rank gets"},
                           {.header = "most / mean"},
                           {.header = "busiest", .right = false}});
  for (size_t i = 0; i < std::min(kMostGroups, job.exchanges.size()); ++i) {
    const ExchangeTotal& total = job.exchanges[i];
    table.Row({{"group " + std::to_string(total.communicator)},
               {CountText(total.ranks)},
               {CountText(total.calls)},
               {BytesText(total.mean_bytes)},
               {SignificantText(total.imbalance)},
               {RankName(job.ranks[total.busiest]) + ", " + SignificantText(total.busiest_times) +
                " times"}});
  }
  table.Print("communicator");
}

}  // namespace batchlight
