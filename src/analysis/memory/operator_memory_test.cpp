#include "analysis/memory/operator_memory.h"

#include <gtest/gtest.h>

#include "analysis/testing/store_builder.h"
#include "store/kinds_of_gpu_memory.h"

namespace batchlight {
namespace {

class OperatorMemoryTest : public ::testing::Test {
 protected:
  void Block(ThreadId thread, MemorySource source, int64_t start_ns, int64_t end_ns,
             uint64_t bytes) {
    build_.store().memory_blocks.Append({.start_ns = start_ns,
                                         .end_ns = end_ns,
                                         .thread = thread,
                                         .bytes = bytes,
                                         .represented_bytes = bytes,
                                         .source = source});
  }
  OperatorMemory Of(const OperatorMemories& memories, std::string_view name) {
    return memories.Of(store_.strings.Find(name), StringId::None());
  }

  static constexpr auto kRam = static_cast<MemorySource>(0);
  static constexpr auto kGpu = static_cast<MemorySource>(kFirstGpuSource);
  testing::StoreBuilder build_;
  const ProcessId process_ = build_.Process(1, "train.py");
  const ThreadId main_ = build_.Thread(process_);
  const ThreadId autograd_ = build_.Thread(process_);
  Store store_;
};

TEST_F(OperatorMemoryTest, BlocksAreOfTheOperatorsThatTakeAndReleaseThem) {
  build_.Operator(main_, "aten::linear", 100, 300);
  build_.Operator(main_, "aten::addmm", 150, 250);
  build_.Operator(autograd_, "AddmmBackward0", 500, 600);
  Block(main_, kRam, 120, 280, 7);        // linear's own, given back in it
  Block(main_, kRam, 160, 550, 1000);     // kept for backward, which releases it
  Block(main_, kRam, 170, kOpenEnd, 20);  // kept
  Block(main_, kGpu, 180, 900, 5000);     // released outside of operators
  Block(main_, kRam, 50, 60, 99);         // of no operator
  store_ = build_.Build();
  const OperatorMemories memories(store_, {});
  EXPECT_TRUE(memories.has_cpu());
  EXPECT_TRUE(memories.has_gpu());
  EXPECT_EQ(Of(memories, "aten::addmm").cpu_self_bytes, 1020);
  EXPECT_EQ(Of(memories, "aten::addmm").gpu_self_bytes, 5000);
  EXPECT_EQ(Of(memories, "aten::linear").cpu_self_bytes, 0);
  EXPECT_EQ(Of(memories, "aten::linear").cpu_bytes, 1020);
  EXPECT_EQ(Of(memories, "aten::linear").gpu_bytes, 5000);
  EXPECT_EQ(Of(memories, "AddmmBackward0").cpu_self_bytes, -1000);
}

TEST_F(OperatorMemoryTest, AReleaseThatMayBeOfSeveralThreadsIsOfNone) {
  const ThreadId other = build_.Thread(process_);
  build_.Operator(main_, "aten::mm", 100, 200);
  build_.Operator(autograd_, "MmBackward0", 500, 600);
  build_.Operator(other, "aten::sum", 500, 600);
  Block(main_, kRam, 150, 550, 1000);
  store_ = build_.Build();
  const OperatorMemories memories(store_, {});
  EXPECT_EQ(Of(memories, "aten::mm").cpu_self_bytes, 1000);
  EXPECT_EQ(Of(memories, "MmBackward0").cpu_self_bytes, 0);
  EXPECT_EQ(Of(memories, "aten::sum").cpu_self_bytes, 0);
}

TEST_F(OperatorMemoryTest, WithoutBlocksNothingIsKnown) {
  build_.Operator(main_, "aten::mm", 100, 200);
  store_ = build_.Build();
  const OperatorMemories memories(store_, {});
  EXPECT_FALSE(memories.has_cpu());
  EXPECT_FALSE(memories.has_gpu());
}

}  // namespace
}  // namespace batchlight
