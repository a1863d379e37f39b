#include "report/files/source_page.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "analysis/gpu/line_gaps.h"
#include "analysis/lines/gpu_line_memory.h"
#include "analysis/lines/lines_inside.h"
#include "analysis/lines/source_place.h"
#include "report/page/html_page.h"
#include "report/text/number_text.h"
#include "report/text/run_text.h"

namespace batchlight {
namespace {

constexpr std::string_view kStyle =
    "body{font:14px system-ui,sans-serif;margin:2em;color:#222;background:#fff}"
    "table{border-collapse:collapse}td,th{padding:0 .6em;text-align:right;white-space:nowrap}"
    "th{position:sticky;top:0;background:#fff;border-bottom:1px solid #ccc}"
    "td{vertical-align:top}td.s{text-align:left;padding-left:1.4em;font-family:monospace;white-"
    "space:pre}"
    "td.n{color:#888}summary{cursor:pointer;list-style:none;position:relative}"
    "summary::before{content:'\\25b8';position:absolute;left:-1em}[open]>summary::before{content:'"
    "\\25be'}"
    "summary::-webkit-details-marker{display:none}details table{margin:.2em 0 .6em "
    "2em;font-size:12px}"
    "@media(prefers-color-scheme:dark){body,th{color:#ddd;background:#181818}}";

// What a line of a file did.
struct Line {
  LineRow times;
  int64_t idle_ns = 0;  // that it caused on GPUs
  int64_t wait_ns = 0;
  uint64_t gpu_peak_bytes = 0;
  uint64_t peak_bytes = 0;
  std::vector<const LineInside*> inside;
};

class SourcePage {
 public:
  SourcePage(const RunOverview& overview, const std::vector<SourceFile>& files)
      : store_(*overview.store), lines_(overview.lines) {
    for (const SourceFile& file : files) files_[file.path] = &file;
    gpu_memory_ = MeasureGpuLineMemory(store_);
    inside_ = MeasureLinesInside(store_, MeasureStacks(store_, overview.links, overview.work));
    for (const LineRow& row : lines_.rows) {
      if (Line* line = LineOf(row.frame)) Add(row, line->times);
    }
    if (lines_.gpu_ns > 0) AddGaps(MeasureLineGaps(*overview.inputs, overview.links));
    for (const GpuMemoryRow& row : gpu_memory_.rows) {
      if (Line* line = LineOf(row.frame)) line->gpu_peak_bytes += row.peak_bytes;
    }
    for (const LineMemoryRow& row : overview.line_memory.rows) {
      if (Line* line = LineOf(row.frame)) line->peak_bytes += row.peak_bytes;
    }
    for (const LineInside& row : inside_) {
      if (Line* line = LineOf(row.line)) line->inside.push_back(&row);
    }
    has_gpu_ = lines_.gpu_ns > 0;
    has_gpu_memory_ = !gpu_memory_.empty();
    has_memory_ = !overview.line_memory.empty();
  }

  std::string Make(const std::string& title) {
    if (of_files_.empty()) return "";
    std::string out =
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "style-src 'unsafe-inline'\">\n<title>" +
        EscapedText(title) + "</title>\n<style>" + std::string(kStyle) +
        "</style>\n</head>\n<body>\n<h1>" + EscapedText(title) + "</h1>\n";
    for (const auto& [path, lines] : of_files_) AddFile(path, lines, out);
    return out + "</body>\n</html>\n";
  }

 private:
  using Lines = std::map<uint32_t, Line>;

  // nullptr: of no file that is shown.
  Line* LineOf(PythonFrameId frame) {
    if (frame.IsNone()) return nullptr;
    const std::string path(store_.Text(store_.python_frames.file[frame.row()]));
    if (!files_.contains(path)) return nullptr;
    return &of_files_[path][store_.python_frames.line[frame.row()]];
  }

  static void Add(const LineRow& row, LineRow& sums) {
    sums.calls += row.calls;
    sums.cpu_forward_ns += row.cpu_ns();
    sums.gpu_forward_ns += row.gpu_forward_ns;
    sums.gpu_backward_ns += row.gpu_backward_ns;
    sums.gpu_recompute_ns += row.gpu_recompute_ns;
  }

  void AddGaps(const std::map<LineKey, LineGap>& gaps) {
    for (const auto& [key, gap] : gaps) {
      idle_ns_ += gap.idle_ns;
      Line* line = LineOf(gap.frame);
      if (line == nullptr) continue;
      line->idle_ns += gap.idle_ns;
      line->wait_ns += gap.wait_ns;
    }
  }

