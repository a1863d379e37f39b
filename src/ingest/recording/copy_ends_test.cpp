#include "ingest/recording/copy_ends.h"

#include <gtest/gtest.h>

#include "format/records.h"

namespace batchlight {
namespace {

constexpr uint32_t kStream = 7, kOtherStream = 9;

class CopyEnds : public ::testing::Test {
 protected:
  void Copy(int64_t start_ns, int64_t end_ns, uint64_t bytes, uint64_t graph_node = 0) {
    store_.memcpys.Append({.start_ns = start_ns,
                           .end_ns = end_ns,
                           .process = ProcessId(0),
                           .stream = kStream,
                           .bytes = bytes,
                           .graph_node = graph_node});
  }
  void Graph(int64_t start_ns, int64_t end_ns, uint32_t stream) {
    store_.graph_launches.Append(
        {.start_ns = start_ns, .end_ns = end_ns, .process = ProcessId(0), .stream = stream});
  }
  uint64_t CountCut() {
    CutImpossibleCopyEnds(store_);
    uint64_t cut = 0;
    for (size_t row = 0; row < store_.losses.size(); ++row) {
      EXPECT_EQ(store_.losses.counter[row], static_cast<uint32_t>(format::Counter::kCopyEndsCut));
      cut += store_.losses.value[row];
    }
    return cut;
  }
  Store store_;
};

// Numbers from a recording taken on an H200.
TEST_F(CopyEnds, ACopyCannotEndAfterTheGraphBehindItBegan) {
  Copy(5'696'310'188, 5'696'311'468, 65'536);
  Copy(5'696'322'444, 5'801'804'514, 512);
  Copy(5'801'662'114, 5'801'667'394, 32'768);
  Graph(5'697'183'983, 5'703'200'450, kStream);
  EXPECT_EQ(CountCut(), 1u);
  EXPECT_EQ(store_.memcpys.end_ns[1], 5'697'183'983);  // none is like it
  EXPECT_EQ(store_.memcpys.end_ns[0], 5'696'311'468);
  EXPECT_EQ(store_.memcpys.end_ns[2], 5'801'667'394);
}

TEST_F(CopyEnds, TakesTheLengthOfCopiesLikeIt) {
  Copy(1'000'000, 50'000'000, 512);
  Graph(3'000'000, 4'000'000, kStream);
  for (const int64_t length : {900, 700, 40'000}) Copy(60'000'000, 60'000'000 + length, 512);
  Copy(61'000'000, 61'005'000, 1024);
  EXPECT_EQ(CountCut(), 1u);
  EXPECT_EQ(store_.memcpys.end_ns[0], 1'000'900);
}

TEST_F(CopyEnds, TheNextMayBeAnotherSuspect) {
  Copy(1'000'000, 50'000'000, 512);
  Copy(2'000'000, 40'000'000, 512);
  Graph(3'000'000, 4'000'000, kStream);
  EXPECT_EQ(CountCut(), 2u);
  EXPECT_EQ(store_.memcpys.end_ns[0], 2'000'000);
  EXPECT_EQ(store_.memcpys.end_ns[1], 3'000'000);
}

TEST_F(CopyEnds, SlowCopiesStay) {
  Copy(1'000'000, 50'000'000, 512);  // slow, but nothing began on its stream meanwhile
  Graph(60'000'000, 70'000'000, kStream);
  Graph(2'000'000, 3'000'000, kOtherStream);
  EXPECT_EQ(CountCut(), 0u);
}

TEST_F(CopyEnds, CopiesThatAreFastOrInsideAGraphStay) {
  Copy(1'000'000, 2'000'000, 50'000'000);
  Copy(1'100'000, 3'000'000, 512, 17);
  Graph(1'500'000, 4'000'000, kStream);
  EXPECT_EQ(CountCut(), 0u);
}

}  // namespace
}  // namespace batchlight
