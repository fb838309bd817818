"""The admin site's pages for the row of limits and the API keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, TypeVar

from django import forms
from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.forms.models import model_to_dict
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from inference.keys import ApiKey
from inference.models import LimitsRow, limits_of_environment

MAX_SHOWN = 200  # characters of a value in the history


Row = TypeVar("Row", bound=Model)


class WithValues(admin.ModelAdmin[Row]):
    """A page whose history names each changed field with its value before and after."""

    def values_before(self, form: Any, *, add: bool) -> Mapping[str, Any]:
        """The values that held before; a field that is not among them had none."""
        return {} if add else form.initial

    def construct_change_message(
        self, request: HttpRequest, form: Any, formsets: Any, add: bool = False
    ) -> list[dict[str, Any]]:
        before = self.values_before(form, add=add)
        # As they are kept: a row may write what was typed in another way.
        kept = model_to_dict(form.instance, fields=list(form.fields))
        after = {name: kept.get(name, form.cleaned_data.get(name)) for name in form.fields}
        changes = [
            f"{name} ({_shown(before.get(name, ''))} → {_shown(value)})"
            for name, value in after.items()
            if value != before.get(name, False)
        ]
        said: list[dict[str, Any]] = [{"added": {}}] if add else []
        return said + ([{"changed": {"fields": changes}}] if changes else [])


@admin.register(LimitsRow)
class LimitsRowAdmin(WithValues[LimitsRow]):
    """Edits the one row. A new one begins with the values that are in force."""

    fieldsets = (
        (
            "One request",
            {
                "fields": (
                    *("max_prompt_characters", "max_prompt_tokens", "max_new_tokens"),
                    *("max_alternatives", "max_completion_tokens", "max_choices"),
                )
            },
        ),
        ("Load", {"fields": ("rate_per_minute", "max_waiting", "deadline_seconds")}),
        ("Access", {"fields": ("key_required", "allowed_origins", "embed_sites")}),
        ("Visitors", {"fields": ("sharing", "sharing_days", "booth_free_text")}),
    )

    def has_add_permission(self, request: HttpRequest) -> bool:
        return super().has_add_permission(request) and not LimitsRow.objects.exists()

    def has_delete_permission(self, request: HttpRequest, obj: LimitsRow | None = None) -> bool:
        return False

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return _in_force()

    def save_model(self, request: HttpRequest, obj: LimitsRow, form: Any, change: bool) -> None:
        obj.pk = 1
        super().save_model(request, obj, form, change)

    def values_before(self, form: Any, *, add: bool) -> Mapping[str, Any]:
        return _in_force() if add else form.initial


def _in_force() -> dict[str, Any]:
    """The values that hold without a row, as a form has them."""
    return {
        name: "\n".join(value) if isinstance(value, tuple) else value
        for name, value in asdict(limits_of_environment()).items()
    }


def _shown(value: object) -> str:
    text = ", ".join(str(value).split()) or "empty"
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


class ApiKeyForm(forms.ModelForm[ApiKey]):
    revoke = forms.BooleanField(
        required=False,
        help_text="From the next request on, nobody is let in with this key. It cannot be undone.",
    )

    class Meta:
        model = ApiKey
        fields = ("name", "rate_per_minute")


@admin.register(ApiKey)
class ApiKeyAdmin(WithValues[ApiKey]):
    """Makes keys, each shown once, and revokes them."""

    form = ApiKeyForm
    list_display = (
        *("name", "beginning", "rate_per_minute", "created_at", "last_used_at", "is_valid"),
    )
    list_filter = (("revoked_at", admin.EmptyFieldListFilter),)
    search_fields = ("name", "beginning")
    actions = ("revoke_selected",)

    def get_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> Any:
        if obj is None:
            return ["name", "rate_per_minute"]
        facts = ["beginning", "created_at", "last_used_at", "revoked_at"]
        return ["name", "rate_per_minute", *([] if obj.revoked_at else ["revoke"]), *facts]

    def get_readonly_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> list[str]:
        return ["beginning", "created_at", "last_used_at", "revoked_at"] if obj else []

    @admin.display(boolean=True, description="valid", ordering="revoked_at")
    def is_valid(self, row: ApiKey) -> bool:
        return row.revoked_at is None

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        if not change:
            # For `response_add`, in this very request; it is kept nowhere else.
            request.made_secret = obj.make_secret()  # type: ignore[attr-defined]
        super().save_model(request, obj, form, change)
        if form.cleaned_data.get("revoke"):
            obj.revoke()

    def response_add(
        self, request: HttpRequest, obj: ApiKey, post_url_continue: str | None = None
    ) -> HttpResponse:
        """The one page that shows the key. A message would be kept in the session."""
        context = {
            **self.admin_site.each_context(request),
            "title": "The new API key",
            "opts": self.opts,
            "key": obj,
            "secret": request.made_secret,  # type: ignore[attr-defined]
        }
        # The admin site lets no answer of its own be stored by a cache.
        return TemplateResponse(request, "admin/inference/apikey/made.html", context)

    @admin.action(description="Revoke selected API keys", permissions=["change"])
    def revoke_selected(self, request: HttpRequest, chosen: QuerySet[ApiKey]) -> None:
        valid = list(chosen.filter(revoked_at=None))
        for row in valid:
            row.revoke()
            self.log_change(request, row, [{"changed": {"fields": ["revoke"]}}])
        self.message_user(request, f"Revoked: {len(valid)}.", messages.SUCCESS)
