#include "report/page/job_page.h"

#include <algorithm>
#include <array>

#include "analysis/partial/rank_maps.h"
#include "report/page/html_page.h"
#include "report/text/number_text.h"

namespace batchlight {
namespace {

constexpr size_t kMostPhases = 32;
constexpr size_t kMostLabels = 24;  // beside a map
constexpr double kMostHeight = 720;
constexpr double kLineHeight = 18;

constexpr char kJobHead[] =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
    "<title>Ranks</title>\n<style>\n"
    ":root{color-scheme:light dark}\n"
    "body{font:14px/1.45 system-ui,sans-serif;margin:24px;max-width:1200px}\n"
    "pre{overflow-x:auto;font-size:12px}\n"
    ".map{position:relative;margin:8px 0 8px 150px}\n"
    ".map svg{display:block;width:100%;border:1px solid #8888}\n"
    ".map span{position:absolute;right:100%;padding-right:8px;white-space:nowrap;font-size:11px;"
    "transform:translateY(-50%)}\n"
    ".columns{position:relative;margin-left:150px;height:150px}\n"
    ".columns span{position:absolute;bottom:0;font-size:11px;writing-mode:vertical-rl;"
    "transform:translateX(-50%) "
    "rotate(180deg);max-height:150px;overflow:hidden;white-space:nowrap}\n"
    "table{border-collapse:collapse}td,th{padding:2px 10px;text-align:right;"
    "font-variant-numeric:tabular-nums}td:nth-child(2),th:nth-child(2){text-align:left}\n"
    "</style>\n</head>\n<body>\n";

// From which part of a step on a place has the colour.
struct Shade {
  double from;
  const char* text;
  const char* color;
};
constexpr std::array<Shade, 6> kShades = {{{0.005, "0.5 %", "#fde0a0"},
                                           {0.01, "1 %", "#fbbf5e"},
                                           {0.02, "2 %", "#f08a3c"},
                                           {0.05, "5 %", "#d9501f"},
                                           {0.10, "10 %", "#a01c1c"},
                                           {0.20, "20 %", "#4d0820"}}};

// The last that begins at or below; kShades.size(): none.
size_t ShadeOf(double share) {
  size_t found = kShades.size();
  for (size_t i = 0; i < kShades.size(); ++i) {
    if (share >= kShades[i].from) found = i;
  }
  return found;
}

// One path for each shade: places side by side are one box.
std::string Picture(const RankMap& map) {
  std::array<std::string, kShades.size()> paths;
  for (size_t rank = 0; rank < map.share.size(); ++rank) {
    const std::vector<double>& share = map.share[rank];
    for (size_t begin = 0; begin < share.size();) {
      const size_t shade = ShadeOf(share[begin]);
      size_t end = begin + 1;
      while (end < share.size() && ShadeOf(share[end]) == shade) ++end;
      if (shade < kShades.size()) {
        paths[shade] += 'M' + std::to_string(begin) + ' ' + std::to_string(rank) + 'h' +
                        std::to_string(end - begin) + "v1H" + std::to_string(begin) + 'z';
      }
      begin = end;
    }
  }
  const double height = std::min(kMostHeight, kLineHeight * static_cast<double>(map.share.size()));
  std::string svg =
      "<svg viewBox=\"0 0 " + std::to_string(map.columns.size()) + ' ' +
      std::to_string(map.share.size()) +
      "\" preserveAspectRatio=\"none\" style=\"height:" + std::to_string(static_cast<int>(height)) +
      "px\" shape-rendering=\"crispEdges\">";
  for (size_t i = 0; i < kShades.size(); ++i) {
    if (paths[i].empty()) continue;
    svg += std::string("<path fill=\"") + kShades[i].color + "\" d=\"" + paths[i] + "\"/>";
  }
  return svg + "</svg>";
}

std::string RankName(const JobResult& job, size_t row) {
  const RankTimes& rank = job.ranks[row];
  std::string name =
      rank.rank >= 0 ? std::to_string(rank.rank) : "process " + std::to_string(rank.pid);
  if (job.grid && rank.rank >= 0) name += " (" + job.grid->PlaceText(rank.rank) + ")";
  return EscapedText(name);
}

// Labels at even distances, in percent of the side.
template <typename Name>
std::string Labels(size_t count, const char* side, const Name& name) {
  std::string labels;
  const size_t every = (count + kMostLabels - 1) / kMostLabels;
  for (size_t i = 0; i < count; i += every) {
    const double at = (static_cast<double>(i) + 0.5) * 100 / static_cast<double>(count);
    labels += std::string("<span style=\"") + side + ':' + std::to_string(at) + "%\">" + name(i) +
              "</span>";
  }
  return labels;
}

void AddMap(std::string& page, const JobResult& job, const RankMap& map, const char* title) {
  if (map.columns.empty() || map.share.empty()) return;
  page +=
      std::string("<h2>") + title + "</h2>\n<div class=\"columns\">" +
      Labels(map.columns.size(), "left", [&](size_t i) { return EscapedText(map.columns[i]); }) +
      "</div>\n<div class=\"map\">" +
      Labels(map.share.size(), "top", [&](size_t i) { return RankName(job, i); }) + Picture(map) +
      "</div>\n";
}

void AddLegend(std::string& page) {
  page += "<p>";
  for (const Shade& shade : kShades) {
    page += std::string("<span style=\"color:") + shade.color + "\">&#9608;</span> " + shade.text +
            " &nbsp; ";
  }
  page += "of a step more than the rank in the middle</p>\n";
}

void AddTable(std::string& page, const JobResult& job) {
  page +=
      "<h2>Ranks</h2>\n<table><tr><th>Rank</th><th>Host</th><th>Steps</th><th>Step</th>"
      "<th>Lost waiting</th><th>Costs the others</th><th>Came last</th></tr>\n";
  for (size_t row = 0; row < job.ranks.size(); ++row) {
    const RankTimes& rank = job.ranks[row];
    page += "<tr><td>" + RankName(job, row) + "</td><td>" + EscapedText(rank.host) + "</td><td>" +
            std::to_string(rank.steps) + "</td><td>" + TimeText(rank.step_ns) + "</td><td>" +
            TimeText(rank.lost_ns) + "</td><td>" + TimeText(rank.cost_ns) + "</td><td>" +
            PercentText(rank.last_share) + "</td></tr>\n";
  }
  page += "</table>\n";
}

}  // namespace

std::string MakeJobPage(const JobResult& job, std::string_view text) {
  std::string page = kJobHead;
  page += "<pre>";
  for (size_t begin = 0; begin < text.size();) {  // lines stay lines
    const size_t end = std::min(text.find('\n', begin), text.size());
    page += EscapedText(text.substr(begin, end - begin)) + '\n';
    begin = end + 1;
  }
  page += "</pre>\n";
  AddMap(page, job, RanksByPhase(job, kMostPhases), "Ranks by phase");
  AddMap(page, job, RanksByStep(job), "Ranks by step, without what they lost waiting");
  AddLegend(page);
  AddTable(page, job);
  return page + "</body>\n</html>\n";
}

}  // namespace batchlight
