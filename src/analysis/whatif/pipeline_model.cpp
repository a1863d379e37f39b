#include "analysis/whatif/pipeline_model.h"

#include <algorithm>
#include <set>
#include <utility>

namespace batchlight {
namespace {

using Key = std::tuple<PipelineWork, int32_t, int32_t>;  // work, sequence, stage
constexpr double kTogetherS = 5e-5;                      // the clocks of two operations' ends
// The largest jobs have a tenth of these. Each stage and replica is played once.
constexpr int32_t kMostStages = 1024;
constexpr int32_t kMostReplicas = 4096;
constexpr int32_t kMostChunks = 1024;  // of a stage
// How much larger than the file the table of all operations by step may be, which has holes where
// steps differ; then the first hole is named.
constexpr size_t kMostHoles = 4;

bool IsPointToPoint(PipelineWork work) {
  return work >= PipelineWork::kForwardSend && work <= PipelineWork::kBackwardReceive;
}

// Of one direction of the pipeline.
struct Direction {
  PipelineWork compute, send, receive;
  int32_t ahead;  // from a stage to the one that it sends to
};
constexpr Direction kDirections[] = {
    {PipelineWork::kForwardCompute, PipelineWork::kForwardSend, PipelineWork::kForwardReceive, 1},
    {PipelineWork::kBackwardCompute, PipelineWork::kBackwardSend, PipelineWork::kBackwardReceive,
     -1}};

class Builder {
 public:
  explicit Builder(std::span<const PipelineOperation> operations) : operations_(operations) {}

  Result<PipelineModel> Run() {
    RETURN_IF_ERROR(FindSizes());
    RETURN_IF_ERROR(AddNodes());
    for (int32_t stage = 0; stage < model_.stages; ++stage) {
      Chain(Computing(stage));
      for (const Direction& direction : kDirections) MatchStage(direction, stage);
      for (const Direction& direction : kDirections) {
        Chain(NodesOf(stage, {direction.send}));
        Chain(NodesOf(stage, {direction.receive}));
      }
      BeginBackward(stage);
    }
    PairSendsAndReceives();
    if (model_.replicas > 1) {
      for (int32_t stage = 0; stage < model_.stages; ++stage) GatherParameters(stage);
    }
    for (int32_t stage = 0; stage < model_.stages; ++stage) FinishStage(stage);
    AddCollectives();
    RETURN_IF_ERROR(Order());
    return std::move(model_);
  }

 private:
  using Nodes = std::vector<uint32_t>;

  Status FindSizes() {
    std::set<int64_t> steps;
    for (const PipelineOperation& one : operations_) {
      RETURN_IF_ERROR(CheckRange("stage", one.stage, 0, kMostStages));
      RETURN_IF_ERROR(CheckRange("dp_rank", one.replica, 0, kMostReplicas));
      RETURN_IF_ERROR(CheckRange("mc", one.chunk, -1, kMostChunks));
      model_.stages = std::max(model_.stages, one.stage + 1);
      model_.replicas = std::max(model_.replicas, one.replica + 1);
      chunks_ = std::max(chunks_, one.chunk + 1);
      steps.insert(one.step);
    }
    model_.steps.assign(steps.begin(), steps.end());
    return model_.lanes() > operations_.size() ? Differs(operations_.front()) : Status();
  }

  static Status CheckRange(const std::string& name, int32_t number, int32_t first, int32_t end) {
    if (number >= first && number < end) return {};
    return InputError(name + " is " + std::to_string(number) + ": it counts from 0 to at most " +
                      std::to_string(end - 1));
  }

