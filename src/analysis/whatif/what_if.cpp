#include "analysis/whatif/what_if.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <unordered_set>
#include <utility>

#include "analysis/numbers/quantile.h"

namespace batchlight {
namespace {

constexpr double kHealed = 0.03;       // of the workers
constexpr double kClockErrorS = 1e-2;  // an end before the last start by more is no transfer

using Lanes = std::vector<double>;
using Durations = std::vector<Lanes>;  // by node

bool IsCommunication(PipelineWork work) {
  switch (work) {
    case PipelineWork::kForwardCompute:
    case PipelineWork::kBackwardCompute:
    case PipelineWork::kGarbageCollection:
    case PipelineWork::kOptimizer:
      return false;
    default:
      return true;
  }
}

// visit(group of lanes that wait for each other): of each step, all replicas or one.
template <typename Visitor>
void VisitMeetings(const PipelineModel& model, const PipelineGroup& group, Visitor&& visit) {
  const auto replicas = static_cast<size_t>(model.replicas);
  const size_t width = group.all_replicas ? replicas : 1;
  for (size_t lane = 0; lane < model.lanes(); lane += width) visit(lane, lane + width);
}

class Player {
 public:
  explicit Player(const PipelineModel& model) : model_(model) {
    TakeDurations();
    Idealize();
  }

  WhatIf Run() const {
    const auto none = [](size_t, size_t) { return false; };
    const auto all = [](size_t, size_t) { return true; };
    WhatIf found{.step_s = Play(none), .ideal_s = Play(all)};
    const Parts parts = MeasureParts(found.ideal_s);
    for (size_t stage = 0; stage < parts.stages.size(); ++stage) {
      found.stages.push_back({"stage " + std::to_string(stage), parts.stages[stage]});
    }
    for (const auto& [work, slowdown] : parts.works) {
      found.works.push_back({std::string(PipelineWorkName(work)), slowdown});
    }
    std::stable_sort(found.works.begin(), found.works.end(),
                     [](const auto& a, const auto& b) { return a.slowdown > b.slowdown; });
    RankWorkers(parts, found);
    std::unordered_set<int32_t> healed;
    for (size_t i = 0; i < found.healed; ++i) healed.insert(found.workers[i].rank);
    const auto is_healed = [&](size_t node, size_t lane) {
      return healed.contains(RankOf(node, lane));
    };
    found.without_workers_s = Play(is_healed);
    found.without_stage_s =
        Play([&](size_t node, size_t) { return model_.nodes[node].stage + 1 == model_.stages; });
    return found;
  }

 private:
  struct Parts {
    std::vector<double> replicas, stages;
    std::map<PipelineWork, double> works;
  };

  size_t ReplicaOf(size_t lane) const { return lane % size_t(model_.replicas); }
  int32_t RankOf(size_t node, size_t lane) const {
    return model_.nodes[node].rank[ReplicaOf(lane)];
  }

  // Of communication only the transfer: from when the last one started.
  void TakeDurations() {
    for (size_t node = 0; node < model_.nodes.size(); ++node) {
      Lanes& lanes = durations_.emplace_back(model_.lanes());
      for (size_t lane = 0; lane < lanes.size(); ++lane) {
        lanes[lane] = model_.end_s[node][lane] - model_.start_s[node][lane];
      }
    }
    for (const PipelineGroup& group : model_.groups) {
      VisitMeetings(model_, group, [&](size_t begin, size_t end) {
        double last_s = -std::numeric_limits<double>::infinity();
        for (const uint32_t node : group.nodes) {
          for (size_t lane = begin; lane < end; ++lane) {
            last_s = std::max(last_s, model_.start_s[node][lane]);
          }
        }
        for (const uint32_t node : group.nodes) {
          for (size_t lane = begin; lane < end; ++lane) {
            const double transfer_s = model_.end_s[node][lane] - last_s;
            durations_[node][lane] = transfer_s <= -kClockErrorS ? 0 : transfer_s;
          }
        }
      });
    }
  }

  void Idealize() {
    std::map<PipelineWork, std::vector<double>> all;
    for (size_t node = 0; node < model_.nodes.size(); ++node) {
      std::vector<double>& values = all[model_.nodes[node].work];
      values.insert(values.end(), durations_[node].begin(), durations_[node].end());
    }
    for (auto& [work, values] : all) {
      double& ideal = ideal_[work];
      if (IsCommunication(work)) {
        ideal = Quantile(values, 0.5);
      } else {
        for (const double value : values) ideal += value / double(values.size());
      }
    }
  }

