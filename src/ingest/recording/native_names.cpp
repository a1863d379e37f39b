#include "ingest/recording/native_names.h"

#include <map>
#include <utility>
#include <vector>

#include "store/row_order.h"

namespace batchlight {
namespace {

struct Function {
  uint64_t end;
  StringId name;
};
using Functions = std::map<uint64_t, Function>;  // by begin

void NameFrames(std::span<const Fragment> fragments, std::span<const FragmentMap> maps,
                Store& store) {
  std::map<std::pair<StringId, StringId>, Functions> modules;  // by path and build id
  for (size_t i = 0; i < fragments.size(); ++i) {
    for (const NativeSymbolFact& fact : fragments[i].native_symbols) {
      modules[{maps[i].String(fact.path), maps[i].String(fact.build_id)}].try_emplace(
          fact.begin, Function{fact.end, maps[i].String(fact.name)});
    }
  }
  if (modules.empty()) return;
  NativeFramesTable& frames = store.native_frames;
  for (size_t row = 0; row < frames.size(); ++row) {
    if (frames.module[row].IsNone()) continue;
    const size_t module = frames.module[row].row();
    const auto functions =
        modules.find({store.native_modules.path[module], store.native_modules.build_id[module]});
    if (functions == modules.end()) continue;
    const auto after = functions->second.upper_bound(frames.address[row]);
    if (after == functions->second.begin()) continue;
    const auto& [begin, function] = *std::prev(after);
    if (frames.address[row] < function.end) frames.function[row] = function.name;
  }
}

// Of a damaged recording; the tool writes as many (native/inlined_functions.h).
constexpr uint32_t kMostInlinedLevels = 64;
// Where a stack is deeper there are no more inlined frames in it: stacks are cut at 2000, and a
// recorder's 512 frames have their place.
constexpr uint32_t kDeepest = 1400;

// A recording names a place once and comes there as often as it likes: of rows that it stands for
// without having them there are at most so many. Real ones have a few for each of their own.
size_t MostRowsInside(size_t own) { return 1'000'000 + 16 * own; }

using Names = std::vector<StringId>;  // by level - 1
using Places = std::map<uint64_t, Names>;

std::map<std::pair<StringId, StringId>, Places> InlinedPlaces(std::span<const Fragment> fragments,
                                                              std::span<const FragmentMap> maps) {
  std::map<std::pair<StringId, StringId>, Places> modules;  // by path and build id
  for (size_t i = 0; i < fragments.size(); ++i) {
    for (const NativeInlinedFact& fact : fragments[i].native_inlined) {
      if (fact.level == 0 || fact.level > kMostInlinedLevels) continue;
      Names& names =
          modules[{maps[i].String(fact.path), maps[i].String(fact.build_id)}][fact.address];
      if (names.size() < fact.level) names.resize(fact.level);
      if (names[fact.level - 1].IsNone()) names[fact.level - 1] = maps[i].String(fact.name);
    }
  }
  return modules;
}

// By row of native_frames: those inside of it, outermost first.
using FramesInside = std::vector<std::vector<NativeFrameId>>;

FramesInside MakeFrames(const std::map<std::pair<StringId, StringId>, Places>& modules,
                        Store& store) {
  NativeFramesTable& frames = store.native_frames;
  const size_t most = frames.size() + MostRowsInside(frames.size());
  FramesInside inside(frames.size());
  for (size_t row = 0; row < inside.size(); ++row) {
    if (frames.module[row].IsNone()) continue;
    const size_t module = frames.module[row].row();
    const auto places =
        modules.find({store.native_modules.path[module], store.native_modules.build_id[module]});
    if (places == modules.end()) continue;
    const auto names = places->second.find(frames.address[row]);
    if (names == places->second.end()) continue;
    for (const StringId name : names->second) {
      if (name.IsNone() || frames.size() >= most) continue;
      inside[row].push_back(NativeFrameId::At(frames.size()));
      frames.Append({.module = frames.module[row],
                     .address = frames.address[row],
                     .function = name,
                     .inlined = YesNo::kYes});
    }
  }
  return inside;
}

// Puts inside of each frame those of the functions that the recording says were inlined there, in
// all stacks.
void AddInlinedFrames(std::span<const Fragment> fragments, std::span<const FragmentMap> maps,
                      Store& store) {
  const auto modules = InlinedPlaces(fragments, maps);
  if (modules.empty()) return;
  const FramesInside inside = MakeFrames(modules, store);
  const size_t most = MostRowsInside(store.native_stacks.size());
  size_t added = 0;
  NativeStacksTable stacks;
  std::vector<uint32_t> depths;    // by row of `stacks`
  std::vector<uint32_t> new_rows;  // the innermost of what a row became
  const auto add = [&](NativeFrameId frame, NativeStackId parent) {
    depths.push_back(parent.IsNone() ? 1 : depths[parent.row()] + 1);
    stacks.Append({.frame = frame, .parent = parent});
    return NativeStackId::At(stacks.size() - 1);
  };
  for (size_t row = 0; row < store.native_stacks.size(); ++row) {
    const NativeStacksRow stack = store.native_stacks.Row(row);
    // Callers come first, so theirs is known; any other id is damage.
    const bool known = !stack.parent.IsNone() && stack.parent.row() < row;
    NativeStackId at =
        add(stack.frame, known ? NativeStackId{new_rows[stack.parent.row()]} : NativeStackId());
    if (!stack.frame.IsNone() && stack.frame.row() < inside.size()) {
      for (const NativeFrameId frame : inside[stack.frame.row()]) {
        if (depths.back() >= kDeepest || added == most) break;
        at = add(frame, at);
        ++added;
      }
    }
    new_rows.push_back(at.value);
  }
  store.native_stacks.Clear();  // its parents are new already
  RenumberIds<NativeStackId>(store, new_rows);
  store.native_stacks = std::move(stacks);
}

}  // namespace

void NameNativeFrames(std::span<const Fragment> fragments, std::span<const FragmentMap> maps,
                      Store& store) {
  NameFrames(fragments, maps, store);
  AddInlinedFrames(fragments, maps, store);
}

}  // namespace batchlight
