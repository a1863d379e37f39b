#include "report/text/run_text.h"

#include <string_view>

#include "report/text/number_text.h"
#include "report/text/utf8.h"

namespace batchlight {
namespace {

std::string_view FileName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

std::string RunTitle(const SessionInfo& session) {
  std::string_view rest = session.command;
  while (!rest.empty()) {
    const size_t space = rest.find(' ');
    const std::string_view word = rest.substr(0, space);
    if (word.ends_with(".py")) return CleanText(FileName(word));
    if (space == std::string_view::npos) break;
    rest.remove_prefix(space + 1);
  }
  if (!session.processes.empty() && !session.processes[0].name.empty()) {
    return CleanText(session.processes[0].name);
  }
  const std::string_view command = session.command;
  const std::string_view program = FileName(command.substr(0, command.find(' ')));
  return CleanText(program.empty() ? FileName(session.source) : program);
}

std::string MachineLine(const SessionInfo& session) {
  std::string line;
  const auto add = [&](const std::string& text) {
    if (!line.empty()) line += ", ";
    line += CleanText(text);
  };
  for (const auto& [name, value] : session.machine) {
    if (value.empty()) continue;
    if (name == "CPU" || name == "GPU") add(value);
    if (name == "Processors") add(value + (value == "1" ? " processor" : " processors"));
    if (name == "Memory") add(value + " memory");
  }
  for (const auto& [name, value] : session.software) {
    if (name == "PyTorch" || name == "CUDA") add(name + " " + value);
  }
  return line;
}

std::string StepSentence(const StepSet& steps) {
  const ProcessSteps* main = steps.Main();
  if (main == nullptr) return StepsFoundSentence(steps);
  const Sample& duration = main->duration;
  std::string sentence = "A step takes " + TimeText(double(duration.median));
  if (duration.count == 1) return sentence + " (one step).";
  sentence += " (median of " + CountText(duration.count) + " steps; ";
  const bool percentiles = HasPercentiles(duration);
  sentence += percentiles ? "nine of ten between " : "between ";
  return sentence + TimeText(double(percentiles ? duration.p5 : duration.min)) + " and " +
         TimeText(double(percentiles ? duration.p95 : duration.max)) + ").";
}

std::string StepsFoundSentence(const StepSet& steps) {
  std::string sentence = steps.Main() == nullptr ? steps.how : "steps are taken " + steps.how;
  if (!sentence.empty() && sentence[0] >= 'a' && sentence[0] <= 'z') sentence[0] -= 'a' - 'A';
  return sentence + ".";
}

}  // namespace batchlight
