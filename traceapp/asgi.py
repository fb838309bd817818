"""
The application as a server sees it. Importing this module starts to load the model.

That is why nothing but a server may import it: `migrate`, `check` and the tests do not. Daphne
has no start-up event that could load the model instead.
"""

from __future__ import annotations

import logging
import os
import sys

from channels.routing import ProtocolTypeRouter
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "traceapp.settings")
http_application = get_asgi_application()

from django.conf import settings  # noqa: E402

from inference import runtime  # noqa: E402
from inference.model import start_runtime  # noqa: E402
from inference.weights.errors import WeightsError  # noqa: E402
from traceapp.body_limits import refuse_large_bodies  # noqa: E402
from traceapp.routing import socket_application  # noqa: E402
from traceapp.socket_limits import bound_sockets  # noqa: E402

logger = logging.getLogger(__name__)

EXIT_WITHOUT_MODEL = 3


def _stop_without_model(error: Exception) -> None:
    """End the process: a server that can never trace must not look alive."""
    logger.critical("the model cannot be loaded: %s", error)
    logging.shutdown()
    # sys.exit would end the calling thread only, and the server would stay.
    os._exit(EXIT_WITHOUT_MODEL)


refuse_large_bodies()
bound_sockets()
try:
    runtime.install(
        start_runtime(
            settings.TRACEAPP.model,
            model_path=settings.TRACEAPP.model_path,
            weights_dir=settings.TRACEAPP.weights_dir,
            threads=settings.TRACEAPP.threads,
            on_failure=_stop_without_model,
        )
    )
except WeightsError as error:
    logger.critical("no model: %s", error)
    sys.exit(EXIT_WITHOUT_MODEL)

application = ProtocolTypeRouter({"http": http_application, "websocket": socket_application})
