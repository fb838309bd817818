"""The table of HTTP paths."""

from __future__ import annotations

from django.contrib import admin
from django.urls import path

from traceapp.api import api

urlpatterns = [
    path("admin/", admin.site.urls),
    path("", api.urls),
]
