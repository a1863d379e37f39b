#include "report/page/page_tree.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <vector>

#include "analysis/tables/tree_columns.h"
#include "report/page/page_columns.h"

namespace batchlight {
namespace {

using nlohmann::json;

// The part of AttributionTree's columns that belongs to all ranks together, or to one.
struct PartOfColumns {
  const std::vector<StepBin>& bins;
  size_t first = 0;
  size_t count = 0;
};

// A single number if every step makes the same calls, as in most loops.
json Calls(const uint32_t* calls, const PartOfColumns& columns) {
  const std::vector<StepBin>& bins = columns.bins;
  if (!bins.empty() && bins[0].steps > 0) {
    const uint32_t per_step = calls[0] / bins[0].steps;
    bool same = true;
    for (size_t bin = 0; bin < bins.size() && same; ++bin) {
      same = calls[bin] == per_step * bins[bin].steps;
    }
    if (same) return per_step;
  }
  return std::vector<uint32_t>(calls, calls + columns.count);
}

json SelfTime(const int64_t* self_ns, size_t count) {
  const bool none = std::all_of(self_ns, self_ns + count, [](int64_t ns) { return ns == 0; });
  return none ? json(0) : json(std::vector<int64_t>(self_ns, self_ns + count));
}

// Own time and calls of one node, or of several put together: rows of AttributionTree.
class Times {
 public:
  explicit Times(const AttributionTree& tree)
      : self_ns_(tree.columns()),
        calls_(tree.columns()),
        beside_ns_(tree.columns()),
        rank_self_ns_(tree.rank_columns),
        rank_beside_ns_(tree.rank_columns),
        rank_calls_(tree.rank_columns) {}

  void Add(const AttributionTree& tree, size_t node) {
    AddRow(tree.self_ns, node, self_ns_);
    AddRow(tree.calls, node, calls_);
    AddRow(tree.beside_ns, node, beside_ns_);
    AddRow(tree.rank_self_ns, node, rank_self_ns_);
    AddRow(tree.rank_beside_ns, node, rank_beside_ns_);
    AddRow(tree.rank_calls, node, rank_calls_);
  }
  const int64_t* self_ns() const { return self_ns_.data(); }
  const uint32_t* calls() const { return calls_.data(); }
  const int64_t* beside_ns() const { return beside_ns_.data(); }
  const int64_t* rank_self_ns() const { return rank_self_ns_.data(); }
  const int64_t* rank_beside_ns() const { return rank_beside_ns_.data(); }
  const uint32_t* rank_calls() const { return rank_calls_.data(); }

 private:
  template <typename T>
  static void AddRow(const std::vector<T>& rows, size_t node, std::vector<T>& sum) {
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += rows[node * sum.size() + i];
  }

  std::vector<int64_t> self_ns_;
  std::vector<uint32_t> calls_;
  std::vector<int64_t> beside_ns_;
  std::vector<int64_t> rank_self_ns_;
  std::vector<int64_t> rank_beside_ns_;
  std::vector<uint32_t> rank_calls_;
};

json Kinds() {
  json kinds = json::array();
  for (int number = 0; number <= int(TreeKind::kNobody); ++number) {
    const auto kind = static_cast<TreeKind>(number);
    kinds.push_back(
        {{"key", TreeKindName(kind)}, {"name", TreeKindName(kind)}, {"work", IsGpuWork(kind)}});
  }
  return kinds;
}

json TimesInside() {
  json times = json::array();
  for (const TreeTime& time : TreeTimes()) {
    json& entry = times.emplace_back(json{{"key", time.key}});
    if (time.work) entry["work"] = *time.work;
    if (time.backward) entry["backward"] = *time.backward;
    if (time.beside) entry["beside"] = true;
  }
  return times;
}

json ColumnsOf(const std::vector<TreeColumn>& columns) {
  json out = json::array();
  for (const TreeColumn& column : columns) {
    out.push_back(PageColumn(column.column));
    if (!column.only_with.empty()) out.back()["only_with"] = column.only_with;
  }
  return out;
}

json SumsOf(std::span<const TreeSum> sums) {
  json out = json::array();
  for (const TreeSum& sum : sums) {
    json& entry = out.emplace_back(json{{"key", sum.key}, {"of", sum.of}});
    if (sum.work) entry["work"] = *sum.work;
    if (sum.backward) entry["backward"] = *sum.backward;
    if (sum.outermost) entry["outermost"] = true;
  }
  return out;
}

json GroupsOf(const TreeGroups& groups) {
  return {{"work", groups.work},
          {"columns", ColumnsOf(groups.columns)},
          {"sums", SumsOf(groups.sums)},
          {"order", groups.order}};
}

class TreeWriter {
 public:
  TreeWriter(const RunOverview& overview, PageStrings& strings)
      : overview_(overview), tree_(overview.tree), strings_(strings) {
    // A reader who selects steps has no use for what lies in no step.
    columns_.push_back({tree_.bins, 0, std::max<size_t>(1, tree_.bins.size())});
    for (const RankBins& rank : tree_.ranks) {
      columns_.push_back({rank.bins, rank.column, rank.bins.size()});
    }
    for (const char* list : {"kind", "name", "detail", "more", "parent", "backward",
                             "longest_start_ns", "longest_ns"}) {
      out_[list] = json::array();
    }
    times_.assign(
        columns_.size(),
        json{{"self_ns", json::array()}, {"beside_ns", json::array()}, {"calls", json::array()}});
  }

