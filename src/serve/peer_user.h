// Who is at the other end of a connection within this machine.
#pragma once

#include <cstdint>

namespace batchlight::serve {

// Whether the socket at 127.0.0.1:`peer_port` that is connected to our `own_port` is this user's or
// root's. True where the system does not say.
bool IsOwnPeer(uint16_t peer_port, uint16_t own_port);

}  // namespace batchlight::serve
