#include "report/files/snippet.h"

#include <algorithm>

#include "analysis/advice/advice_text.h"
#include "report/text/number_text.h"
#include "report/text/run_text.h"
#include "report/text/utf8.h"

namespace batchlight {
namespace {

constexpr size_t kLongestName = 120;  // characters
constexpr size_t kLongestPhase = 60;
constexpr size_t kMostFindings = 3;

// Escapes text outside of code, so that none of its characters is markup.
std::string MarkdownText(std::string_view text) {
  std::string escaped;
  for (const char c : CleanText(text)) {
    if (std::string_view("\\`*_[]<>|#&").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string PhaseTable(const RunOverview& overview) {
  const StepBreakdown* breakdown = overview.MainBreakdown();
  if (breakdown == nullptr || breakdown->phases.empty()) return "";
  std::string out = "| " + TitleWith("Phase", StepsOfMain(overview)) +
                    " | Mean per step | Share of it |\n|---|--:|--:|\n";
  for (const PhaseShare& phase : breakdown->phases) {
    if (phase.steady.total == 0) continue;  // only in steps that do not count
    out += "| " + MarkdownText(ElideMiddle(CleanText(phase.name), kLongestPhase)) + " | " +
           TimeText(phase.steady.mean) + " | " + PercentText(phase.share) + " |\n";
  }
  const Sample& step = overview.steps.Main()->duration;
  out += "| **step** (mean) | **" + TimeText(step.mean) + "** | 100.0 % |\n\n";
  return out;
}

std::string TopTable(const TopList& list) {
  const std::string share = "Share " + list.share_of;
  std::string out = "| # | " + TitleWith(list.title, list.whose) + " | Calls in the run | Total " +
                    list.measure + " |";
  out += list.per_step ? " Mean per step | " + share + " |\n|--:|---|--:|--:|--:|--:|\n"
                       : " " + share + " |\n|--:|---|--:|--:|--:|\n";
  int number = 0;
  for (const TopRow& row : list.rows) {
    out += "| " + std::to_string(++number) + " | " + MarkdownCode(row.shown()) + " | " +
           CountText(row.calls) + " | " + TimeText(row.total_ns) + " | ";
    if (list.per_step) out += TimeText(row.value_ns) + " | ";
    out += PercentText(row.share) + " |\n";
  }
  return out + "\n";
}

std::string AdviceList(const std::vector<Finding>& advice, const std::string& whose) {
  if (advice.empty()) return "";
  std::string out = TitleWith("What to change first", whose) + ":\n\n";
  for (size_t i = 0; i < std::min(advice.size(), kMostFindings); ++i) {
    const Finding& finding = advice[i];
    out += "- **" + MarkdownText(finding.title) + "**";
    if (finding.has_gain()) out += " (" + ShortGainText(finding) + ")";
    out += ": " + MarkdownText(finding.action) + "\n";
  }
  return out + "\n";
}

}  // namespace

std::string MarkdownCode(std::string_view name) {
  std::string text;
  for (const char c : ElideMiddle(CleanText(name), kLongestName)) {
    if (c == '|') text += '\\';  // a table cell ends at a pipe even inside of code
    text += c;
  }
  if (text.empty()) return "(no name)";
  size_t longest = 0;
  size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  const bool pad = text.front() == '`' || text.back() == '`' || text.front() == ' ';
  return pad ? fence + " " + text + " " + fence : fence + text + fence;
}

std::string MakeSnippet(const RunOverview& overview, const std::vector<Finding>& advice,
                        const std::vector<TopList>& tops,
                        const std::vector<SnippetPicture>& pictures) {
  std::string out = "## Where the time goes: " + MarkdownText(RunTitle(overview.session)) + "\n\n";
  for (const LossWarning& loss : overview.losses) {
    if (loss.severity == LossSeverity::kInfo) continue;
    const bool notice = loss.severity == LossSeverity::kNotice;
    out += notice ? "> **Note:** " : "> **Incomplete:** ";
    out += MarkdownText(loss.text) + "\n\n";
  }
  out += MarkdownText(StepSentence(overview)) + "\n\n";
  out += PhaseTable(overview);
  for (const SnippetPicture& picture : pictures) {
    out += "![" + MarkdownText(picture.caption) + "](" + picture.file + ")\n\n";
  }
  out += AdviceList(advice, MainRank(overview));
  for (const TopList& list : tops) out += TopTable(list);
  const std::string machine = MachineLine(overview.session);
  if (!machine.empty()) out += "Measured on " + MarkdownText(machine) + ".\n";
  if (!overview.session.command.empty()) {
    out += "Command: " + MarkdownCode(overview.session.command) + "\n";
  }
  return out;
}

}  // namespace batchlight
