// Top and bottom of the summary: what ran, what is missing, where the files are.
#include <algorithm>

#include "report/terminal/summary_sections.h"
#include "report/text/number_text.h"
#include "report/text/utf8.h"

namespace batchlight {
namespace {

// The process that the heading describes: the one that trains, else the one with most events.
const ProcessInfo* MainProcess(const RunOverview& overview) {
  const std::vector<ProcessInfo>& all = overview.session.processes;
  if (const ProcessSteps* steps = overview.steps.Main()) return &all[steps->process.row()];
  const auto most = std::max_element(
      all.begin(), all.end(),
      [](const ProcessInfo& a, const ProcessInfo& b) { return a.events < b.events; });
  return most == all.end() ? nullptr : &*most;
}

std::string Plural(uint64_t count, std::string_view one, std::string_view many) {
  return CountText(count) + " " + std::string(count == 1 ? one : many);
}

void WriteJoined(SummaryText& out, const std::vector<std::string>& parts, Tone tone) {
  std::string line;
  for (const std::string& part : parts) {
    const bool fits =
        CharacterCount(line) + 3 + CharacterCount(part) + 2 <= out.width() || line.empty();
    if (!fits) {
      out.Put("  ").Line(line, tone);
      line.clear();
    }
    if (!line.empty()) line += " · ";
    line += part;
  }
  if (!line.empty()) out.Put("  ").Line(line, tone);
}

// Children that ended badly; how the main process ended is in the heading.
void WriteFailures(SummaryText& out, const RunOverview& overview, const ProcessInfo* main) {
  size_t shown = 0;
  for (const ProcessInfo& process : overview.session.processes) {
    if (&process == main || (process.exit_signal <= 0 && process.exit_code <= 0)) continue;
    if (++shown > 3) continue;
    out.Put("  ! ", Tone::kWarning)
        .Wrapped("process " + std::to_string(process.pid) + " (" + process.name + ") ended with " +
                     process.ExitText(),
                 4);
  }
  if (shown > 3) out.Line("    and " + CountText(shown - 3) + " more", Tone::kDim);
}

}  // namespace

void WriteHead(SummaryText& out, const RunOverview& overview) {
  const SessionInfo& session = overview.session;
  const ProcessInfo* main = MainProcess(overview);
  out.Put("batchlight", Tone::kTitle).Put("  ");
  std::vector<std::string> parts;
  if (main != nullptr) parts.push_back(main->name.empty() ? "process" : main->name);
  parts.push_back(TimeText(double(session.duration_ns)));
  parts.push_back(Plural(session.events, "event", "events"));
  if (session.processes.size() > 1) {
    parts.push_back(Plural(session.processes.size(), "process", "processes"));
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out.Put(" · ", Tone::kDim);
    out.Put(ElideMiddle(CleanText(parts[i]), 40), i == 0 ? Tone::kStrong : Tone::kPlain);
  }
  if (main != nullptr) {
    const bool failed = main->exit_signal > 0 || main->exit_code > 0;
    out.Put(" · ", Tone::kDim).Put(main->ExitText(), failed ? Tone::kLoss : Tone::kPlain);
  }
  out.EndLine();
  if (!session.command.empty()) {
    out.Put("  ").Line(ElideMiddle(CleanText(session.command), out.width() - 2), Tone::kDim);
  }
  std::vector<std::string> facts;
  for (const auto& [label, value] : session.software) facts.push_back(label + " " + value);
  for (const auto& [label, value] : session.machine) {
    if (label == "CPU" || label == "GPU") facts.push_back(value);
    if (label == "Processors") facts.push_back(value + " processors");
  }
  WriteJoined(out, facts, Tone::kDim);
  WriteFailures(out, overview, main);
}

void WriteLosses(SummaryText& out, const RunOverview& overview) {
  if (overview.losses.empty()) return;
  out.EndLine();
  for (const LossWarning& loss : overview.losses) {
    const Tone tone = loss.severity == LossSeverity::kDataLoss ? Tone::kLoss : Tone::kWarning;
    out.Put(loss.severity == LossSeverity::kDataLoss ? "! LOST  " : "!  ", tone);
    const std::string what = loss.counter == 0 ? loss.name + ": " + loss.text : loss.text;
    out.Wrapped(what, out.column(), tone);
    if (!loss.advice.empty()) out.Put("   ").Wrapped("→ " + loss.advice, 5);
  }
}

void WriteFiles(SummaryText& out, const RunOverview& overview, const SummaryOptions& options) {
  std::vector<std::pair<std::string, std::string>> files = options.files;
  if (files.empty() && !overview.session.source.empty()) {
    files.emplace_back(overview.session.source, "the recording");
  }
  if (files.empty()) return;
  out.Title("Files");
  size_t widest = 0;
  for (const auto& [path, what] : files) widest = std::max(widest, CharacterCount(CleanText(path)));
  for (const auto& [path, what] : files) {
    out.Put("  ").Put(path, Tone::kStrong);
    if (widest + 4 + CharacterCount(what) <= out.width()) {
      out.PadTo(widest + 4).Put(what, Tone::kDim);
    }
    out.EndLine();
  }
  const std::string& recording = files.front().first;
  const std::pair<std::string, std::string_view> next[] = {
      {"batchlight report " + recording, "page with charts, CSVs"},
      {"batchlight analyze " + recording, "what to change"},
      {"batchlight export -t sqlite " + recording, "SQL database"}};
  widest = CharacterCount(CleanText(next[2].first));
  const bool explained = widest + 4 + next[0].second.size() <= out.width();
  out.Title("Next");
  for (const auto& [command, what] : next) {
    out.Put("  ").Put(command);
    if (explained) out.PadTo(widest + 4).Put(what, Tone::kDim);
    out.EndLine();
  }
}

}  // namespace batchlight
