#include "base/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <thread>

namespace batchlight {
namespace {

constexpr int kPipeBytes = 4096;
constexpr int kLongMs = 60'000;

class WritePatientlyTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(pipe2(ends_, O_CLOEXEC), 0);
    fcntl(ends_[1], F_SETPIPE_SZ, kPipeBytes);
    file_ = fdopen(ends_[1], "w");
  }
  void TearDown() override {
    if (ends_[0] >= 0) close(ends_[0]);
    std::fclose(file_);
  }
  void MakeNonBlocking() { fcntl(ends_[1], F_SETFL, O_NONBLOCK); }
  std::string ReadAll(size_t bytes) {
    std::string text(bytes, '\0');
    size_t done = 0;
    while (done < bytes) {
      const ssize_t count = read(ends_[0], text.data() + done, bytes - done);
      if (count <= 0) break;
      done += static_cast<size_t>(count);
    }
    return text;
  }
  int ends_[2] = {-1, -1};
  std::FILE* file_ = nullptr;
};

TEST_F(WritePatientlyTest, WaitsForAReaderAlsoWhereTheStreamIsNonBlocking) {
  MakeNonBlocking();
  std::string text(10 * kPipeBytes, 'x');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i % 23);
  std::string got;
  std::fputs("before ", file_);
  std::thread reader([&] { got = ReadAll(7 + text.size()); });
  EXPECT_TRUE(WritePatiently(file_, text, kLongMs));
  reader.join();
  EXPECT_TRUE(got == "before " + text);
}

TEST_F(WritePatientlyTest, GivesUpWhereNobodyReads) {
  const std::string text(2 * kPipeBytes, 'x');
  EXPECT_FALSE(WritePatiently(file_, text, 20));
  EXPECT_EQ(errno, EAGAIN);
  MakeNonBlocking();
  EXPECT_FALSE(WritePatiently(file_, text, 20));
  EXPECT_EQ(errno, EAGAIN);
}

}  // namespace
}  // namespace batchlight
