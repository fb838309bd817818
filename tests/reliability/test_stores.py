"""Two processes on one PostgreSQL and one Redis, which go away and come back."""

from __future__ import annotations

import itertools
import threading
import time
from contextlib import ExitStack
from hashlib import sha256

import dj_database_url
import httpx
import pytest
from django.db import OperationalError
from django.db.utils import ConnectionHandler

from tests.commands import manage
from tests.reliability.clients import one_trace, without_times
from tests.reliability.test_kills import PASSWORD, Administrator
from tests.serving import FOR_TESTS, Server
from tests.stores import PostgreSQL, Redis

pytestmark = pytest.mark.timeout(300)

# A NUL, markup, quotes, bidi overrides, an emoji that is cut into tokens, a formula.
HOSTILE = "=1+1\0</script><b>'\"\u202e\u2066🦊\u2028"
RATE = 6


class Pair:
    """Two servers, the stores that they share, and clients of them."""

    def __init__(self, stack: ExitStack, folder, tiny_folder) -> None:
        self._stack = stack
        self._numbers = itertools.count(1)
        self.postgresql, self.redis = PostgreSQL(), Redis()
        for store in (self.postgresql, self.redis):
            stack.callback(store.remove)
            store.start()
        given = FOR_TESTS | {
            "TRACEAPP_DATA_DIR": str(folder),
            "DATABASE_URL": self.postgresql.url,
            "REDIS_URL": self.redis.url,
            "TRACEAPP_MODEL_PATH": str(tiny_folder),
            "SECRET_KEY": "one key for both of the processes, and long enough to be one",
            "TRACEAPP_PROXIES": "1",  # so that each visitor can be a client of its own
        }
        migrated = manage("migrate", "--verbosity", "0", **given)
        assert migrated.returncode == 0, migrated.stderr
        self.servers = [Server(**given) for _ in range(2)]
        for server in self.servers:
            stack.callback(server.stop)
        made = manage(
            *("createsuperuser", "--no-input", "--username", "ada", "--email", "ada@example.com"),
            DJANGO_SUPERUSER_PASSWORD=PASSWORD,
            **given,
        )
        assert made.returncode == 0, made.stderr
        for server in self.servers:
            server.wait_until_ready()
        self.administrator = stack.enter_context(Administrator(self.servers[0].url))

    def visitors(self) -> list[httpx.Client]:
        """One person, as a client of each server: of an address that nobody had before."""
        headers = {"X-Forwarded-For": f"198.51.100.{next(self._numbers)}"}
        return [
            self._stack.enter_context(httpx.Client(base_url=s.url, headers=headers, timeout=60))
            for s in self.servers
        ]

    def wait_until(self, is_so) -> float:
        """How long it takes until something is so again."""
        begun = time.monotonic()
        while not is_so():
            assert time.monotonic() - begun < 60
            time.sleep(0.1)
        return time.monotonic() - begun


@pytest.fixture(scope="module")
def pair(tmp_path_factory, tiny_folder):
    with ExitStack() as stack:
        made = Pair(stack, tmp_path_factory.mktemp("pair"), tiny_folder)
        yield made
    for server in made.servers:
        assert "Traceback" not in server.log.whole()


def traced(client, **fields):
    answer = client.post("/v1/traces?include=analysis", json=one_trace(max_new_tokens=2, **fields))
    assert answer.status_code == 200, answer.text
    return {"trace": answer.json(), "receipt": answer.headers["X-Trace-Receipt"]}


def is_rate(rate, statuses):
    """Whether these were counted together; a minute that ends among them may let one more in."""
    return statuses.count(200) in (rate, rate + 1) and set(statuses) == {200, 429}


def code_of(answer):
    return answer.json()["error"]["code"]


def test_two_processes_share_what_is_stored(pair, row):
    """Two processes: limits, rates, keys and shared traces."""
    first, second = pair.visitors()
    pair.administrator.save(RATE)
    rates = [each.get("/v1/limits").json()["rate_per_minute"] for each in (first, second)]
    row.holds("an admin's save counts at once in both", f"{rates}", rates == [RATE, RATE])

    statuses = [
        client.post("/v1/traces", json=one_trace(max_new_tokens=1)).status_code
        for client in [first, second] * RATE
    ]
    row.holds(
        f"rate {RATE}: so many of {2 * RATE} served, by both together",
        f"{statuses.count(200)} served, {statuses.count(429)} refused",
        is_rate(RATE, statuses),
    )

    secret = f"tt_{'k' * 43}"
    digest = sha256(secret.encode()).hexdigest()
    pair.postgresql.query(
        "INSERT INTO inference_apikey (name, rate_per_minute, beginning, digest, created_at) "
        f"VALUES ('class 9b', 3, 'tt_kkkk', '{digest}', now())"
    )

    def with_key():
        return [
            client.post(
                "/v1/traces",
                json=one_trace(max_new_tokens=1),
                headers={"Authorization": f"Bearer {secret}"},
            ).status_code
            for client in [first, second] * 3
        ]

    used = with_key()
    pair.postgresql.query("UPDATE inference_apikey SET revoked_at = now()")
    revoked = with_key()
    row.holds(
        "a key's own rate of 3 for both together; revoked, neither takes it",
        f"{used}, {revoked}",
        is_rate(3, used) and revoked == [401] * 6,
    )

    pair.administrator.save(0)
    sent = traced(first, prompt=HOSTILE)
    shared = second.post("/v1/shared-traces", json=sent)
    assert shared.status_code == 201, shared.text
    stored = first.get(f"/v1/shared-traces/{shared.json()['id']}").json()["trace"]
    page = first.get(f"/t/{shared.json()['id']}")
    row.holds(
        "a hostile trace of one, shared by the other, is read back to the last digit",
        f"{shared.status_code}, page {page.status_code}",
        stored == sent["trace"] and page.status_code == 200 and "<b>'" not in page.text,
    )
    token = {"X-Delete-Token": shared.json()["delete_token"]}
    path = f"/v1/shared-traces/{shared.json()['id']}"
    removed = first.delete(path, headers=token).status_code, second.get(path).status_code
    row.holds("removed by one, gone in the other", f"{removed}", removed == (204, 404))


