#include "store/kinds.h"

#include <gtest/gtest.h>

#include <set>

#include "store/store.h"

namespace batchlight {
namespace {

TEST(Kinds, EveryNumberAndIdentifierIsUniqueInItsKind) {
  std::set<std::string_view> names;
  for (const KindTable& kind : AllKinds()) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
    EXPECT_FALSE(kind.doc.empty()) << kind.name;
    EXPECT_FALSE(kind.rows.empty()) << kind.name;
    std::set<uint32_t> numbers;
    std::set<std::string_view> identifiers, labels;
    for (const KindRow& row : kind.rows) {
      EXPECT_TRUE(numbers.insert(row.number).second) << kind.name << ' ' << row.number;
      EXPECT_TRUE(identifiers.insert(row.identifier).second) << kind.name << ' ' << row.identifier;
      EXPECT_TRUE(labels.insert(row.label).second) << kind.name << ' ' << row.label;
    }
  }
}

TEST(Kinds, NsysNamesAllValuesOfItsKindsAndNoneOfOurs) {
  for (const KindTable& kind : AllKinds()) {
    for (const KindRow& row : kind.rows) {
      if (row.identifier == "CudaOverhead") continue;  // its name is not known
      EXPECT_EQ(row.nsys_name.empty(), kind.nsys_enum.empty())
          << kind.name << ' ' << row.identifier;
    }
  }
}

TEST(Kinds, TextsOfAValue) {
  EXPECT_EQ(Number(CopyKind::kHostToDevice), 1);
  EXPECT_EQ(Label(CopyKind::kHostToDevice), "Host-to-Device");
  EXPECT_EQ(ShortName(CopyKind::kHostToDevice), "HtoD");
  EXPECT_EQ(NsysName(CopyKind::kHostToDevice), "CUDA_MEMCPY_KIND_HTOD");
  EXPECT_EQ(Label(CopyKind::kUnifiedDeviceToHost), "Unified Device-to-Host");
  EXPECT_EQ(ShortName(CopyKind::kUnifiedDeviceToHost), "DtoH");
  EXPECT_EQ(LabelInSentence(MemoryKind::kDeviceStatic), "device static");
  EXPECT_EQ(ShortName(SyncType::kStreamWaitsEvent), "Stream Wait Event");
  EXPECT_EQ(ShortName(MpiKind::kStartWait), "start-wait");
  EXPECT_EQ(ShortName(NvtxStyle::kStartEnd), "StartEnd");
  EXPECT_EQ(Label(EventClass::kSystemCall),
            "Syscall");  // its number is far from its position in the list
  EXPECT_EQ(Number(EventClass::kSystemCall), 107);
}

TEST(Kinds, PhasesAreThoseOfTheFormat) {
  EXPECT_EQ(Number(Phase::kBackward), 1);
  EXPECT_EQ(Label(Phase::kOptimizerStep), "optimizer step");
  EXPECT_EQ(Label(Phase::kNone), "");
}

TEST(Kinds, ANumberThatNoRowNames) {
  EXPECT_EQ(Label(CopyKind{99}), "Unknown");
  EXPECT_EQ(ShortName(SyncType{99}), "Unknown Sync");
  EXPECT_EQ(NsysName(MemoryKind{99}), "CUDA_MEMOPR_MEMORY_KIND_UNKNOWN");
  EXPECT_EQ(Label(Phase{99}), "");  // a kind without a row Unknown
  EXPECT_EQ(NsysName(EventClass{2}), "");
  EXPECT_EQ(Number(CopyKind{99}), 99);
}

TEST(Kinds, ANumberThatNoRowNamesStaysInTheStore) {
  Store store;
  store.memcpys.Append({.copy_kind = CopyKind{200}});
  store.gpu_streams.Append({.flag = StreamFlag{70'000}});
  store.memcpys.Append({.copy_kind = CopyKind::kDeviceToHost});
  store.memcpys.Reorder(std::vector<uint32_t>{1, 0});
  EXPECT_EQ(store.memcpys.copy_kind[0], CopyKind::kDeviceToHost);
  EXPECT_EQ(Number(store.memcpys.Row(1).copy_kind), 200);
  EXPECT_EQ(Number(store.gpu_streams.flag[0]), 70'000u);
}

TEST(Kinds, ByLabel) {
  EXPECT_EQ(KindWithLabel("Managed Static", MemoryKind::kUnknown), MemoryKind::kManagedStatic);
  EXPECT_EQ(KindWithLabel("nowhere", MemoryKind::kUnknown), MemoryKind::kUnknown);
  EXPECT_EQ(KindWithLabel("validation", Phase::kNone), Phase::kValidation);
}

TEST(Kinds, UnifiedCopiesAreThoseThatSaySo) {
  for (const KindRow& row : TableOf<CopyKind>().rows) {
    EXPECT_EQ(IsUnified(static_cast<CopyKind>(row.number)), row.label.starts_with("Unified"));
  }
}

TEST(Kinds, MemoryOfTheCpu) {
  for (const KindRow& row : TableOf<MemoryKind>().rows) {
    const bool cpu = row.identifier == "Pageable" || row.identifier == "Pinned";
    EXPECT_EQ(IsOfCpu(static_cast<MemoryKind>(row.number)), cpu) << row.identifier;
  }
  EXPECT_FALSE(IsOfCpu(MemoryKind{99}));
}

TEST(Kinds, YesIsAnythingButNo) {
  EXPECT_EQ(ToYesNo(true), YesNo::kYes);
  EXPECT_EQ(ToYesNo(false), YesNo::kNo);
  EXPECT_TRUE(IsYes(YesNo{2}));
  EXPECT_FALSE(IsYes(YesNo::kNo));
}

}  // namespace
}  // namespace batchlight
