#include "analysis/ranks/clock_alignment.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "analysis/numbers/plain_number.h"
#include "analysis/numbers/quantile.h"
#include "analysis/ranks/call_numbers.h"

namespace batchlight {
namespace {

constexpr size_t kWindows = 16;
constexpr size_t kFewestPairs = 3;
constexpr size_t kMostEnds = 1024;          // of a rank
constexpr size_t kFewestForDrift = 64;      // pairs
constexpr double kShortestForDrift = 2e9;   // ns
constexpr double kMostDrift = 200e-6;       // quartz keeps to a tenth of it
constexpr double kWorstResidualNs = 100e3;  // the ends of these ranks do not coincide

// An end of one call on one input, and of the same call on the input that it is compared with.
struct Pair {
  int64_t at_ns = 0;     // on the input's clock
  int64_t other_ns = 0;  // on the job's
};

using CallId = std::pair<uint64_t, uint32_t>;  // communicator, number

// The end of a call on one input, that of its median rank. By rising id.
struct CallEnd {
  CallId call;
  int64_t end_ns = 0;
};
using Ends = std::vector<CallEnd>;

void MergeEnds(Ends& ends) {
  const auto by_call = [](const CallEnd& a, const CallEnd& b) {
    return std::tie(a.call, a.end_ns) < std::tie(b.call, b.end_ns);
  };
  std::sort(ends.begin(), ends.end(), by_call);
  auto out = ends.begin();
  for (auto begin = ends.begin(); begin != ends.end();) {
    const auto end = std::find_if(begin, ends.end(),
                                  [&](const CallEnd& one) { return one.call != begin->call; });
    *out++ = begin[(end - begin - 1) / 2];
    begin = end;
  }
  ends.erase(out, ends.end());
}

// Ends on the clock of the job.
using JobEnds = std::map<CallId, int64_t>;

struct Line {
  TimeShift shift;
  double residual_ns = 0;
};

std::optional<Line> FitLine(const std::vector<Pair>& pairs) {
  if (pairs.size() < kFewestPairs) return std::nullopt;
  std::vector<double> offsets;
  for (const Pair& pair : pairs) offsets.push_back(double(pair.other_ns - pair.at_ns));
  const double middle = Quantile(offsets, 0.5);
  Line line{.shift = {.offset_ns = static_cast<int64_t>(std::llround(middle))}};
  const double length_ns = double(pairs.back().at_ns - pairs.front().at_ns);
  if (pairs.size() >= kFewestForDrift && length_ns >= kShortestForDrift) {
    double x_sum = 0, y_sum = 0, xx_sum = 0, xy_sum = 0;
    for (size_t window = 0; window < kWindows; ++window) {
      std::vector<double> x, y;
      for (size_t i = window * pairs.size() / kWindows; i < (window + 1) * pairs.size() / kWindows;
           ++i) {
        x.push_back(double(pairs[i].at_ns - pairs.front().at_ns));
        y.push_back(double(pairs[i].other_ns - pairs[i].at_ns) - middle);
      }
      const double at = Quantile(x, 0.5), offset = Quantile(y, 0.5);
      x_sum += at, y_sum += offset, xx_sum += at * at, xy_sum += at * offset;
    }
    const double n = kWindows;
    const double slope = (n * xy_sum - x_sum * y_sum) / (n * xx_sum - x_sum * x_sum);
    if (std::isfinite(slope) && std::abs(slope) <= kMostDrift) {
      const double offset = middle + (y_sum - slope * x_sum) / n;
      line.shift = {.offset_ns = static_cast<int64_t>(std::llround(offset)),
                    .drift = slope,
                    .pivot_ns = pairs.front().at_ns};
    }
  }
  std::vector<double> away;
  for (const Pair& pair : pairs) {
    away.push_back(std::abs(double(pair.other_ns - line.shift.Of(pair.at_ns))));
  }
  line.residual_ns = Quantile(away, 0.5);
  return line;
}

class Alignment {
 public:
  explicit Alignment(std::span<const ClockInput> inputs) : inputs_(inputs) {
    for (const ClockInput& input : inputs) {
      found_.shifts.push_back({.offset_ns = input.start_ns});
    }
  }

  ClockAlignment Run() {
    CollectEnds();
    std::vector<bool> done(inputs_.size());
    size_t next = 0;
    while (next < inputs_.size() && ends_[next].empty()) ++next;
    if (next == inputs_.size()) return std::move(found_);
    done[next] = true;
    found_.aligned = 1;
    JobEnds job;
    AddToJob(next, job);
    for (bool more = true; more;) {
      more = false;
      for (size_t input = 0; input < inputs_.size(); ++input) {
        more = (!done[input] && AlignOne(input, done, job)) || more;
      }
    }
    if (found_.aligned == 1) found_.aligned = 0;
    if (!residuals_.empty()) found_.residual_ns = Quantile(residuals_, 0.5);
    return std::move(found_);
  }