def test_redis_may_go_and_come_back(pair, row):
    """Redis goes away and comes back."""
    pair.administrator.save(RATE)
    for name, leave, come_back in (
        ("killed", pair.redis.crash, pair.redis.start),
        ("frozen", pair.redis.freeze, pair.redis.thaw),
    ):
        leave()
        begun = time.monotonic()
        statuses = [
            each.post("/v1/traces", json=one_trace(max_new_tokens=1)).status_code
            for each in [*pair.visitors() * RATE, *pair.visitors()]
        ]
        slowest = time.monotonic() - begun
        row.holds(
            f"{name}: each process counts by itself, and nobody is refused for it",
            f"{statuses.count(200)} of {len(statuses)} served",
            statuses == [200] * len(statuses),
        )
        row.measures(f"{name}: nothing hangs, 10 s for all", f"{slowest:.1f} s", slowest < 10)
        come_back()

        def counted_together():
            visitors = pair.visitors()
            answers = [
                each.post("/v1/traces", json=one_trace(max_new_tokens=1)).status_code
                for each in visitors * RATE
            ]
            return is_rate(RATE, answers)

        waited = pair.wait_until(counted_together)
        row.holds(f"{name}: counted together again", f"after {waited:.1f} s", True)
    pair.administrator.save(0)


def test_the_database_may_go_and_come_back(pair, row):
    """The database goes away and comes back."""
    first, second = pair.visitors()
    right = traced(first)
    promised, refused, others = {first: [], second: []}, [], []
    over = threading.Event()

    def both_promise(more):
        before = {client: len(ids) for client, ids in promised.items()}
        return lambda: all(len(promised[client]) >= n + more for client, n in before.items())

    def share_without_end(client):
        while not over.wait(0.02):
            answer = client.post("/v1/shared-traces", json=right)
            if answer.status_code == 201:
                promised[client].append(answer.json()["id"])
            elif (answer.status_code, code_of(answer)) == (503, "storage_unavailable"):
                refused.append(int(answer.headers["Retry-After"]))
            else:
                others.append((answer.status_code, answer.text))

    sharers = [threading.Thread(target=share_without_end, args=[c]) for c in (first, second)]
    for sharer in sharers:
        sharer.start()
    try:
        for name, leave, come_back in (
            ("killed", pair.postgresql.crash, pair.postgresql.start),
            ("frozen", pair.postgresql.freeze, pair.postgresql.thaw),
        ):
            pair.wait_until(both_promise(1))
            leave()
            before = len(refused)
            pair.wait_until(lambda: len(refused) >= before + 2)  # noqa: B023 - used at once
            begun = time.monotonic()
            away = [traced(client)["trace"] for client in pair.visitors()]
            said = [
                code_of(first.get("/v1/shared-traces/AAAAAAAAAAAAAAAAAAAAAA")),
                first.post("/v1/completions", json={"prompt": "the"}).status_code,
                first.post(
                    "/v1/completions",
                    json={"prompt": "the"},
                    headers={"Authorization": f"Bearer tt_{'x' * 43}"},
                ).json()["error"]["type"],
                first.get("/").status_code,
                first.post("/", data={"example": "pattern"}).status_code,
                first.get("/t/AAAAAAAAAAAAAAAAAAAAAA").status_code,
                pair.administrator.page().status_code,
                first.get("/health").status_code,
            ]
            took = time.monotonic() - begun
            row.holds(
                f"{name}: traces and pages go on; what needs it says so",
                f"{said}",
                said == ["storage_unavailable", 200, "server_error", 200, 200, 503, 503, 200]
                and all(without_times(a) == without_times(right["trace"]) for a in away),
            )
            row.measures(
                f"{name}: nothing hangs, 30 s for eleven requests", f"{took:.1f} s", took < 30
            )
            come_back()
            waited = pair.wait_until(both_promise(2))
            row.holds(f"{name}: stored again by itself", f"after {waited:.1f} s", True)
    finally:
        over.set()
        for sharer in sharers:
            sharer.join()
    stored = [each for ids in promised.values() for each in ids]
    row.holds(
        "only 201, and 503 with Retry-After",
        f"{len(stored)} stored, {len(refused)} refused, {len(others)} others",
        not others and min(refused) > 0,
    )
    lost = [each for each in stored if second.get(f"/v1/shared-traces/{each}").status_code != 200]
    row.holds("no promised row lost", f"{len(lost)} of {len(stored)}", not lost)
    pair.wait_until(lambda: pair.administrator.page().status_code == 200)


def test_a_query_without_an_end_has_one(pair, row, settings, django_db_blocker):
    """The database is slow."""
    settings.QUERY_SECONDS = 1.0
    given = dj_database_url.parse(pair.postgresql.url, engine="traceapp.postgresql")
    connection = ConnectionHandler({"default": given})["default"]
    with django_db_blocker.unblock():
        begun = time.monotonic()
        with pytest.raises(OperationalError), connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(60)")
        took = time.monotonic() - begun
        connection.close()  # as Django does after an error
        with connection.cursor() as cursor:
            cursor.execute("SELECT 7")
            after = cursor.fetchone()
        connection.close()
    row.holds(
        "a query of 60 s ends after the second that it may take, and the next is answered",
        f"{took:.1f} s, {after}",
        1 <= took < 30 and after == (7,),
    )
