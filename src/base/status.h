// Errors of the tool side. A Status is fine or says what happened, where and what to do next; its
// kind decides the exit code. Context is added on the way up: the outermost words come first.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace batchlight {

// Also the exit codes of the program (interface: 0 fine, 1 gate, 2 usage, 3 input, 4 output).
enum class ErrorKind { kNone = 0, kGate = 1, kUsage = 2, kInput = 3, kOutput = 4, kInternal = 70 };

class [[nodiscard]] Status {
 public:
  Status() = default;
  static Status Error(ErrorKind kind, std::string message) {
    Status status;
    status.kind_ = kind;
    status.message_ = std::move(message);
    return status;
  }

  bool ok() const { return kind_ == ErrorKind::kNone; }
  ErrorKind kind() const { return kind_; }
  int exit_code() const { return static_cast<int>(kind_); }
  const std::string& message() const { return message_; }

  // "reading a.batchlight: " + message. Does nothing to a fine status.
  Status WithContext(std::string_view context) && {
    if (!ok()) message_ = std::string(context) + ": " + message_;
    return std::move(*this);
  }

 private:
  ErrorKind kind_ = ErrorKind::kNone;
  std::string message_;
};

inline Status UsageError(std::string message) {
  return Status::Error(ErrorKind::kUsage, std::move(message));
}
inline Status InputError(std::string message) {
  return Status::Error(ErrorKind::kInput, std::move(message));
}
inline Status OutputError(std::string message) {
  return Status::Error(ErrorKind::kOutput, std::move(message));
}

// A value or the error that stands in its place. No implicit bool: say ok().
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT: implicit on purpose
  Result(Status status) : status_(std::move(status)) {}  // NOLINT: implicit on purpose
  explicit operator bool() const = delete;

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace batchlight

#define BL_CONCAT_INNER(a, b) a##b
#define BL_CONCAT(a, b) BL_CONCAT_INNER(a, b)

#define RETURN_IF_ERROR(expression)                \
  do {                                             \
    ::batchlight::Status bl_status = (expression); \
    if (!bl_status.ok()) return bl_status;         \
  } while (false)

// ASSIGN_OR_RETURN(auto file, OpenFile(path));
#define ASSIGN_OR_RETURN(declaration, expression) \
  ASSIGN_OR_RETURN_INNER(BL_CONCAT(bl_result_, __LINE__), declaration, expression)
#define ASSIGN_OR_RETURN_INNER(result, declaration, expression) \
  auto result = (expression);                                   \
  if (!result.ok()) return result.status();                     \
  declaration = std::move(result).value()
