#include "ingest/recording/native_names.h"

#include <map>
#include <utility>

namespace batchlight {
namespace {

struct Function {
  uint64_t end;
  StringId name;
};
using Functions = std::map<uint64_t, Function>;  // by begin

}  // namespace

void NameNativeFrames(std::span<const Fragment> fragments, std::span<const FragmentMap> maps,
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

}  // namespace batchlight