  Status AddNodes() {
    std::vector<const PipelineOperation*> ordered;
    for (const PipelineOperation& one : operations_) ordered.push_back(&one);
    std::stable_sort(ordered.begin(), ordered.end(), [](const auto* a, const auto* b) {
      return std::tuple(a->step, a->replica) < std::tuple(b->step, b->replica);
    });
    std::vector<size_t> seen;
    for (const PipelineOperation* one : ordered) {
      const bool is_first = one->step == model_.steps[0] && one->replica == 0;
      const Key key{one->work, one->sequence, one->stage};
      const auto [node, is_new] = by_key_.try_emplace(key, uint32_t(model_.nodes.size()));
      const size_t most = kMostHoles * operations_.size() / model_.lanes();
      if (is_new && (!is_first || model_.nodes.size() >= most)) return Differs(*one);
      if (is_new) {
        model_.nodes.push_back({.work = one->work,
                                .stage = one->stage,
                                .sequence = one->sequence,
                                .after = {},
                                .rank = std::vector<int32_t>(size_t(model_.replicas))});
        model_.start_s.emplace_back(model_.lanes());
        model_.end_s.emplace_back(model_.lanes());
        first_.push_back(one);
        seen.push_back(0);
      }
      const auto step = static_cast<size_t>(
          std::lower_bound(model_.steps.begin(), model_.steps.end(), one->step) -
          model_.steps.begin());
      const size_t lane = step * size_t(model_.replicas) + size_t(one->replica);
      model_.start_s[node->second][lane] = one->start_s;
      model_.end_s[node->second][lane] = one->end_s();
      model_.nodes[node->second].rank[size_t(one->replica)] = one->rank;
      ++seen[node->second];
    }
    for (size_t node = 0; node < seen.size(); ++node) {
      if (seen[node] != model_.lanes()) return Differs(*first_[node]);
    }
    return {};
  }

  static Status Differs(const PipelineOperation& one) {
    return InputError("step " + std::to_string(one.step) + ", dp_rank " +
                      std::to_string(one.replica) + ": " + std::string(PipelineWorkName(one.work)) +
                      " " + std::to_string(one.sequence) + " of stage " +
                      std::to_string(one.stage) +
                      " is not in every step of every dp_rank once: give steps that are alike");
  }

  // Of the first step of replica 0, by start.
  Nodes NodesOf(int32_t stage, std::initializer_list<PipelineWork> works) const {
    Nodes nodes;
    for (uint32_t node = 0; node < first_.size(); ++node) {
      if (first_[node]->stage != stage) continue;
      if (std::find(works.begin(), works.end(), first_[node]->work) != works.end()) {
        nodes.push_back(node);
      }
    }
    std::stable_sort(nodes.begin(), nodes.end(), [&](uint32_t a, uint32_t b) {
      const auto key = [&](uint32_t node) {
        return std::tuple(first_[node]->start_s, first_[node]->sequence,
                          PipelineWorkName(first_[node]->work));
      };
      return key(a) < key(b);
    });
    return nodes;
  }
  Nodes Computing(int32_t stage) const {
    return NodesOf(stage, {PipelineWork::kForwardCompute, PipelineWork::kBackwardCompute});
  }

  int64_t Find(PipelineWork work, int32_t sequence, int32_t stage) const {
    const auto node = by_key_.find({work, sequence, stage});
    return node == by_key_.end() ? -1 : int64_t{node->second};
  }

  void Wait(int64_t node, int64_t before) {
    if (node >= 0 && before >= 0) model_.nodes[size_t(node)].after.push_back(uint32_t(before));
  }
  void Chain(const Nodes& nodes) {
    for (size_t i = 1; i < nodes.size(); ++i) Wait(nodes[i], nodes[i - 1]);
  }

  // Ties the sends and receives of a stage to the computing that they are of. Before the first and
  // after the last of it profilers record some that move nothing.
  void MatchStage(const Direction& direction, int32_t stage) {
    const Nodes computing = NodesOf(stage, {direction.compute});
    if (computing.empty()) return;
    double last_start_s = first_[computing[0]]->start_s,
           first_end_s = first_[computing[0]]->end_s();
    for (const uint32_t node : computing) {
      last_start_s = std::max(last_start_s, first_[node]->start_s);
      first_end_s = std::min(first_end_s, first_[node]->end_s());
    }
    for (const bool sends : {true, false}) {
      const Nodes all = NodesOf(stage, {sends ? direction.send : direction.receive});
      Nodes real;
      for (const uint32_t node : all) {
        const PipelineOperation& one = *first_[node];
        const bool idle = sends ? one.end_s() < first_end_s - kTogetherS
                                : one.start_s > last_start_s + kTogetherS;
        if (!idle) real.push_back(node);
      }
      // The first receive may be missing where it would have moved nothing.
      int32_t sequence = !sends && real.size() + 1 == computing.size() ? 1 : 0;
      for (const uint32_t node : real) {
        Match(direction, stage, sends, node, sequence++);
      }
    }
  }