 private:
  void CollectEnds() {
    std::vector<const RankCalls*> ranks;
    std::vector<int64_t> clock_ns;
    for (const ClockInput& input : inputs_) {
      for (const RankCalls* calls : input.ranks) {
        ranks.push_back(calls);
        clock_ns.push_back(input.start_ns);
      }
    }
    const std::vector<FirstNumbers> first = NumberCalls(ranks, clock_ns);
    size_t rank = 0;
    for (const ClockInput& input : inputs_) {
      Ends& ends = ends_.emplace_back();
      for (size_t i = 0; i < input.ranks.size(); ++i, ++rank) {
        AddEnds(*ranks[rank], first[rank], ends);
      }
      MergeEnds(ends);
    }
  }

  static void AddEnds(const RankCalls& calls, const FirstNumbers& first, Ends& ends) {
    struct Kind {
      uint32_t* next;  // number of a call on its communicator
      bool ends_together;
      bool between_two;
    };
    FirstNumbers next = first;
    std::vector<Kind> kinds;
    for (const CallKind& kind : calls.kinds) {
      kinds.push_back(
          {&next[kind.communicator], EndsTogether(kind.operation), IsBetweenTwo(kind.operation)});
    }
    const std::vector<int64_t> ends_ns = calls.ends.Decode();
    uint32_t stride = 1;  // the same on all ranks, or one divides the other
    while (calls.size() / stride > kMostEnds) stride *= 2;
    for (size_t call = 0; call < calls.size(); ++call) {
      const Kind& kind = kinds[calls.kind[call]];
      if (kind.between_two) continue;
      const uint32_t number = (*kind.next)++;
      if (number % stride != 0 || !kind.ends_together || calls.kernel[call] == 0) continue;
      ends.push_back({{calls.kinds[calls.kind[call]].communicator, number}, ends_ns[call]});
    }
  }

  void AddToJob(size_t input, JobEnds& job) const {
    for (const auto& [call, end_ns] : ends_[input]) {
      job.emplace(call, found_.shifts[input].Of(end_ns));
    }
  }

  // False: it shares too few calls with those that are aligned.
  bool AlignOne(size_t input, std::vector<bool>& done, JobEnds& job) {
    std::vector<Pair> pairs;
    for (const auto& [call, end_ns] : ends_[input]) {
      const auto other = job.find(call);
      if (other != job.end()) pairs.push_back({end_ns, other->second});
    }
    if (pairs.size() < kFewestPairs) return false;
    done[input] = true;
    std::sort(pairs.begin(), pairs.end(),
              [](const Pair& a, const Pair& b) { return a.at_ns < b.at_ns; });
    const std::optional<Line> line = FitLine(pairs);
    if (!line || line->residual_ns > kWorstResidualNs) return true;  // it keeps its own clock
    ++found_.aligned;
    found_.calls += pairs.size();
    const int64_t at_ns = pairs.front().at_ns;
    found_.off_ns = std::max(
        found_.off_ns, std::abs(double(line->shift.Of(at_ns) - found_.shifts[input].Of(at_ns))));
    found_.shifts[input] = line->shift;
    for (const Pair& pair : pairs) {
      residuals_.push_back(std::abs(double(pair.other_ns - line->shift.Of(pair.at_ns))));
    }
    AddToJob(input, job);
    return true;
  }

  std::span<const ClockInput> inputs_;
  std::vector<Ends> ends_;
  std::vector<double> residuals_;
  ClockAlignment found_;
};

std::string ShortTime(double ns) {
  char text[32];
  if (ns < 1e6) {
    std::snprintf(text, sizeof text, "%.1f us", ns / 1e3);
  } else if (ns < 1e9) {
    std::snprintf(text, sizeof text, "%.1f ms", ns / 1e6);
  } else {
    std::snprintf(text, sizeof text, "%.1f s", ns / 1e9);
  }
  return text;
}

}  // namespace

std::string ClockAlignment::Text() const {
  if (aligned < 2) return "";
  return std::to_string(aligned) + " clocks are aligned by the ends of " + WithThousands(calls) +
         " collectives, which then differ by " + ShortTime(residual_ns) +
         "; they were off by up to " + ShortTime(off_ns);
}

ClockAlignment AlignClocks(std::span<const ClockInput> inputs) { return Alignment(inputs).Run(); }

}  // namespace batchlight