  json Write(size_t most) {
    const std::vector<uint32_t> kept = tree_.LargestNodes(most);
    std::vector<int32_t> place(tree_.nodes.size(), -1);
    for (size_t i = 0; i < kept.size(); ++i) {
      const TreeNode& node = tree_.nodes[kept[i]];
      place[kept[i]] = static_cast<int32_t>(i);
      const int32_t parent = node.parent < 0 ? -1 : place[static_cast<size_t>(node.parent)];
      Times times(tree_);
      times.Add(tree_, kept[i]);
      Add(node.name, node.detail, node.more_details, parent, node.kind, node.backward, times);
      out_["longest_start_ns"].push_back(node.longest.start_ns);
      out_["longest_ns"].push_back(node.longest.duration_ns());
    }
    AddRest(place);
    out_["left_out"] = tree_.nodes.size() - kept.size();
    out_["per_step"] = tree_.per_step;
    out_["kinds"] = Kinds();
    out_["times"] = TimesInside();
    out_["columns"] = ColumnsOf(TreeNodeColumns(tree_));
    out_["sums"] = SumsOf(TreeNodeSums());
    out_["operators"] = GroupsOf(TreeOperators());
    out_["kernels"] = GroupsOf(TreeKernels());
    Describe(tree_.step_ns, 0, out_);
    AddRanks();
    return std::move(out_);
  }

 private:
  void Add(const std::string& name, StringId detail, uint32_t more, int32_t parent, TreeKind kind,
           bool backward, const Times& times) {
    const Store& store = *overview_.store;
    out_["kind"].push_back(int(kind));
    out_["name"].push_back(strings_.Add(name));
    out_["detail"].push_back(detail.IsNone() ? json(nullptr)
                                             : json(strings_.Add(std::string(store.Text(detail)))));
    out_["more"].push_back(more);
    out_["parent"].push_back(parent);
    out_["backward"].push_back(int(backward));
    for (size_t i = 0; i < columns_.size(); ++i) {
      const PartOfColumns& columns = columns_[i];
      const int64_t* self_ns = i == 0 ? times.self_ns() : times.rank_self_ns();
      const uint32_t* calls = i == 0 ? times.calls() : times.rank_calls();
      const int64_t* beside_ns = i == 0 ? times.beside_ns() : times.rank_beside_ns();
      times_[i]["self_ns"].push_back(SelfTime(self_ns + columns.first, columns.count));
      times_[i]["beside_ns"].push_back(SelfTime(beside_ns + columns.first, columns.count));
      times_[i]["calls"].push_back(Calls(calls + columns.first, columns));
    }
  }

  // Nodes that are left out, grouped by the node above them, by kind and by pass.
  void AddRest(const std::vector<int32_t>& place) {
    std::map<std::tuple<int32_t, bool, bool>, Times> rests;
    std::vector<int32_t> shown = place;  // itself or the nearest node above that is written
    for (size_t row = 0; row < tree_.nodes.size(); ++row) {
      if (place[row] >= 0) continue;
      const TreeNode& node = tree_.nodes[row];
      const int32_t parent = node.parent < 0 ? -1 : shown[static_cast<size_t>(node.parent)];
      shown[row] = parent;
      rests.try_emplace({parent, IsGpuWork(node.kind), node.backward}, tree_)
          .first->second.Add(tree_, row);
    }
    for (const auto& [key, rest] : rests) {
      const auto& [parent, gpu, backward] = key;
      Add("(smaller ones)", StringId::None(), 0, parent,
          gpu ? TreeKind::kKernel : TreeKind::kOperator, backward, rest);
      out_["longest_start_ns"].push_back(0);
      out_["longest_ns"].push_back(0);
    }
  }

  // The times of one entry of `columns_`, and a label for whose they are.
  void Describe(double step_ns, size_t at, json& out) {
    out["step_ns"] = std::llround(step_ns);
    out["bins"] = PageBins(columns_[at].bins);
    for (auto& [name, values] : times_[at].items()) out[name] = std::move(values);
  }

  // "rank 3"; the process if its rank is unknown or not unique.
  std::string NameOf(const RankBins& rank) const {
    const auto same = std::count_if(tree_.ranks.begin(), tree_.ranks.end(),
                                    [&](const RankBins& other) { return other.rank == rank.rank; });
    const std::string pid = std::to_string(overview_.store->processes.pid[rank.process.row()]);
    if (rank.rank < 0) return "process " + pid;
    return "rank " + std::to_string(rank.rank) + (same > 1 ? " (pid " + pid + ")" : "");
  }

  void AddRanks() {
    if (tree_.ranks.empty()) return;
    out_["ranks"] = json::array();
    for (size_t i = 0; i < tree_.ranks.size(); ++i) {
      json rank = {{"name", NameOf(tree_.ranks[i])}, {"rank", tree_.ranks[i].rank}};
      Describe(tree_.ranks[i].step_ns, i + 1, rank);
      out_["ranks"].push_back(std::move(rank));
    }
    out_["ranks_left_out"] = overview_.steps.processes.size() - tree_.ranks.size();
  }

  const RunOverview& overview_;
  const AttributionTree& tree_;
  PageStrings& strings_;
  std::vector<PartOfColumns> columns_;  // of all ranks together, then of each
  std::vector<json> times_;             // by entry of columns_
  json out_;
};

}  // namespace

json PageBins(const std::vector<StepBin>& bins) {
  json out = {{"first_step", json::array()}, {"steps", json::array()}, {"counts", json::array()}};
  for (const StepBin& bin : bins) {
    out["first_step"].push_back(bin.first_step);
    out["steps"].push_back(bin.steps);
    out["counts"].push_back(int(bin.steady));
  }
  return out;
}

json PageTree(const RunOverview& overview, size_t most, PageStrings& strings) {
  if (overview.tree.nodes.empty()) return nullptr;
  return TreeWriter(overview, strings).Write(most);
}

}  // namespace batchlight
