#include "report/page_tree.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <vector>

namespace batchlight {
namespace {

using nlohmann::json;

class TreeWriter {
 public:
  TreeWriter(const RunOverview& overview, PageStrings& strings)
      : store_(*overview.store),
        tree_(overview.tree),
        strings_(strings),
        // What lies in no step is of no use to a reader who selects steps.
        columns_(std::max<size_t>(1, tree_.bins.size())) {
    for (const char* list :
         {"kind", "name", "detail", "more", "parent", "backward", "self_ns", "calls"}) {
      out_[list] = json::array();
    }
  }

  json Write(size_t most) {
    const std::vector<uint32_t> kept = tree_.LargestNodes(most);
    std::vector<int32_t> place(tree_.nodes.size(), -1);
    for (size_t i = 0; i < kept.size(); ++i) {
      const TreeNode& node = tree_.nodes[kept[i]];
      place[kept[i]] = static_cast<int32_t>(i);
      const int32_t parent = node.parent < 0 ? -1 : place[static_cast<size_t>(node.parent)];
      Add(node.name, node.detail, node.more_details, parent, node.kind, node.backward,
          tree_.self_ns.data() + kept[i] * tree_.columns(),
          tree_.calls.data() + kept[i] * tree_.columns());
    }
    AddRest(place);
    AddBins();
    out_["left_out"] = tree_.nodes.size() - kept.size();
    out_["per_step"] = tree_.per_step;
    out_["step_ns"] = std::llround(tree_.step_ns);
    return std::move(out_);
  }

 private:
  struct Rest {
    std::vector<int64_t> self_ns;
    std::vector<uint32_t> calls;
  };

  void Add(const std::string& name, StringId detail, uint32_t more, int32_t parent, TreeKind kind,
           bool backward, const int64_t* self_ns, const uint32_t* calls) {
    out_["kind"].push_back(int(kind));
    out_["name"].push_back(strings_.Add(name));
    out_["detail"].push_back(
        detail.IsNone() ? json(nullptr) : json(strings_.Add(std::string(store_.Text(detail)))));
    out_["more"].push_back(more);
    out_["parent"].push_back(parent);
    out_["backward"].push_back(int(backward));
    out_["self_ns"].push_back(std::vector<int64_t>(self_ns, self_ns + columns_));
    out_["calls"].push_back(Calls(calls));
  }

  // One number where every step makes the same calls, as those of most loops do.
  json Calls(const uint32_t* calls) const {
    if (!tree_.bins.empty() && tree_.bins[0].steps > 0) {
      const uint32_t per_step = calls[0] / tree_.bins[0].steps;
      bool same = true;
      for (size_t bin = 0; bin < tree_.bins.size() && same; ++bin) {
        same = calls[bin] == per_step * tree_.bins[bin].steps;
      }
      if (same) return per_step;
    }
    return std::vector<uint32_t>(calls, calls + columns_);
  }

  // Nodes that are left out, put together by the node they are below, kind and pass.
  void AddRest(const std::vector<int32_t>& place) {
    std::map<std::tuple<int32_t, bool, bool>, Rest> rests;
    for (size_t row = 0; row < tree_.nodes.size(); ++row) {
      if (place[row] >= 0) continue;
      const TreeNode& node = tree_.nodes[row];
      int32_t above = node.parent;
      while (above >= 0 && place[static_cast<size_t>(above)] < 0) {
        above = tree_.nodes[static_cast<size_t>(above)].parent;
      }
      const int32_t parent = above < 0 ? -1 : place[static_cast<size_t>(above)];
      Rest& rest = rests[{parent, IsGpuWork(node.kind), node.backward}];
      rest.self_ns.resize(columns_);
      rest.calls.resize(columns_);
      for (size_t bin = 0; bin < columns_; ++bin) {
        rest.self_ns[bin] += tree_.self_ns[row * tree_.columns() + bin];
        rest.calls[bin] += tree_.calls[row * tree_.columns() + bin];
      }
    }
    for (const auto& [key, rest] : rests) {
      const auto& [parent, gpu, backward] = key;
      Add("(smaller ones)", StringId::None(), 0, parent,
          gpu ? TreeKind::kKernel : TreeKind::kOperator, backward, rest.self_ns.data(),
          rest.calls.data());
    }
  }

  void AddBins() {
    json bins = {
        {"first_step", json::array()}, {"steps", json::array()}, {"counts", json::array()}};
    for (const TreeBin& bin : tree_.bins) {
      bins["first_step"].push_back(bin.first_step);
      bins["steps"].push_back(bin.steps);
      bins["counts"].push_back(int(bin.counts));
    }
    out_["bins"] = std::move(bins);
  }

  const Store& store_;
  const AttributionTree& tree_;
  PageStrings& strings_;
  size_t columns_;
  json out_;
};

}  // namespace

json PageTree(const RunOverview& overview, size_t most, PageStrings& strings) {
  if (overview.tree.nodes.empty()) return nullptr;
  return TreeWriter(overview, strings).Write(most);
}

}  // namespace batchlight