  std::vector<std::string> Titles() const {
    std::vector<std::string> titles = {"", "Calls"};
    if (has_gpu_) titles.insert(titles.end(), {"GPU", "forward", "backward", "recompute"});
    titles.emplace_back("CPU");
    if (has_gpu_) titles.insert(titles.end(), {"Idle caused", "Waits"});
    if (has_gpu_memory_) titles.emplace_back("GPU memory");
    if (has_memory_) titles.emplace_back("Memory");
    return titles;
  }

  void AddFile(const std::string& path, const Lines& lines, std::string& out) const {
    out += "<h2>" + EscapedText(path) + "</h2>\n<table>\n<tr>";
    for (const std::string& title : Titles()) out += "<th>" + title + "</th>";
    out += "<th style=\"text-align:left\">Source</th></tr>\n";
    std::string_view text = files_.at(path)->text;
    for (uint32_t number = 1; !text.empty(); ++number) {
      const size_t end = text.find('\n');
      const auto line = lines.find(number);
      AddLine(number, line == lines.end() ? nullptr : &line->second, text.substr(0, end), out);
      text.remove_prefix(end == text.npos ? text.size() : end + 1);
    }
    out += "</table>\n";
  }

  void AddLine(uint32_t number, const Line* line, std::string_view text, std::string& out) const {
    out += "<tr><td class=\"n\">" + std::to_string(number) + "</td>";
    static const Line kNothing;
    const Line& shown = line == nullptr ? kNothing : *line;
    const auto cell = [&](bool given, const std::string& value, double share) {
      out += "<td";
      if (given && share > 0) {
        out += " style=\"background:rgba(230,120,0," +
               FixedText(std::min(0.6, 0.08 + 0.6 * share), 2) + ")\"";
      }
      out += ">" + (given ? value : std::string()) + "</td>";
    };
    const auto time = [&](int64_t ns, int64_t all) {
      cell(ns > 0, TimeText(static_cast<double>(ns)),
           all > 0 ? static_cast<double>(ns) / static_cast<double>(all) : 0);
    };
    const auto bytes = [&](uint64_t value, uint64_t all) {
      cell(value > 0, BytesText(static_cast<double>(value)),
           all > 0 ? static_cast<double>(value) / static_cast<double>(all) : 0);
    };
    cell(shown.times.calls > 0, CountText(shown.times.calls), 0);
    if (has_gpu_) {
      time(shown.times.gpu_ns(), lines_.gpu_ns);
      time(shown.times.gpu_forward_ns, 0);
      time(shown.times.gpu_backward_ns, 0);
      time(shown.times.gpu_recompute_ns, 0);
    }
    time(shown.times.cpu_ns(), lines_.cpu_ns);
    if (has_gpu_) {
      time(shown.idle_ns, idle_ns_);
      time(shown.wait_ns, 0);
    }
    if (has_gpu_memory_) bytes(shown.gpu_peak_bytes, gpu_memory_.peak_bytes);
    if (has_memory_) bytes(shown.peak_bytes, 0);
    out += "<td class=\"s\">";
    AddSource(text, shown.inside, out);
    out += "</td></tr>\n";
  }

  void AddSource(std::string_view text, const std::vector<const LineInside*>& inside,
                 std::string& out) const {
    if (inside.empty()) {
      out += EscapedText(text);
      return;
    }
    out += "<details><summary>" + EscapedText(text) + "</summary><table>";
    for (const LineInside* row : inside) {
      const size_t frame = row->inside.row();
      const std::string place =
          std::string(ShortFile(store_.Text(store_.python_frames.file[frame]))) + ':' +
          std::to_string(store_.python_frames.line[frame]) + ' ' +
          std::string(store_.Text(store_.python_frames.function[frame]));
      out += "<tr><td class=\"s\">" + EscapedText(place) + "</td>";
      if (has_gpu_) {
        out += "<td>GPU " + TimeText(static_cast<double>(row->gpu_forward_ns)) + " + " +
               TimeText(static_cast<double>(row->gpu_backward_ns)) + "</td>";
      }
      out += "<td>CPU " + TimeText(static_cast<double>(row->cpu_ns)) + "</td></tr>";
    }
    out += "</table></details>";
  }

  const Store& store_;
  const LineTimes& lines_;
  int64_t idle_ns_ = 0;  // of all lines
  GpuLineMemory gpu_memory_;
  std::vector<LineInside> inside_;
  std::map<std::string, const SourceFile*> files_;
  std::map<std::string, Lines> of_files_;
  bool has_gpu_ = false, has_gpu_memory_ = false, has_memory_ = false;
};

}  // namespace

std::string MakeSourcePage(const RunOverview& overview, const std::vector<SourceFile>& files) {
  if (files.empty()) return "";
  return SourcePage(overview, files).Make(RunTitle(overview.session) + " - lines of Python");
}

}  // namespace batchlight
