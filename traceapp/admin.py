"""The admin site's pages for shared traces: to find, look at and remove, never to edit."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html

from traceapp.models import SharedTrace
from traceapp.sharing.wording import one_line


@admin.register(SharedTrace)
class SharedTraceAdmin(admin.ModelAdmin[SharedTrace]):
    list_display = ("id", "beginning", "page", "model_alias", "created_at", "expires_at")
    list_filter = ("model_alias", "created_at", "expires_at")
    search_fields = ("=id", "prompt", "model_alias", "model_repository")
    search_help_text = "By the whole id, by the model's name, or by what the prompt says."
    fields = (
        *("id", "prompt", "model_alias", "model_repository", "model_revision"),
        *("created_at", "expires_at", "page"),
    )
    show_full_result_count = False
    view_on_site = False  # that link wants the sites framework; `page` does without

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: SharedTrace | None = None) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: SharedTrace | None = None) -> bool:
        # Who may remove must be able to look; the right to change is asked of nobody.
        return super().has_view_permission(request, obj) or self.has_delete_permission(request, obj)

    @admin.display(description="prompt")
    def beginning(self, trace: SharedTrace) -> str:
        return one_line(trace.prompt)

    @admin.display(description="page")
    def page(self, trace: SharedTrace) -> str:
        return format_html('<a href="{}">Open the page</a>', trace.get_absolute_url())
