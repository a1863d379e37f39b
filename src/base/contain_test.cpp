#include "base/contain.h"

#include <gtest/gtest.h>

#include <new>
#include <system_error>

namespace batchlight {
namespace {

TEST(Contain, MakesAStatusOfWhatEndsTheWork) {
  EXPECT_TRUE(Contain("reading x", [] { return Status(); }).ok());
  EXPECT_EQ(Contain("reading x", [] { return InputError("no x"); }).message(), "no x");
  const Status full = Contain("reading x", []() -> Status { throw std::bad_alloc(); });
  EXPECT_EQ(full.message(), "reading x: out of memory");
  EXPECT_EQ(full.exit_code(), 4);
  const Status other = Contain("reading x", []() -> Status {
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  });
  EXPECT_NE(other.message().find("reading x: Resource"), std::string::npos);
}

}  // namespace
}  // namespace batchlight
