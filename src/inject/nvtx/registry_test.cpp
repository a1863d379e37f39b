#include "inject/nvtx/registry.h"

#include <gtest/gtest.h>
#include <time.h>

#include <string>
#include <thread>
#include <vector>

#include "inject/nvtx/payload.h"
#include "inject/nvtx/schema.h"

namespace batchlight::inject::nvtx {
namespace {

TEST(Registry, ManyThreadsGetTheSameHandles) {
  constexpr int kThreads = 4, kNames = 500;
  std::vector<std::vector<const void*>> handles(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&mine = handles[t]] {
      for (int i = 0; i < kNames; ++i) {
        const std::string name = "registered " + std::to_string(i);
        mine.push_back(RegisterString(name.data(), name.size()));
        if (i % 50 == 0) mine.push_back(RegisterDomain(name.data(), name.size()));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 1; t < kThreads; ++t) EXPECT_EQ(handles[t], handles[0]);
}

double ProcessorSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// A program may register a string for each of its batches. With lists for buckets 200,000 took ten
// seconds and more; now a twentieth of one.
TEST(Registry, HundredsOfThousandsOfNames) {
  const double begin = ProcessorSeconds();
  std::vector<const RegisteredString*> strings;
  for (int i = 0; i < 200'000; ++i) {
    const std::string name = "batch " + std::to_string(i);
    strings.push_back(RegisterString(name.data(), name.size()));
    ASSERT_NE(strings.back(), nullptr);
  }
  std::vector<const Domain*> domains;
  for (int i = 0; i < 20'000; ++i) {
    const std::string name = "domain " + std::to_string(i);
    domains.push_back(RegisterDomain(name.data(), name.size()));
    ASSERT_NE(domains.back(), nullptr);
  }
  for (int i = 0; i < 200'000; i += 777) {
    const std::string name = "batch " + std::to_string(i);
    EXPECT_EQ(RegisterString(name.data(), name.size()), strings[i]);
    EXPECT_EQ(std::string(strings[i]->name.text, strings[i]->name.bytes), name);
  }
  EXPECT_EQ(RegisterDomain("domain 7", 8), domains[7]);
  EXPECT_LT(ProcessorSeconds() - begin, 2.0);
}

TEST(Schema, IsFoundWhileOthersAreAdded) {
  const Domain* domain = RegisterDomain("schemas", 7);
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 3; ++t) {
    threads.emplace_back([domain, t] {
      for (uint64_t i = 0; i < 300; ++i) {
        const SchemaEntry entry = {0, 18, "value", nullptr, 0, 0, nullptr, nullptr};
        SchemaAttributes attributes = {};
        attributes.field_mask = kSchemaEntries | kSchemaEntryCount | kSchemaId;
        attributes.entries = &entry;
        attributes.entry_count = 1;
        attributes.schema_id = kStaticSchemaStart + t * 1000 + i;
        ASSERT_EQ(RegisterSchema(domain, &attributes), attributes.schema_id);
        const Schema* schema = FindSchema(domain, attributes.schema_id);
        ASSERT_NE(schema, nullptr);
        EXPECT_EQ(schema->static_bytes, 8u);  // from the entry's type
        EXPECT_EQ(FindSchema(nullptr, attributes.schema_id), nullptr);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Schema, FollowsNaturalAlignment) {
  const SchemaEntry entries[] = {
      {0, 1, "char", nullptr, 0, 0, nullptr, nullptr},
      {0, 20, "double", nullptr, 0, 0, nullptr, nullptr},
      {kEntryArrayFixed, kTypeChar, "text", nullptr, 6, 0, nullptr, nullptr},
      {0, kTypeCString, "pointer", nullptr, 0, 0, nullptr, nullptr},
  };
  SchemaAttributes attributes = {};
  attributes.entries = entries;
  attributes.entry_count = 4;
  bool is_new = false;
  const uint64_t id = RememberSchema(nullptr, attributes, &is_new);
  EXPECT_TRUE(is_new);
  EXPECT_GE(id, kDynamicSchemaStart);
  const Schema* schema = FindSchema(nullptr, id);
  ASSERT_NE(schema, nullptr);
  EXPECT_EQ(schema->static_bytes, 32u);
  ASSERT_EQ(schema->string_count, 1u);
  EXPECT_EQ(schema->strings[0].offset, 24u);
}

}  // namespace
}  // namespace batchlight::inject::nvtx
