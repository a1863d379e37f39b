// Parts of models that no optimizer updates and that no gradient leaves, because what they are
// given depends on nothing that learns: a teacher, a reference model, a frozen backbone. A part's
// forward begins at an embedding (of token ids), or nothing that autograd follows comes before it
// but other such parts, or the program's process saw that it is given no tensor that requires a
// gradient: property "model.given_no_gradient", a path a line. All of its backward is for nothing.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/store.h"

namespace batchlight {

class BackwardLinks;
struct PhaseMark;

class PartsApart {
 public:
  // `backwards`: the outermost of the thread, in order: a graph ends with its backward. `updated`:
  // paths of the modules that optimizers update, all of them.
  PartsApart(const Store& store, ProcessId process, const BackwardLinks& links,
             const std::vector<PhaseMark>& backwards, std::vector<std::string_view> updated);

  // The path of the largest one around this call of a module; None: it is in none.
  StringId Around(uint32_t call) const;
  bool Holds(StringId path) const {
    const auto found = apart_.find(path.value);
    return found != apart_.end() && found->second;
  }

 private:
  // A forward operator that has a backward.
  struct Forward {
    int64_t start_ns = 0;
    uint32_t call = kNoRow;  // the innermost module's
    bool embeds = false;
  };

  std::vector<Forward> FindForwards(ProcessId process, const BackwardLinks& links);
  void AddGiven(std::string_view paths);
  bool Touches(StringId path);
  void SetTop(uint32_t call);

  const Store& store_;
  const std::vector<std::string_view> updated_;
  std::unordered_map<uint32_t, bool> touches_;  // by path: has to do with what is updated
  // By path of a call: whether something inside of it does.
  std::unordered_map<uint32_t, bool> holds_updated_;
  // The largest call around a call that has nothing to do with what is updated; kNoRow: none.
  std::unordered_map<uint32_t, uint32_t> tops_;
  std::unordered_map<uint32_t, bool> apart_;  // by path of these
};

// "encoder.0" is below "encoder", and at itself.
inline bool IsAtOrBelow(std::string_view path, std::string_view root) {
  return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '.');
}

}  // namespace batchlight
