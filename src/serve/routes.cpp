#include "serve/routes.h"

#include "report/assets/embedded.h"

namespace batchlight::serve {
namespace {

constexpr std::string_view kApi = "/api/1/";
constexpr std::string_view kPage =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<title>batchlight</title>\n<link rel=\"icon\" href=\"data:,\">\n"
    "<link rel=\"stylesheet\" href=\"timeline.css\">\n"
    "<script src=\"timeline.js\" defer></script>\n</head>\n<body>\n"
    "<noscript>The timeline is drawn by a script, which this browser does not run. "
    "`batchlight summary RUN` has the numbers.</noscript>\n</body>\n</html>\n";

HttpResponse File(std::string_view type, std::string_view body) {
  return {.content_type = std::string(type), .body = std::string(body)};
}

}  // namespace

HttpResponse Route(const ApiContext& context, const HttpRequest& request) {
  const std::string_view target =
      std::string_view(request.target).substr(0, request.target.find('?'));
  if (request.method == "POST") {
    if (!target.starts_with(kApi)) return ErrorResponse(404, "unknown", "there is no such address");
    return AnswerCall(context, target.substr(kApi.size()), request.body);
  }
  if (request.method != "GET" && request.method != "HEAD") {
    HttpResponse refusal = ErrorResponse(405, "method", "only GET, HEAD and POST are understood");
    refusal.allow = "GET, HEAD, POST";
    return refusal;
  }
  // The output of a notebook asks whether its server is still there.
  if (target == "/there") return {.content_type = "text/plain", .for_all_sites = true};
  if (target == "/") return File("text/html; charset=utf-8", kPage);
  if (target == "/timeline.js") return File("text/javascript; charset=utf-8", TimelineScript());
  if (target == "/timeline.css") return File("text/css; charset=utf-8", TimelineStyle());
  return ErrorResponse(404, "unknown", "there is no such file");
}

}  // namespace batchlight::serve
