"""Django's settings. The environment is read in `env.py`; see docs/settings.md."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import dj_database_url
import django_stubs_ext
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from pydantic import ValidationError

from inference.generate_config import GenerateConfig
from traceapp.env import Environment
from traceapp.secret_key import kept_secret_key

django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent

try:
    TRACEAPP = Environment()
except ValidationError as error:
    raise ImproperlyConfigured(
        "; ".join(
            f"{Environment.variable(str(e['loc'][0]))}: {e['msg']}" if e["loc"] else e["msg"]
            for e in error.errors()
        )
    ) from None

# What requests of the OpenAI endpoints get for the fields that they leave out.
GENERATE_CONFIG = GenerateConfig()
# `serve` sets these from its flags, before anything reads them.
SERVED_MODEL_NAME: str | None = None
PROFILE_OUTPUT: Path | None = None
QUERY_SECONDS: float | None = None  # for each query of PostgreSQL

DEBUG = TRACEAPP.debug
SECRET_KEY = TRACEAPP.secret_key or kept_secret_key(TRACEAPP.data_dir)
ALLOWED_HOSTS = list(TRACEAPP.allowed_hosts)

INSTALLED_APPS = [
    "traceapp",
    "inference",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "axes",  # counts failed attempts to log in
    "ninja",  # serves its own copy of the API documentation's scripts
]

MIDDLEWARE = [
    "traceapp.middleware.requests.Requests",
    "traceapp.middleware.last_answers.LastAnswers",
    "traceapp.middleware.inline.Security",
    # Outside of what answers by itself, so that every answer has them.
    "traceapp.middleware.inline.XFrameOptions",
    "traceapp.middleware.policies.Policies",
    "traceapp.middleware.static_files.StaticFiles",
    "traceapp.middleware.metering.Metering",
    "traceapp.middleware.json_errors.JsonErrors",
    "traceapp.middleware.origins.Origins",
    "traceapp.middleware.keys.Keys",  # within Origins: pages of listed sites can read the refusal
    "traceapp.middleware.inline.Common",
    "traceapp.middleware.direct.Direct",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "axes.middleware.AxesMiddleware",  # the last: it turns a refused login into a 429
]

SILENCED_SYSTEM_CHECKS = [
    # They look for two of Django's names in the list above; ours are subclasses.
    *("security.W001", "security.W002"),
    # Other names under this one, and the browsers' built-in list, are for their owner to decide.
    *("security.W005", "security.W021"),
]

ROOT_URLCONF = "traceapp.urls"
ASGI_APPLICATION = "traceapp.asgi.application"
APPEND_SLASH = False  # a redirect would turn a POST into a GET

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

_SQLITE = {
    "ENGINE": "django.db.backends.sqlite3",
    "NAME": TRACEAPP.data_dir / "token-trace.sqlite3",
    # Without these, eight concurrent writers meet "database is locked".
    "OPTIONS": {
        "transaction_mode": "IMMEDIATE",
        "timeout": 5,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    },
}
_DATABASE: Any = dj_database_url.parse(TRACEAPP.database_url) if TRACEAPP.database_url else _SQLITE
if _DATABASE["ENGINE"] == "django.db.backends.postgresql":
    _DATABASE["ENGINE"] = "traceapp.postgresql"  # whose queries end
    _DATABASE.setdefault("OPTIONS", {}).setdefault("connect_timeout", 3)
DATABASES = {"default": _DATABASE}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
# Five wrong passwords for one name from one address, then fifteen minutes of rest. Not the address
# alone: a school has one, and a pupil must not lock the teacher out.
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_CLIENT_IP_CALLABLE = "traceapp.rates.login_address"
AXES_DISABLE_ACCESS_LOG = True  # who logged in well is not noted once more
AXES_SENSITIVE_PARAMETERS = ["username", "ip_address", "password", "csrfmiddlewaretoken"]
AXES_ALLOWED_CORS_ORIGINS = ""
AXES_VERBOSE = False

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]

STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / ".collected"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if not DEBUG
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}

# The endpoints have limits of their own, applied before a body is held; this is the last line.
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True

SECURE_CONTENT_TYPE_NOSNIFF = True
# An address of a shared trace is a secret, which no other site is to be told.
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"  # but for what `framing.allow_frames` lets be framed
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:", "blob:"],  # figures that the page itself makes
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}
if TRACEAPP.proxies:  # else a visitor could write this header
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
if TRACEAPP.https:
    SECURE_SSL_REDIRECT = True
    # These are asked from within, past the proxy.
    SECURE_REDIRECT_EXEMPT = [r"^health$", r"^metrics(/json)?$"]
    SECURE_HSTS_SECONDS = 365 * 24 * 3600
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "traceapp.logs.DiscreetFormatter",
            "format": "{asctime} {levelname} {name}: {message}",
            "style": "{",
            "as_json": TRACEAPP.log_format == "json",
        },
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        # Without Django's own handlers, which would write tracebacks with their messages.
        "django": {"level": "INFO"},
        # Each refusal by status would be a line; what fails is logged where it fails.
        "django.request": {"level": "CRITICAL"},
        # A wrong Host header is the sender's affair: a 400, and no traceback of ours.
        "django.security.DisallowedHost": {"level": "CRITICAL"},
        "axes": {"level": "ERROR"},  # its lines hold addresses and names; its table has them
    },
}
