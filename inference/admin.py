"""The admin site's page for the one row of limits."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from inference.models import LimitsRow, limits_of_environment


@admin.register(LimitsRow)
class LimitsRowAdmin(admin.ModelAdmin[LimitsRow]):
    """Edits the one row. A new one begins with the values that are in force."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return super().has_add_permission(request) and not LimitsRow.objects.exists()

    def has_delete_permission(self, request: HttpRequest, obj: LimitsRow | None = None) -> bool:
        return False

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {
            name: "\n".join(value) if isinstance(value, tuple) else value
            for name, value in asdict(limits_of_environment()).items()
        }

    def save_model(self, request: HttpRequest, obj: LimitsRow, form: Any, change: bool) -> None:
        obj.pk = 1
        super().save_model(request, obj, form, change)
