#include "report/terminal/tree_text.h"

#include <algorithm>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "report/text/kernel_text.h"
#include "report/text/number_text.h"
#include "report/text/utf8.h"

namespace batchlight {
namespace {

class TreePrinter {
 public:
  TreePrinter(const RunOverview& overview, const TerminalStyle& style,
              const TreeTextOptions& options)
      : overview_(overview),
        tree_(overview.tree),
        options_(options),
        out_(style),
        children_(tree_.nodes.size() + 1) {
    for (uint32_t row = 0; row < tree_.nodes.size(); ++row) {
      const TreeNode& node = tree_.nodes[row];
      children_[static_cast<size_t>(node.parent + 1)].push_back(row);
      if (node.parent >= 0) continue;
      cpu_ns_ += node.cpu_ns();
      gpu_ns_ += node.gpu_ns();
      beside_ns_ += node.beside_ns;
    }
    whole_ns_ = options.by_gpu ? gpu_ns_ : std::max(cpu_ns_, tree_.step_ns);
    for (std::vector<uint32_t>& rows : children_) {
      std::stable_sort(rows.begin(), rows.end(),
                       [&](uint32_t a, uint32_t b) { return TimeOf(a) > TimeOf(b); });
    }
  }

  std::string Print() {
    std::vector<SummaryTable::Column> columns = {{.header = "", .right = false}};
    columns.push_back({.header = "calls", .least_width = 60});
    columns.push_back({.header = options_.by_gpu ? "GPU fwd " + unit() : "fwd " + unit()});
    columns.push_back({.header = options_.by_gpu ? "GPU bwd " + unit() : "bwd " + unit()});
    columns.push_back({.header = "self " + unit(), .least_width = 70});
    if (gpu_ns_ > 0 && !options_.by_gpu) {
      columns.push_back({.header = "GPU " + unit()});
    }
    if (beside_ns_ > 0 && !options_.by_gpu) {
      columns.push_back({.header = "other threads", .least_width = 90});
    }
    columns.push_back({.header = options_.by_gpu ? "of GPU" : "of step"});
    if (!tree_.per_step && !options_.by_gpu) columns.back().header = "share";
    SummaryTable table(out_, std::move(columns));
    table_ = &table;
    if (options_.below.empty()) {
      Choose(children_[0], 1);
      Children(0, "", 0);
    } else {
      Matching();
    }
    table.Print(tree_.per_step ? "Per step" : "In the whole run");
    Note();
    return out_.text();
  }

 private:
  double TimeOf(uint32_t row) const {
    const TreeNode& node = tree_.nodes[row];
    return options_.by_gpu ? node.gpu_ns()
                           : node.cpu_ns() + (node.cpu_ns() > 0 ? 0 : 1e-9 * node.gpu_ns());
  }
  // All times in one unit, that of the largest.
  std::string unit() const { return std::string(TimeScale(whole_ns_).unit); }
  std::string Number(double ns) const {
    const Scale scale = TimeScale(whole_ns_);
    const double shown = ns / scale.factor;
    return shown == 0 ? "" : FixedText(shown, DecimalsFor(whole_ns_ / scale.factor, 4));
  }

  bool IsLarge(uint32_t row) const {
    const TreeNode& node = tree_.nodes[row];
    const double share =
        std::max(cpu_ns_ > 0 ? node.cpu_ns() / std::max(cpu_ns_, tree_.step_ns) : 0,
                 gpu_ns_ > 0 ? node.gpu_ns() / gpu_ns_ : 0);
    return share >= options_.least && TimeOf(row) > 0;
  }
  bool IsShown(uint32_t row) const {
    return options_.rows == 0 ? IsLarge(row) : chosen_.contains(row);
  }

  // --rows: the branches with most time. One is chosen only after those around it, so that nothing
  // hangs in the air.
  void Choose(const std::vector<uint32_t>& outermost, size_t level) {
    if (options_.rows == 0) return;
    const auto less = [&](const auto& a, const auto& b) {
      const double time_a = TimeOf(a.first);
      const double time_b = TimeOf(b.first);
      return time_a != time_b ? time_a < time_b : a.first > b.first;
    };
    using Branch = std::pair<uint32_t, size_t>;  // row, level
    std::priority_queue<Branch, std::vector<Branch>, decltype(less)> next(less);
    const auto add = [&](const std::vector<uint32_t>& rows, size_t at) {
      for (const uint32_t row : rows) {
        if (IsLarge(row) && at <= options_.depth) next.emplace(row, at);
      }
    };
    for (add(outermost, level); !next.empty() && chosen_.size() < options_.rows;) {
      const auto [row, at] = next.top();
      next.pop();
      chosen_.insert(row);
      add(children_[row + 1], at + 1);
    }
    left_out_ = next.size();
  }

  // Branches whose names match, outermost first.
  void Matching() {
    std::vector<uint32_t> found;
    std::vector<bool> inside(tree_.nodes.size());
    for (uint32_t row = 0; row < tree_.nodes.size(); ++row) {
      const TreeNode& node = tree_.nodes[row];
      inside[row] = node.parent >= 0 && inside[static_cast<size_t>(node.parent)];
      if (inside[row] || node.name.find(options_.below) == std::string::npos) continue;
      inside[row] = true;
      found.push_back(row);
    }
    std::stable_sort(found.begin(), found.end(),
                     [&](uint32_t a, uint32_t b) { return TimeOf(a) > TimeOf(b); });
    Choose(found, 1);
    for (const uint32_t row : found) {
      if (!IsShown(row)) continue;
      Row(row, "");
      Children(row + 1, "", 1);
    }
  }

