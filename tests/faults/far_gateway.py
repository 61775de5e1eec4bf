"""A gateway, as `up` starts it, whose links to table actors go through a proxy: `FAR_LINKS=host:port`.

Actors say where they listen; a proxy that is told the target of each connection stands between without their knowing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou_services import link
from kangtou_services.__main__ import main
from kangtou_services.gateway import links
from kangtou_services.link import GatewayLink


async def connect(
    address: str, received: Callable[[lpb.Down], None], ended: Callable[[], None], timeout: float = 2.0
) -> GatewayLink:
    """In place of links.connect."""
    made = await link.connect(f"tcp:{os.environ['FAR_LINKS']}", received, ended, timeout)
    if made._transport is not None:
        made._transport.write(f"{address}\n".encode())
    return made


if __name__ == "__main__":
    links.connect = connect  # type: ignore[attr-defined]
    sys.exit(main())
