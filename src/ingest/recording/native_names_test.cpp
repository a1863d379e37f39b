#include "ingest/recording/native_names.h"

#include <gtest/gtest.h>

#include <vector>

namespace batchlight {
namespace {

// A store whose every stack is the frame at 0x10, in which the recording says that `levels`
// functions were inlined.
Store Named(size_t stacks, uint32_t levels) {
  Store store;
  const StringId path = store.strings.Intern("libm.so");
  const StringId name = store.strings.Intern("f");
  store.native_modules.Append({.path = path, .build_id = path});
  store.native_frames.Append({.module = NativeModuleId::At(0), .address = 0x10});
  for (size_t i = 0; i < stacks; ++i) {
    store.native_stacks.Append({.frame = NativeFrameId::At(0), .parent = NativeStackId()});
  }
  FragmentMap map;
  for (size_t i = 0; i < store.strings.size(); ++i) map.strings.push_back(StringId::At(i));
  Fragment fragment;
  for (uint32_t level = 1; level <= levels; ++level) {
    fragment.native_inlined.push_back(
        {.path = path, .build_id = path, .address = 0x10, .level = level, .name = name});
  }
  NameNativeFrames({&fragment, 1}, {&map, 1}, store);
  return store;
}

TEST(NativeNames, InlinedFunctionsAreFramesInside) {
  const Store store = Named(2, 3);
  ASSERT_EQ(store.native_frames.size(), 4u);
  ASSERT_EQ(store.native_stacks.size(), 8u);
  EXPECT_EQ(store.native_stacks.parent[3].row(), 2u);
}

// 30 bytes of each stack in a recording would be 64 rows of each here.
TEST(NativeNames, RowsThatTheRecordingDoesNotHaveAreLimited) {
  constexpr size_t kStacks = 100'000;
  const Store store = Named(kStacks, 64);
  EXPECT_GT(store.native_stacks.size(), kStacks);
  EXPECT_LE(store.native_stacks.size(), 1'000'000 + 17 * kStacks);
}

}  // namespace
}  // namespace batchlight