  void Match(const Direction& direction, int32_t stage, bool sends, uint32_t node,
             int32_t sequence) {
    const int64_t compute = Find(direction.compute, sequence, stage);
    if (compute < 0) return;
    const int32_t peer_chunk =
        first_[size_t(compute)]->model_chunk + (sends ? direction.ahead : -direction.ahead);
    if (peer_chunk >= 0 && peer_chunk < chunks_ * model_.stages) meets_.insert(node);
    if (sends) {
      Wait(node, compute);
    } else {
      Wait(compute, node);
      Wait(node, Find(direction.compute, sequence - 1, stage));
    }
  }

  // The first exchange of gradients waits for the forward before the last one.
  void BeginBackward(int32_t stage) {
    const Nodes computing = Computing(stage);
    const auto first = std::find_if(computing.begin(), computing.end(), [&](uint32_t node) {
      return first_[node]->work == PipelineWork::kBackwardCompute;
    });
    if (first == computing.end() || first - computing.begin() < 2) return;
    for (const PipelineWork work : {PipelineWork::kBackwardReceive, PipelineWork::kBackwardSend}) {
      Wait(Find(work, 0, stage), *(first - 2));
    }
  }

  // The n-th send of a stage that moves something meets the n-th such receive of the next.
  void PairSendsAndReceives() {
    for (const Direction& direction : kDirections) {
      for (int32_t stage = 0; stage < model_.stages; ++stage) {
        const int32_t next = (stage + direction.ahead + model_.stages) % model_.stages;
        const Nodes sends = Meeting(stage, direction.send);
        const Nodes receives = Meeting(next, direction.receive);
        for (size_t i = 0; i < std::min(sends.size(), receives.size()); ++i) {
          AddGroup({sends[i], receives[i]}, false);
        }
      }
    }
    for (uint32_t node = 0; node < model_.nodes.size(); ++node) {
      if (IsPointToPoint(model_.nodes[node].work) && model_.nodes[node].group < 0) {
        AddGroup({node}, false);
      }
    }
  }

  Nodes Meeting(int32_t stage, PipelineWork work) const {
    Nodes nodes = NodesOf(stage, {work});
    std::erase_if(nodes, [&](uint32_t node) { return !meets_.contains(node); });
    return nodes;
  }

  void AddGroup(Nodes nodes, bool all_replicas) {
    for (const uint32_t node : nodes) model_.nodes[node].group = int32_t(model_.groups.size());
    model_.groups.push_back({std::move(nodes), all_replicas});
  }

  // The first forward of each part of the model waits for its parameters.
  void GatherParameters(int32_t stage) {
    Chain(NodesOf(stage, {PipelineWork::kParametersGather, PipelineWork::kGradientsScatter}));
    const Nodes forward = NodesOf(stage, {PipelineWork::kForwardCompute});
    std::map<int32_t, uint32_t> last;  // by chunk
    for (const uint32_t node : NodesOf(stage, {PipelineWork::kParametersGather})) {
      uint32_t& gather = last.try_emplace(first_[node]->chunk, node).first->second;
      if (first_[node]->sequence > first_[gather]->sequence) gather = node;
    }
    for (const auto& [chunk, gather] : last) {
      const auto first =
          std::find_if(forward.begin(), forward.end(),
                       [&, of = chunk](uint32_t node) { return first_[node]->chunk == of; });
      if (first != forward.end()) Wait(*first, gather);
    }
  }

