#include "store/finish.h"

#include <gtest/gtest.h>

#include "store/value_limits.h"

namespace batchlight {
namespace {

class FinishTest : public ::testing::Test {
 protected:
  FinishTest() {
    for (const uint32_t pid : {100u, 200u}) {
      store_.processes.Append({.pid = pid, .end_ns = kOpenEnd});
    }
    for (const size_t process : {0, 0, 1}) {
      store_.threads.Append({.process = ProcessId::At(process)});
    }
    store_.duration_ns = 1000;
  }
  void Operator(size_t thread, int64_t start_ns, int64_t end_ns, uint16_t depth = 0,
                OperatorCallId parent = {}) {
    store_.operator_calls.Append({.start_ns = start_ns,
                                  .end_ns = end_ns,
                                  .thread = ThreadId::At(thread),
                                  .sequence = static_cast<int64_t>(store_.operator_calls.size()),
                                  .parent = parent,
                                  .depth = depth});
  }
  void Range(int64_t start_ns, int64_t end_ns, NvtxDomainId domain = {},
             NvtxStyle style = NvtxStyle::kPushPop) {
    store_.nvtx_ranges.Append({.start_ns = start_ns,
                               .end_ns = end_ns,
                               .thread = main_,
                               .domain = domain,
                               .style = style});
  }
  void Call(ThreadId thread, uint32_t correlation, int64_t start_ns, int64_t end_ns) {
    store_.api_calls.Append(
        {.start_ns = start_ns, .end_ns = end_ns, .thread = thread, .correlation = correlation});
  }
  void Kernel(ProcessId process, uint32_t correlation, int64_t start_ns,
              KernelLaunchId launch = {}) {
    store_.kernels.Append({.start_ns = start_ns,
                           .end_ns = start_ns + 1,
                           .process = process,
                           .correlation = correlation,
                           .launch = launch});
  }

  std::vector<int64_t> Sequences() const { return store_.operator_calls.sequence; }
  std::vector<OperatorCallId> Parents() const { return store_.operator_calls.parent; }

