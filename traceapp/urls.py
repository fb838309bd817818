"""The table of HTTP paths."""

from __future__ import annotations

from django.contrib import admin
from django.urls import path

from traceapp import pages
from traceapp.api import api

urlpatterns = [
    path("", pages.home, name="home"),
    path("admin/", admin.site.urls),
    path("", api.urls),
]