  // Mean length of a step where the operations that `is_ideal(node, lane)` names take what their
  // kind takes, and the others what they took.
  double Play(const std::function<bool(size_t, size_t)>& is_ideal) const {
    std::vector<Lanes> start(model_.nodes.size()), end(model_.nodes.size());
    std::vector<size_t> started(model_.groups.size());
    const auto duration = [&](size_t node, size_t lane) {
      return is_ideal(node, lane) ? ideal_.at(model_.nodes[node].work) : durations_[node][lane];
    };
    Lanes length(model_.lanes());
    const auto finish = [&](size_t node, size_t lane, double from_s) {
      end[node][lane] = from_s + duration(node, lane);
      length[lane] = std::max(length[lane], end[node][lane]);
    };
    for (const uint32_t node : model_.order) {
      start[node].resize(model_.lanes());
      end[node].resize(model_.lanes());
      for (const uint32_t before : model_.nodes[node].after) {
        for (size_t lane = 0; lane < model_.lanes(); ++lane) {
          start[node][lane] = std::max(start[node][lane], end[before][lane]);
        }
      }
      const int32_t number = model_.nodes[node].group;
      if (number < 0) {
        for (size_t lane = 0; lane < model_.lanes(); ++lane) finish(node, lane, start[node][lane]);
        continue;
      }
      const PipelineGroup& group = model_.groups[size_t(number)];
      if (++started[size_t(number)] < group.nodes.size()) continue;
      VisitMeetings(model_, group, [&](size_t first, size_t last) {
        double from_s = 0;
        for (const uint32_t member : group.nodes) {
          for (size_t lane = first; lane < last; ++lane) {
            from_s = std::max(from_s, start[member][lane]);
          }
        }
        for (const uint32_t member : group.nodes) {
          for (size_t lane = first; lane < last; ++lane) finish(member, lane, from_s);
        }
      });
    }
    return MeanOfSteps(length);
  }

  // A step lasts until its last replica is done.
  double MeanOfSteps(const Lanes& length) const {
    const auto replicas = std::ptrdiff_t(model_.replicas);
    double sum = 0;
    for (size_t step = 0; step < model_.steps.size(); ++step) {
      const auto begin = length.begin() + std::ptrdiff_t(step) * replicas;
      sum += *std::max_element(begin, begin + replicas);
    }
    return sum / double(model_.steps.size());
  }

  Parts MeasureParts(double ideal_s) const {
    Parts parts;
    const auto slowdown = [&](const std::function<bool(size_t, size_t)>& is_ideal) {
      return ideal_s > 0 ? Play(is_ideal) / ideal_s : 1;
    };
    for (size_t replica = 0; replica < size_t(model_.replicas); ++replica) {
      parts.replicas.push_back(
          slowdown([&](size_t, size_t lane) { return ReplicaOf(lane) != replica; }));
    }
    for (int32_t stage = 0; stage < model_.stages; ++stage) {
      parts.stages.push_back(
          slowdown([&](size_t node, size_t) { return model_.nodes[node].stage != stage; }));
    }
    for (const auto& [work, ideal] : ideal_) {
      parts.works[work] = slowdown(
          [&, kind = work](size_t node, size_t) { return model_.nodes[node].work != kind; });
    }
    return parts;
  }

  void RankWorkers(const Parts& parts, WhatIf& found) const {
    std::map<int32_t, SlowWorker> workers;
    for (const PipelineNode& node : model_.nodes) {
      for (int32_t replica = 0; replica < model_.replicas; ++replica) {
        const int32_t rank = node.rank[size_t(replica)];
        const double slowdown =
            std::min(parts.replicas[size_t(replica)], parts.stages[size_t(node.stage)]);
        workers[rank] = {rank, replica, node.stage, slowdown};
      }
    }
    for (const auto& [rank, worker] : workers) found.workers.push_back(worker);
    std::stable_sort(found.workers.begin(), found.workers.end(),
                     [](const auto& a, const auto& b) { return a.slowdown > b.slowdown; });
    const double share = double(workers.size()) * kHealed;
    found.healed = std::max<size_t>(1, static_cast<size_t>(share + 0.999));
  }

  const PipelineModel& model_;
  Durations durations_;
  std::map<PipelineWork, double> ideal_;
};

}  // namespace

WhatIf AskWhatIf(const PipelineModel& model) { return Player(model).Run(); }

}  // namespace batchlight