  // From the last computing to the optimizer, in Megatron's order.
  void FinishStage(int32_t stage) {
    const Nodes computing = Computing(stage);
    const auto last = std::max_element(
        computing.begin(), computing.end(),
        [&](uint32_t a, uint32_t b) { return first_[a]->end_s() < first_[b]->end_s(); });
    const int64_t collection = Find(PipelineWork::kGarbageCollection, 0, stage);
    if (last != computing.end()) Wait(collection, *last);
    const Nodes scatters = NodesOf(stage, {PipelineWork::kGradientsScatter});
    const bool overlaps = Find(PipelineWork::kSeparateGradients, 0, stage) >= 0;
    std::vector<int64_t> chain = {collection};
    const auto add = [&](PipelineWork work) {
      const int64_t node = Find(work, 0, stage);
      if (node >= 0) chain.push_back(node);
    };
    add(PipelineWork::kLayerNormGradients);
    if (overlaps && !scatters.empty()) Wait(chain.back(), scatters.back());
    add(PipelineWork::kEmbeddingGradients);
    if (overlaps) {
      add(PipelineWork::kSeparateGradients);
      ScatterEarly(stage);
    } else {
      chain.insert(chain.end(), scatters.begin(), scatters.end());
    }
    add(PipelineWork::kClipGradients);
    add(PipelineWork::kOptimizer);
    for (size_t i = 1; i < chain.size(); ++i) Wait(chain[i], chain[i - 1]);
  }

  // Gradients of a part of the model are scattered when its last backward is done.
  void ScatterEarly(int32_t stage) {
    std::set<int32_t> done;
    const Nodes backwards = NodesOf(stage, {PipelineWork::kBackwardCompute});
    for (const uint32_t node : NodesOf(stage, {PipelineWork::kGradientsScatter})) {
      if (!done.insert(first_[node]->chunk).second) continue;
      int64_t last = -1;
      for (const uint32_t backward : backwards) {
        if (first_[backward]->chunk != first_[node]->chunk) continue;
        if (last < 0 || first_[backward]->end_s() > first_[size_t(last)]->end_s()) last = backward;
      }
      Wait(node, last);
    }
  }

  void AddCollectives() {
    Nodes embedding, clip;
    for (uint32_t node = 0; node < model_.nodes.size(); ++node) {
      const PipelineWork work = model_.nodes[node].work;
      const bool of_replicas = work == PipelineWork::kParametersGather ||
                               work == PipelineWork::kGradientsScatter ||
                               work == PipelineWork::kSeparateGradients;
      if (of_replicas && model_.replicas > 1) AddGroup({node}, true);
      if (work == PipelineWork::kEmbeddingGradients) embedding.push_back(node);
      if (work == PipelineWork::kClipGradients) clip.push_back(node);
    }
    if (!embedding.empty()) AddGroup(std::move(embedding), false);
    if (!clip.empty()) AddGroup(std::move(clip), true);
  }

  // A node of a group is done when all of the group have started.
  Status Order() {
    std::vector<size_t> waits(model_.nodes.size());
    std::vector<Nodes> next(model_.nodes.size());
    std::vector<size_t> started(model_.groups.size());
    Nodes queue;
    for (uint32_t node = 0; node < model_.nodes.size(); ++node) {
      waits[node] = model_.nodes[node].after.size();
      for (const uint32_t before : model_.nodes[node].after) next[before].push_back(node);
      if (waits[node] == 0) queue.push_back(node);
    }
    for (size_t at = 0; at < queue.size(); ++at) {
      const int32_t group = model_.nodes[queue[at]].group;
      Nodes done = {queue[at]};
      if (group >= 0) {
        const Nodes& members = model_.groups[size_t(group)].nodes;
        done = ++started[size_t(group)] == members.size() ? members : Nodes();
      }
      for (const uint32_t node : done) {
        for (const uint32_t after : next[node]) {
          if (--waits[after] == 0) queue.push_back(after);
        }
      }
    }
    if (queue.size() != model_.nodes.size()) {
      return InputError("its operations wait for each other in a circle: is it of one pipeline?");
    }
    model_.order = std::move(queue);
    return {};
  }

  std::span<const PipelineOperation> operations_;
  std::map<Key, uint32_t> by_key_;
  std::vector<const PipelineOperation*> first_;  // by node
  std::set<uint32_t> meets_;                     // sends and receives that move something
  int32_t chunks_ = 0;                           // of a stage
  PipelineModel model_;
};

}  // namespace

Result<PipelineModel> BuildPipelineModel(std::span<const PipelineOperation> operations) {
  return Builder(operations).Run();
}

}  // namespace batchlight
