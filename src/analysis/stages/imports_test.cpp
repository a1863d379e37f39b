#include "analysis/stages/imports.h"

#include <gtest/gtest.h>

#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

TEST(Imports, AreATreeWithTheirOwnTimeFilesAndCuda) {
  testing::StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(1, "train.py"));
  build.Phase(main, Phase::kImport, "torch", 100, 1000);
  build.Phase(main, Phase::kFunction, "some function", 150, 700);
  build.Phase(main, Phase::kImport, "torch._C", 200, 500);
  build.Phase(main, Phase::kImport, "torch.nn", 500, 600);
  build.Phase(main, Phase::kImport, "json", 2000, 2010);
  build.ApiCall(main, "cuInit", 210, 260);
  build.ApiCall(main, "cuDeviceGet", 220, 230);  // inside cuInit
  build.ApiCall(main, "cuCtxCreate", 3000, 3100);
  const auto loads = [&](uint32_t call, std::string_view file, uint64_t bytes) {
    build.store().imported_files.Append(
        {.phase_call = PhaseCallId::At(call), .file = build.Text(file), .bytes = bytes});
  };
  loads(2, "/torch/_C.cpython-311-x86_64-linux-gnu.so", 20);
  loads(2, "/torch/lib/libc10.so", 3000);
  loads(2, "/usr/lib/libgomp.so.1", 0);  // unknown
  loads(3, "/torch/nn/libs.so.py/__init__.py", 500);
  loads(3, "/torch/lib/libnccl.so.2", 70000);
  const Store store = build.Build();
  const std::vector<Import> imports = FindImports(store);
  ASSERT_EQ(imports.size(), 4u);
  const auto expect = [&](const Import& import, std::string_view module, uint32_t depth,
                          int64_t total_ns, int64_t self_ns, int64_t cuda_ns) {
    EXPECT_EQ(store.Text(import.module), module);
    EXPECT_EQ(import.depth, depth) << module;
    EXPECT_EQ(import.total_ns, total_ns) << module;
    EXPECT_EQ(import.self_ns, self_ns) << module;
    EXPECT_EQ(import.cuda_ns, cuda_ns) << module;
  };
  expect(imports[0], "torch", 0, 900, 500, 50);
  expect(imports[1], "torch._C", 1, 300, 300, 50);
  expect(imports[2], "torch.nn", 1, 100, 100, 0);
  expect(imports[3], "json", 0, 10, 10, 0);
  EXPECT_EQ(store.Text(imports[1].file), "/torch/_C.cpython-311-x86_64-linux-gnu.so");
  ASSERT_EQ(imports[1].libraries.size(), 2u);
  EXPECT_EQ(store.Text(imports[1].libraries[0]), "/torch/lib/libc10.so");
  EXPECT_EQ(store.Text(imports[1].libraries[1]), "/usr/lib/libgomp.so.1");
  EXPECT_EQ(store.Text(imports[2].file), "/torch/nn/libs.so.py/__init__.py");
  ASSERT_EQ(imports[2].libraries.size(), 1u);
  EXPECT_TRUE(imports[0].file.IsNone());
  const auto expect_bytes = [](const Import& import, uint64_t bytes, uint64_t total_bytes) {
    EXPECT_EQ(import.bytes, bytes);
    EXPECT_EQ(import.total_bytes, total_bytes);
  };
  expect_bytes(imports[0], 0, 73520);
  expect_bytes(imports[1], 3020, 3020);
  expect_bytes(imports[2], 70500, 70500);
  expect_bytes(imports[3], 0, 0);
}

// The build of the operator recorder, on the first use of a PyTorch: PyTorch's import waits for it.
TEST(Imports, TheRecordersBuildIsNoPartOfThem) {
  testing::StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(1, "train.py"));
  build.Phase(main, Phase::kImport, "mine", 0, 2000);
  build.Phase(main, Phase::kImport, "torch", 100, 1900);
  build.Phase(main, Phase::kImport, "torch.nn", 200, 300);
  build.Phase(main, Phase::kRecorderBuild, "batchlight: building its operator recorder", 600, 1600);
  build.Phase(main, Phase::kImport, "subprocess", 700, 750);
  const Store store = build.Build();
  const std::vector<Import> imports = FindImports(store);
  ASSERT_EQ(imports.size(), 5u);
  const auto expect = [&](const Import& import, int64_t total_ns, int64_t self_ns, bool recorder) {
    const std::string_view module = store.Text(import.module);
    EXPECT_EQ(import.total_ns, total_ns) << module;
    EXPECT_EQ(import.self_ns, self_ns) << module;
    EXPECT_EQ(import.is_recorder, recorder) << module;
  };
  expect(imports[0], 1000, 200, false);
  expect(imports[1], 800, 700, false);
  expect(imports[2], 100, 100, false);
  expect(imports[3], 1000, 950, true);
  expect(imports[4], 50, 50, true);
}

}  // namespace
}  // namespace batchlight
