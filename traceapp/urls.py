"""The table of HTTP paths."""

from __future__ import annotations

from django.contrib import admin
from django.urls import path, re_path
from django.views.decorators.http import require_safe
from django.views.generic import RedirectView

from traceapp import failures, pages
from traceapp.api import api
from traceapp.overview import overview
from traceapp.sharing import pages as shared
from traceapp.wire.sharing import TRACE_ID

TRACE = f"(?P<trace_id>{TRACE_ID.pattern})"

handler500 = failures.failed

urlpatterns = [
    path("", pages.home, name="home"),
    path("embed", pages.embed, name="embed"),
    re_path(f"^embed/t/{TRACE}\\Z", shared.embedded_trace, name="embedded-trace"),
    re_path(f"^t/{TRACE}\\Z", shared.shared_trace, name="shared-trace"),
    re_path(f"^t/{TRACE}/delete\\Z", shared.delete_shared_trace, name="delete-shared-trace"),
    path("admin/overview/", admin.site.admin_view(overview), name="overview"),
    # As people type it.
    path("admin", require_safe(RedirectView.as_view(pattern_name="admin:index"))),
    path("admin/", admin.site.urls),
    path("", api.urls),
]
