#include "analysis/diff/gate.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/nearest.h"

namespace batchlight {
namespace {

constexpr std::string_view kExample =
    "; write it like step>3%, forward>1ms or operator:aten::mm>5%";

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool ParseLimit(std::string_view text, Gate& gate) {
  const std::string copy(text);
  char* end = nullptr;
  const double number = std::strtod(copy.c_str(), &end);
  if (end == copy.c_str() || !std::isfinite(number) || number < 0) return false;
  const std::string_view unit = Trimmed(end);
  gate.relative = unit == "%";
  if (unit == "%") {
    gate.limit = number / 100;
  } else if (unit == "s") {
    gate.limit = number * 1e9;
  } else if (unit == "ms") {
    gate.limit = number * 1e6;
  } else if (unit == "us" || unit == "µs") {
    gate.limit = number * 1e3;
  } else if (unit == "ns") {
    gate.limit = number;
  } else {
    return false;
  }
  return true;
}

struct Prefix {
  std::string_view prefix;
  std::string_view list;
};
constexpr Prefix kPrefixes[] = {{"operator:", "operators"},
                                {"module:", "modules"},
                                {"kernel:", "kernels"},
                                {"phase:", "phases"},
                                {"gpu:", "gpu_parts"}};

void ParseMetric(std::string_view metric, Gate& gate) {
  gate.name = metric;
  if (metric == "step") return;
  gate.list = "phases";
  for (const Prefix& prefix : kPrefixes) {
    if (!metric.starts_with(prefix.prefix)) continue;
    gate.list = prefix.list;
    gate.name = metric.substr(prefix.prefix.size());
  }
}

// data_loading is as good as "data loading".
std::string Spaced(std::string name) {
  for (char& c : name) {
    if (c == '_') c = ' ';
  }
  return name;
}

const Change* FindChange(const ChangeList& list, const std::string& name) {
  for (const Change& change : list.changes) {
    if (change.name == name) return &change;
  }
  for (const Change& change : list.changes) {
    if (Spaced(change.name) == Spaced(name)) return &change;
  }
  return nullptr;
}

Status UnknownName(const Gate& gate, const RunDiff& diff) {
  std::vector<std::string_view> known;
  for (const ChangeList& list : diff.lists) {
    if (list.key != gate.list) continue;
    for (const Change& change : list.changes) known.push_back(change.name);
  }
  return UsageError("--fail-on " + gate.text + ": neither run has " + gate.list + " named \"" +
                    gate.name + "\"" + DidYouMean(NearestFew(gate.name, known)));
}

std::string Number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

GateResult Judge(const Gate& gate, double a_ns, double b_ns, bool sure) {
  const double delta = b_ns - a_ns;
  const double relative = a_ns > 0 ? delta / a_ns : (delta > 0 ? HUGE_VAL : 0);
  const bool above = gate.relative ? relative > gate.limit : delta > gate.limit;
  GateResult result{.text = gate.text, .failed = above && sure};
  result.finding = gate.name + " takes " + Number("%+.3g ms", delta / 1e6);
  if (std::isfinite(relative)) result.finding += " (" + Number("%+.1f %%", relative * 100) + ")";
  result.finding += gate.relative ? ", the limit is " + Number("%.3g %%", gate.limit * 100)
                                  : ", the limit is " + Number("%.3g ms", gate.limit / 1e6);
  if (above && !sure) result.finding += "; within the noise of the two runs";
  return result;
}

}  // namespace

Result<std::vector<Gate>> ParseGates(const std::string& text) {
  std::vector<Gate> gates;
  std::string_view rest = Trimmed(text);
  do {
    // Names of kernels hold commas and '>' themselves: the gate ends with the first '>' that a
    // limit follows.
    Gate gate;
    size_t end = std::string_view::npos;
    for (size_t greater = rest.find('>'); greater != std::string_view::npos && end > rest.size();
         greater = rest.find('>', greater + 1)) {
      const size_t comma = std::min(rest.find(',', greater), rest.size());
      if (!ParseLimit(Trimmed(rest.substr(greater + 1, comma - greater - 1)), gate)) continue;
      gate.text = Trimmed(rest.substr(0, comma));
      ParseMetric(Trimmed(rest.substr(0, greater)), gate);
      end = comma;
    }
    if (end > rest.size() || gate.name.empty()) {
      return UsageError("--fail-on: cannot read \"" + std::string(rest) + "\"" +
                        std::string(kExample));
    }
    gates.push_back(std::move(gate));
    if (end == rest.size()) return gates;
    rest = Trimmed(rest.substr(end + 1));
  } while (true);
}

Result<std::vector<GateResult>> CheckGates(const std::vector<Gate>& gates, const RunDiff& diff) {
  std::vector<GateResult> results;
  for (const Gate& gate : gates) {
    if (gate.list.empty()) {
      results.push_back(Judge(gate, diff.a.mean_ns, diff.b.mean_ns, diff.IsSure()));
      continue;
    }
    const Change* found = nullptr;
    for (const ChangeList& list : diff.lists) {
      if (list.key == gate.list) found = FindChange(list, gate.name);
    }
    if (found == nullptr) return UnknownName(gate, diff);
    results.push_back(Judge(gate, found->a_ns, found->b_ns, true));
  }
  return results;
}

}  // namespace batchlight
