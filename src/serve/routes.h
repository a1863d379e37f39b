// Which address is what: the files of the page, and the calls behind api/1/.
#pragma once

#include "serve/api.h"
#include "serve/http.h"

namespace batchlight::serve {

HttpResponse Route(const ApiContext& context, const HttpRequest& request);

}  // namespace batchlight::serve
