// The part of base/folder.h that is the same on every system.
#include <unistd.h>

#include <algorithm>

#include "base/folder.h"
#include "base/random_bytes.h"

namespace batchlight {
namespace {

constexpr size_t kRandomLetters = 16;

}  // namespace

Result<Folder> Folder::OpenParent(const std::string& path) {
  const size_t slash = path.rfind('/');
  return Open(slash == std::string::npos ? "." : path.substr(0, slash + 1));
}

Folder::Folder(Folder&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}

Folder& Folder::operator=(Folder&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  return *this;
}

Folder::~Folder() {
  if (fd_ >= 0) close(fd_);
}

std::string LastPartOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string RandomLetters() {
  unsigned char bytes[kRandomLetters] = {};
  (void)FillRandom(bytes);
  std::string letters;
  for (const unsigned char byte : bytes) letters += static_cast<char>('a' + byte % 26);
  return letters;
}

bool AreRandomLetters(const std::string& text) {
  return text.size() == kRandomLetters &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

}  // namespace batchlight
