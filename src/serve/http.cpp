#include "serve/http.h"

#include "base/json_text.h"

namespace batchlight::serve {

HttpResponse ErrorResponse(int status, std::string_view code, std::string_view message) {
  HttpResponse response{.status = status, .body = R"({"error": {"code": ")"};
  AppendJsonEscaped(code, response.body);
  response.body += R"(", "message": ")";
  AppendJsonEscaped(message, response.body);
  response.body += "\"}}";
  return response;
}

}  // namespace batchlight::serve
