#include "report/page/job_page.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/page/html_page.h"
#include "report/page/page_rank_maps.h"
#include "report/text/number_text.h"
#include "report/text/rank_names.h"

namespace batchlight {
namespace {

// What stands there before the script begins, and without it: everything but the maps.
void AddTable(std::string& page, const JobResult& job) {
  page +=
      "<table id=\"rank-table\"><thead><tr><th>Rank</th><th>Host</th><th>Steps</th><th>Step</th>"
      "<th>Lost waiting</th><th>Costs the others</th><th>Came last</th></tr></thead>\n<tbody>\n";
  const bool waits = job.knows_waits(), calls = job.knows_calls();
  for (size_t row = 0; row < job.ranks.size(); ++row) {
    const RankTimes& rank = job.ranks[row];
    page += "<tr><td>" + EscapedText(RankName(job, row)) + "</td><td>" + EscapedText(rank.host) +
            "</td><td>" + std::to_string(rank.steps) + "</td><td>" + TimeText(rank.step_ns) +
            "</td><td>" + (waits ? TimeText(rank.lost_ns) : "-") + "</td><td>" +
            (waits ? TimeText(rank.cost_ns) : "-") + "</td><td>" +
            (calls ? PercentText(rank.last_share) : "-") + "</td></tr>\n";
  }
  page += "</tbody></table>\n";
}

}  // namespace

std::string MakeJobPage(const JobResult& job, std::string_view text, std::string_view version) {
  const nlohmann::json data = {
      {"format", 1}, {"kind", "ranks"}, {"version", version}, {"rank_maps", PageRankMaps(job)}};
  std::string elements = "<pre id=\"ranks-text\">";
  for (size_t begin = 0; begin < text.size();) {  // lines stay lines
    const size_t end = std::min(text.find('\n', begin), text.size());
    elements += EscapedText(text.substr(begin, end - begin)) + '\n';
    begin = end + 1;
  }
  elements += "</pre>\n";
  AddTable(elements, job);
  return MakeHtmlPage("Ranks", data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                      elements,
                      "The heat maps are drawn by a script, which this browser does not run.");
}

}  // namespace batchlight
