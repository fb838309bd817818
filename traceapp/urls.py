"""The table of HTTP paths."""

from __future__ import annotations

from django.contrib import admin
from django.urls import path
from django.views.decorators.http import require_safe
from django.views.generic import RedirectView

from traceapp import pages
from traceapp.api import api
from traceapp.overview import overview

urlpatterns = [
    path("", pages.home, name="home"),
    path("admin/overview/", admin.site.admin_view(overview), name="overview"),
    # As people type it.
    path("admin", require_safe(RedirectView.as_view(pattern_name="admin:index"))),
    path("admin/", admin.site.urls),
    path("", api.urls),
]
