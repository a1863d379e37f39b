// Who is at the other end of a connection within this machine.
#pragma once

#include "serve/http.h"

namespace batchlight::serve {

// Whether the socket at `peer` that is connected to ours at `own` is this user's or root's. Both
// count whole: another user may have the peer's port at another address (127.0.0.2). True where
// the system does not say.
bool IsOwnPeer(const Endpoint& peer, const Endpoint& own);

}  // namespace batchlight::serve
