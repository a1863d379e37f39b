#include "analysis/numbers/merge_runs.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>

namespace batchlight {
namespace {

using Row = std::pair<int, int>;  // key, place

bool Less(const Row& a, const Row& b) { return a.first < b.first; }

void ExpectAsStableSort(std::vector<Row> rows) {
  for (size_t i = 0; i < rows.size(); ++i) rows[i].second = static_cast<int>(i);
  std::vector<Row> wanted = rows;
  std::stable_sort(wanted.begin(), wanted.end(), Less);
  MergeRuns(rows, Less);
  EXPECT_EQ(rows, wanted);
}

TEST(MergeRuns, OrdersAsAStableSort) {
  ExpectAsStableSort({});
  ExpectAsStableSort({{1, 0}});
  ExpectAsStableSort({{1, 0}, {2, 0}, {2, 0}, {5, 0}});
  ExpectAsStableSort({{3, 0}, {4, 0}, {1, 0}, {4, 0}, {2, 0}, {9, 0}});
  ExpectAsStableSort({{5, 0}, {4, 0}, {3, 0}, {2, 0}, {1, 0}});
}

TEST(MergeRuns, AnyRows) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Row> rows(random() % 50);
    for (Row& row : rows) row.first = static_cast<int>(random() % 20);
    ExpectAsStableSort(std::move(rows));
  }
}

}  // namespace
}  // namespace batchlight
