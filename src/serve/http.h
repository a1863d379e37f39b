// A request and its answer, as the server hands them to what answers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace batchlight::serve {

struct Endpoint {
  uint32_t address = 0;  // 127.0.0.1 is 0x7f000001
  uint16_t port = 0;
};

struct HttpRequest {
  std::string method;  // "GET"
  std::string target;  // "/api/1/view", as it came
  std::string host;    // headers; "" where they are missing
  std::string origin;
  std::string fetch_site;
  std::string authorization;
  std::string content_type;
  std::string body;
  bool over_unix_socket = false;  // which only this user can open
  Endpoint peer;                  // else of TCP; port 0: the connection has ended already
  Endpoint own;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::string allow;           // of status 405: the methods
  bool for_all_sites = false;  // pages of other sites may ask whether there is this answer
};

// The error form of the protocol: {"error": {"code": ..., "message": ...}}.
HttpResponse ErrorResponse(int status, std::string_view code, std::string_view message);

// Called for every request, by several threads at once.
using HttpHandler = std::function<HttpResponse(const HttpRequest& request)>;

// Called when only the header is known: a response that is not 200 is the answer, and no body is
// read.
using HttpGate = std::function<HttpResponse(const HttpRequest& request)>;

}  // namespace batchlight::serve