  void Children(size_t slot, const std::string& lines, size_t depth) {
    if (depth >= options_.depth) return;
    std::vector<uint32_t> shown;
    TreeNode rest;
    size_t left_out = 0;
    for (const uint32_t row : children_[slot]) {
      if (IsShown(row)) {
        shown.push_back(row);
        continue;
      }
      if (options_.rows > 0) continue;  // each line counts: the rest is told of below the tree
      const TreeNode& node = tree_.nodes[row];
      ++left_out;
      rest.cpu_forward_ns += node.cpu_forward_ns;
      rest.cpu_backward_ns += node.cpu_backward_ns;
      rest.beside_ns += node.beside_ns;
      rest.gpu_forward_ns += node.gpu_forward_ns;
      rest.gpu_backward_ns += node.gpu_backward_ns;
    }
    const bool ascii = !out_.unicode();
    for (size_t i = 0; i < shown.size(); ++i) {
      const bool last = i + 1 == shown.size() && left_out == 0;
      const std::string branch = slot == 0 ? ""
                                 : last    ? (ascii ? "`- " : "└ ")
                                           : (ascii ? "|- " : "├ ");
      const std::string below = slot == 0 ? ""
                                : last    ? (ascii ? "   " : "  ")
                                          : (ascii ? "|  " : "│ ");
      Row(shown[i], lines + branch);
      Children(shown[i] + 1, lines + below, depth + 1);
    }
    if (left_out == 0 || shown.empty()) return;
    const std::string branch = slot == 0 ? "" : ascii ? "`- " : "└ ";
    Cells(lines + branch + std::to_string(left_out) + " smaller", rest, 0, 0, Tone::kDim);
  }

  void Row(uint32_t row, const std::string& branch) {
    const TreeNode& node = tree_.nodes[row];
    std::string name = CleanText(node.name);
    if (node.kind == TreeKind::kKernel) name = KernelLabel(node.name);
    if (node.kind == TreeKind::kModule && node.parent >= 0 && !branch.empty()) {
      const std::string& above = tree_.nodes[static_cast<size_t>(node.parent)].name;
      if (name.starts_with(above + ".")) name.erase(0, above.size() + 1);
    }
    if (node.kind == TreeKind::kModule && !node.detail.IsNone()) {
      const std::string kind = CleanText(overview_.store->Text(node.detail));
      if (kind != name) name += "  " + kind;
    }
    const bool work = IsGpuWork(node.kind);
    const double self = work ? 0 : options_.by_gpu ? node.gpu_self_ns : node.self_ns;
    Cells(branch + name, node, self, node.calls, ToneOf(node));
  }

  static Tone ToneOf(const TreeNode& node) {
    if (node.kind == TreeKind::kModule) return Tone::kStrong;
    if (node.kind == TreeKind::kOperator) return node.backward ? Tone::kMagenta : Tone::kBlue;
    if (node.kind == TreeKind::kNobody) return Tone::kWarning;
    return IsGpuWork(node.kind) ? Tone::kGreen : Tone::kPlain;
  }

  void Cells(const std::string& name, const TreeNode& node, double self, double calls, Tone tone) {
    std::vector<SummaryTable::Cell> cells = {{name, tone}};
    cells.push_back({calls == 0 ? "" : SignificantText(calls), Tone::kDim});
    cells.push_back({Number(options_.by_gpu ? node.gpu_forward_ns : node.cpu_forward_ns)});
    cells.push_back({Number(options_.by_gpu ? node.gpu_backward_ns : node.cpu_backward_ns)});
    cells.push_back({Number(self), Tone::kDim});
    if (gpu_ns_ > 0 && !options_.by_gpu) cells.push_back({Number(node.gpu_ns()), Tone::kGreen});
    if (beside_ns_ > 0 && !options_.by_gpu) cells.push_back({Number(node.beside_ns), Tone::kDim});
    const double part = options_.by_gpu ? node.gpu_ns() : node.cpu_ns();
    cells.push_back(
        {whole_ns_ > 0 && part > 0 ? PercentText(part / whole_ns_) : "", Tone::kStrong});
    table_->Row(std::move(cells));
  }

  void Note() {
    if (left_out_ > 0) {
      out_.Put("  ").Line("and " + CountText(left_out_) + " more inside of these or beside them: " +
                              "a larger --rows shows them",
                          Tone::kDim);
    }
    out_.EndLine();
    out_.Put("  ").Wrapped(
        "fwd and bwd are with all that is inside; self is without. CPU time is what the step waits "
        "for: the thread that runs it or, while that one waits in backward(), autograd's. Backward "
        "functions stand below the operator they differentiate.",
        2, Tone::kDim);
  }

  const RunOverview& overview_;
  const AttributionTree& tree_;
  const TreeTextOptions& options_;
  SummaryText out_;
  SummaryTable* table_ = nullptr;
  std::vector<std::vector<uint32_t>> children_;  // by row of the parent + 1
  std::set<uint32_t> chosen_;                    // rows that --rows lets in
  size_t left_out_ = 0;                          // next to those
  double cpu_ns_ = 0;
  double gpu_ns_ = 0;
  double beside_ns_ = 0;
  double whole_ns_ = 0;
};

}  // namespace

std::string TreeText(const RunOverview& overview, const TerminalStyle& style,
                     const TreeTextOptions& options) {
  if (overview.tree.nodes.empty()) {
    return "Nothing to attribute: the recording holds no modules, operators, ranges or GPU work.\n";
  }
  return TreePrinter(overview, style, options).Print();
}

}  // namespace batchlight