  Store store_;
  const ThreadId main_ = ThreadId::At(0);
  const ProcessId first_ = ProcessId::At(0);
  const ProcessId second_ = ProcessId::At(1);
};

constexpr auto kNone = OperatorCallId::None();
constexpr auto Row = [](size_t row) { return OperatorCallId::At(row); };

TEST_F(FinishTest, OrdersByThreadStartAndLength) {
  Operator(1, 5, 9);
  Operator(0, 10, 20);
  Operator(0, 10, 30);
  Operator(0, 5, 6);
  FinishStore(store_);
  EXPECT_EQ(Sequences(), (std::vector<int64_t>{3, 2, 1, 0}));
}

TEST_F(FinishTest, KeepsTheSourcesOrderOfEqualRows) {
  for (int i = 0; i < 3; ++i) Operator(0, 7, 9);
  Operator(0, 1, 2);
  FinishStore(store_);
  EXPECT_EQ(Sequences(), (std::vector<int64_t>{3, 0, 1, 2}));
}

TEST_F(FinishTest, OrdersRowsWithoutThreadLast) {
  store_.nvtx_marks.Append({.start_ns = 1});
  store_.nvtx_marks.Append({.start_ns = 2, .thread = main_});
  FinishStore(store_);
  EXPECT_EQ(store_.nvtx_marks.start_ns, (std::vector<int64_t>{2, 1}));
}

TEST_F(FinishTest, NestsByTime) {
  Operator(0, 0, 100);
  Operator(0, 10, 20);
  Operator(0, 12, 15);
  Operator(0, 20, 30);  // begins when the other ends: beside it
  Operator(1, 12, 15);  // another thread
  FinishStore(store_);
  EXPECT_EQ(Parents(), (std::vector{kNone, Row(0), Row(1), Row(0), kNone}));
  EXPECT_EQ(store_.operator_calls.depth, (std::vector<uint16_t>{0, 1, 2, 1, 0}));
}

// Traces round times, so a child may end after its parent.
TEST_F(FinishTest, CallNeedNotEncloseItsChildToTheEnd) {
  Operator(0, 0, 10);
  Operator(0, 5, 11);
  Operator(0, 10, 12);  // the first has ended, the second has not
  FinishStore(store_);
  EXPECT_EQ(Parents(), (std::vector{kNone, Row(0), Row(1)}));
  EXPECT_EQ(store_.operator_calls.depth, (std::vector<uint16_t>{0, 1, 2}));
}

TEST_F(FinishTest, CallThatTakesNoTimeIsNobodysParent) {
  Operator(0, 5, 5);
  Operator(0, 5, 5);
  Operator(0, 5, 8);
  FinishStore(store_);
  EXPECT_EQ(Sequences(), (std::vector<int64_t>{2, 0, 1}));
  EXPECT_EQ(Parents(), (std::vector{kNone, Row(0), Row(0)}));
}

TEST_F(FinishTest, OpenEndEnclosesAllThatFollows) {
  Operator(0, 5, 8);
  Operator(0, 5, kOpenEnd);
  Operator(0, 900, 901);
  FinishStore(store_);
  EXPECT_EQ(Sequences(), (std::vector<int64_t>{1, 0, 2}));
  EXPECT_EQ(Parents(), (std::vector{kNone, Row(0), Row(0)}));
  EXPECT_EQ(store_.operator_calls.end_ns[0], kOpenEnd);
  EXPECT_EQ(store_.reasons.size(), 0u);
}

// It is closed before rows are ordered and nested, so it encloses nothing.
TEST_F(FinishTest, EndlessRowIsClosed) {
  Operator(0, -kLargestTimeNs, kOpenEnd);
  Operator(0, 5, 8);
  FinishStore(store_);
  EXPECT_EQ(store_.operator_calls.end_ns[0], -kLargestTimeNs);
  EXPECT_EQ(Parents(), (std::vector{kNone, kNone}));
  ASSERT_EQ(store_.reasons.size(), 1u);
}

TEST_F(FinishTest, RangesNestPerDomainAndStyle) {
  const auto domain = NvtxDomainId::At(0);
  Range(0, 100);
  Range(10, 90, domain);
  Range(20, 80, {}, NvtxStyle::kStartEnd);
  Range(30, 40);
  Range(35, 40, domain);
  FinishStore(store_);
  constexpr auto kNoRange = NvtxRangeId::None();
  EXPECT_EQ(store_.nvtx_ranges.parent,
            (std::vector{kNoRange, kNoRange, kNoRange, NvtxRangeId::At(0), NvtxRangeId::At(1)}));
  EXPECT_EQ(store_.nvtx_ranges.depth, (std::vector<uint16_t>{0, 0, 0, 1, 1}));
}

// nsys counts depths and parents the same way.
TEST_F(FinishTest, RangesThatCrossAreBesideEachOther) {
  Range(0, 100);
  Range(10, 50);
  Range(40, 60);    // crosses the second, inside the first
  Range(55, 58);    // the second has ended
  Range(90, 110);   // crosses the first
  Range(100, 105);  // inside of the one before
  FinishStore(store_);
  const auto row = [](size_t at) { return NvtxRangeId::At(at); };
  const auto none = NvtxRangeId::None();
  EXPECT_EQ(store_.nvtx_ranges.parent, (std::vector{none, row(0), row(0), row(2), none, row(4)}));
  EXPECT_EQ(store_.nvtx_ranges.depth, (std::vector<uint16_t>{0, 1, 1, 2, 0, 1}));
}

TEST_F(FinishTest, ToldParentsStayAndFollowTheirRows) {
  Operator(0, 50, 60, 0);
  Operator(0, 50, 60, 1, Row(0));
  Operator(0, 10, 40, 0);
  Operator(0, 20, 30, 7);  // the source says: inside nothing that it told
  FinishStore(store_, {.has_call_parents = true});
  EXPECT_EQ(Sequences(), (std::vector<int64_t>{2, 3, 0, 1}));
  EXPECT_EQ(Parents(), (std::vector{kNone, kNone, kNone, Row(2)}));
  EXPECT_EQ(store_.operator_calls.depth, (std::vector<uint16_t>{0, 7, 0, 1}));
}

TEST_F(FinishTest, ToldParentThatComesToStandBehindIsNone) {
  Operator(0, 50, 51, 0);
  Operator(0, 50, 60, 1, Row(0));
  FinishStore(store_, {.has_call_parents = true});
  EXPECT_EQ(Parents(), (std::vector{kNone, kNone}));
}

TEST_F(FinishTest, TiesWorkToTheCallOfItsProcess) {
  Call(ThreadId::At(2), 7, 0, 5);
  Call(main_, 7, 10, 15);
  Kernel(first_, 7, 20);
  Kernel(second_, 7, 21);
  Kernel(first_, 8, 22);  // its call was not recorded
  Kernel(ProcessId(), 7, 23);
  FinishStore(store_);
  EXPECT_EQ(store_.kernels.api_call,
            (std::vector{ApiCallId::At(0), ApiCallId::At(1), ApiCallId(), ApiCallId()}));
}

TEST_F(FinishTest, FirstCallOfAnIdWins) {
  Call(main_, 7, 11, 14);  // the driver's call inside of the runtime's
  Call(main_, 7, 10, 15);
  Call(ThreadId::At(1), 7, 2, 3);
  Kernel(first_, 7, 20);
  FinishStore(store_);
  EXPECT_EQ(store_.kernels.api_call[0], ApiCallId::At(0));
  EXPECT_EQ(store_.api_calls.start_ns[0], 10);
}

TEST_F(FinishTest, IdZeroIsNone) {
  Call(main_, 0, 1, 2);
  Kernel(first_, 0, 3);
  FinishStore(store_);
  EXPECT_TRUE(store_.kernels.api_call[0].IsNone());
}

// A list of so many would not fit into memory.
TEST_F(FinishTest, IdsMayLieFarApart) {
  for (const uint32_t id : {1u, UINT32_MAX, UINT32_MAX}) Call(main_, id, id % 10, 9);
  Kernel(first_, UINT32_MAX, 20);
  Kernel(first_, 2, 21);
  FinishStore(store_);
  EXPECT_EQ(store_.kernels.api_call, (std::vector{ApiCallId::At(1), ApiCallId()}));
}

TEST_F(FinishTest, EventWithoutTimeHappensAtItsCall) {
  Call(main_, 7, 10, 15);
  const auto add = [&](uint32_t correlation, int64_t start_ns) {
    store_.cuda_events.Append(
        {.start_ns = start_ns, .process = first_, .correlation = correlation});
  };
  add(7, kOpenEnd);
  add(9, 5);
  add(8, kOpenEnd);
  add(6, 10);
  FinishStore(store_);
  EXPECT_EQ(store_.cuda_events.start_ns, (std::vector<int64_t>{0, 5, 10, 10}));
  EXPECT_EQ(store_.cuda_events.correlation, (std::vector<uint32_t>{8, 9, 7, 6}));
}

TEST_F(FinishTest, EqualLaunchesBecomeOne) {
  for (const uint32_t grid : {1u, 2u, 1u}) store_.kernel_launches.Append({.grid_x = grid});
  store_.kernel_launches.Append({.grid_x = 1, .green_context = 5});  // differs in anything
  for (size_t launch = 0; launch < 4; ++launch) {
    Kernel(first_, 1, int64_t(launch), KernelLaunchId::At(launch));
  }
  FinishStore(store_);
  EXPECT_EQ(store_.kernel_launches.grid_x, (std::vector<uint32_t>{1, 2, 1}));
  EXPECT_EQ(store_.kernels.launch, (std::vector{KernelLaunchId::At(0), KernelLaunchId::At(1),
                                                KernelLaunchId::At(0), KernelLaunchId::At(2)}));
}

TEST_F(FinishTest, TransfersFollowTheirCopies) {
  store_.memcpys.Append({.start_ns = 20, .bytes = 1});
  store_.memcpys.Append({.start_ns = 10, .bytes = 2});
  store_.um_transfers.Append({.memcpy_row = MemcpyId::At(0)});
  store_.um_transfers.Append({.memcpy_row = MemcpyId::At(1)});
  store_.um_transfers.virtual_address = {1, 2};
  FinishStore(store_);
  EXPECT_EQ(store_.um_transfers.memcpy_row, (std::vector{MemcpyId::At(0), MemcpyId::At(1)}));
  EXPECT_EQ(store_.um_transfers.virtual_address, (std::vector<uint64_t>{2, 1}));
}

// Threads of overheads and compilations are often unknown, so they are the GPU's, by start.
TEST_F(FinishTest, OverheadsOfAllThreadsAreByStart) {
  store_.gpu_overheads.Append({.start_ns = 9, .thread = main_});
  store_.gpu_overheads.Append({.start_ns = 5, .thread = ThreadId::At(1)});
  FinishStore(store_);
  EXPECT_EQ(store_.gpu_overheads.start_ns, (std::vector<int64_t>{5, 9}));
}

TEST_F(FinishTest, NativeStacksAreDistinct) {
  const StringId libc = store_.strings.Intern("/usr/lib/libc.so.6");
  for (int part = 0; part < 2; ++part) {  // as two parts of a recording define them
    const auto row = static_cast<uint32_t>(store_.native_frames.size());
    store_.native_modules.Append({.path = libc});
    for (const uint64_t address : {10u, 20u}) {
      store_.native_frames.Append(
          {.module = NativeModuleId::At(store_.native_modules.size() - 1), .address = address});
    }
    store_.native_stacks.Append({.frame = NativeFrameId::At(row)});
    store_.native_stacks.Append(
        {.frame = NativeFrameId::At(row + 1), .parent = NativeStackId::At(row)});
    store_.cpu_samples.Append(
        {.start_ns = 2 - part, .thread = main_, .native_stack = NativeStackId::At(row + 1)});
  }
  FinishStore(store_);
  EXPECT_EQ(store_.native_modules.size(), 1u);
  EXPECT_EQ(store_.native_frames.size(), 2u);
  ASSERT_EQ(store_.native_stacks.size(), 2u);
  EXPECT_EQ(store_.native_stacks.parent[1], NativeStackId::At(0));
  EXPECT_EQ(store_.cpu_samples.native_stack,
            (std::vector<NativeStackId>{NativeStackId::At(1), NativeStackId::At(1)}));
  EXPECT_EQ(store_.cpu_samples.start_ns, (std::vector<int64_t>{1, 2}));
}

// A small file may hold chains that nobody could walk through for each sample.
TEST_F(FinishTest, StacksOfAnyFileAreShallow) {
  constexpr uint32_t kRows = 100'000;
  for (uint32_t row = 0; row < kRows; ++row) {
    store_.python_frames.Append({.first_line = row});
    store_.python_stacks.Append(
        {.frame = PythonFrameId::At(row),
         .parent = row == 0 ? PythonStackId() : PythonStackId::At(row - 1)});
  }
  store_.python_samples.Append(
      {.thread = main_, .python_stack = PythonStackId::At(kRows - 1), .samples = 1});
  FinishStore(store_);
  size_t depth = 0;
  for (PythonStackId at = store_.python_samples.python_stack[0]; !at.IsNone();
       at = store_.python_stacks.parent[at.row()]) {
    ++depth;
  }
  EXPECT_EQ(depth, 2000u);
}

TEST_F(FinishTest, CallersOfDamagedStacksAreNone) {
  for (const uint32_t parent : {0u, 2u, 1u}) {  // its own, each other's
    const auto row = static_cast<uint32_t>(store_.native_frames.size());
    store_.native_frames.Append({.address = row});
    store_.native_stacks.Append(
        {.frame = NativeFrameId::At(row), .parent = NativeStackId::At(parent)});
  }
  FinishStore(store_);
  ASSERT_EQ(store_.native_stacks.size(), 3u);
  EXPECT_TRUE(store_.native_stacks.parent[0].IsNone());
  EXPECT_TRUE(store_.native_stacks.parent[1].IsNone());
  EXPECT_EQ(store_.native_stacks.parent[2], NativeStackId::At(1));
}

}  // namespace
}  // namespace batchlight
