// Top and bottom of the summary: what ran, what is missing, where the files are.
#include <algorithm>
#include <optional>

#include "analysis/run/program_processes.h"
#include "base/printable_text.h"
#include "report/terminal/summary_sections.h"
#include "report/text/number_text.h"
#include "report/text/usage_text.h"
#include "report/text/utf8.h"

namespace batchlight {
namespace {

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
void WriteFailures(SummaryText& out, const SessionInfo& session, const ProgramProcesses& program) {
  size_t shown = 0;
  for (size_t row = 0; row < session.processes.size(); ++row) {
    if (row == program.main || !program.failed[row]) continue;
    if (++shown > 3) continue;
    const ProcessInfo& process = session.processes[row];
    out.Put("  ! ", Tone::kWarning)
        .Wrapped("process " + std::to_string(process.pid) + " (" + process.name + ") ended with " +
                     process.ExitText(),
                 4);
  }
  if (shown > 3) out.Line("    and " + CountText(shown - 3) + " more", Tone::kDim);
}

// Number of the longest of the steps that took unusually long.
std::optional<int64_t> LongestOutlier(const RunOverview& overview) {
  const ProcessSteps* main = overview.steps.Main();
  if (main == nullptr || main->outlier_count == 0) return std::nullopt;
  const Step* longest = nullptr;
  for (const uint32_t row : main->steady) {
    const Step& step = main->steps[row];
    if (!step.outlier) continue;
    if (longest == nullptr || step.duration_ns() > longest->duration_ns()) longest = &step;
  }
  if (longest == nullptr) return std::nullopt;
  return longest->number;
}

}  // namespace

void WriteHead(SummaryText& out, const RunOverview& overview) {
  const SessionInfo& session = overview.session;
  const ProgramProcesses program = FindProgramProcesses(session, overview.steps);
  const ProcessInfo* main =
      program.main == ProgramProcesses::kNone ? nullptr : &session.processes[program.main];
  out.Put("batchlight", Tone::kTitle).Put("  ");
  std::vector<std::string> parts;
  if (main != nullptr) parts.push_back(main->name.empty() ? "process" : main->name);
  parts.push_back(TimeText(double(session.duration_ns)));
  const size_t samples = overview.store->cpu_samples.size();
  const bool only_samples = session.events == 0 && samples > 0;
  parts.push_back(only_samples ? Plural(samples, "sample", "samples")
                               : Plural(session.events, "event", "events"));
  if (program.count > 1) parts.push_back(Plural(program.count, "process", "processes"));
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out.Put(" · ", Tone::kDim);
    out.Put(ElideMiddle(CleanText(parts[i]), 40), i == 0 ? Tone::kStrong : Tone::kPlain);
  }
  if (main != nullptr && EndIsKnown(*main)) {
    out.Put(" · ", Tone::kDim)
        .Put(main->ExitText(), program.failed[program.main] ? Tone::kLoss : Tone::kPlain);
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
  const std::string used = UsageText(*overview.store);
  if (!used.empty()) out.Put("  ").Wrapped(used, 2, Tone::kDim);
  const std::string overload = OverloadText(*overview.store);
  if (!overload.empty()) out.Put("  ! ", Tone::kWarning).Wrapped(overload, 4, Tone::kWarning);
  WriteFailures(out, session, program);
}

void WriteLosses(SummaryText& out, const RunOverview& overview) {
  bool first = true;
  for (const LossWarning& loss : overview.losses) {
    if (loss.severity == LossSeverity::kInfo) continue;  // WriteFootnotes
    if (first) out.EndLine();
    first = false;
    const Tone tone = loss.severity == LossSeverity::kDataLoss ? Tone::kLoss : Tone::kWarning;
    out.Put(loss.severity == LossSeverity::kDataLoss ? "! LOST  " : "!  ", tone);
    const std::string what = loss.counter == 0 ? loss.name + ": " + loss.text : loss.text;
    out.Wrapped(what, out.column(), tone);
    if (!loss.advice.empty()) out.Put("   ").Wrapped("→ " + loss.advice, 5);
  }
}

void WriteFootnotes(SummaryText& out, const RunOverview& overview) {
  bool first = true;
  for (const LossWarning& loss : overview.losses) {
    if (loss.severity != LossSeverity::kInfo) continue;
    if (first) out.Title("Notes");
    first = false;
    const std::string todo = loss.advice.empty() ? "" : ": " + loss.advice;
    out.Put("  ").Wrapped(loss.text + todo, 2, Tone::kDim);
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
  const std::string recording = ShellPath(files.front().first);
  const std::optional<int64_t> longest = LongestOutlier(overview);
  const std::pair<std::string, std::string_view> next[] = {
      {"batchlight report " + recording, "page with charts, CSVs"},
      {"batchlight view " + recording + (longest ? " --step " + std::to_string(*longest) : ""),
       longest ? "timeline, at the longest step" : "timeline"},
      {"batchlight analyze " + recording, "what to change"},
      {"batchlight export -t sqlite " + recording, "SQL database"}};
  widest = 0;
  size_t longest_what = 0;
  for (const auto& [command, what] : next) {
    widest = std::max(widest, CharacterCount(CleanText(command)));
    longest_what = std::max(longest_what, what.size());
  }
  const bool explained = widest + 4 + longest_what <= out.width();
  out.Title("Next");
  for (const auto& [command, what] : next) {
    out.Put("  ").Put(command);
    if (explained) out.PadTo(widest + 4).Put(what, Tone::kDim);
    out.EndLine();
  }
}

}  // namespace batchlight
