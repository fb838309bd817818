"""Who a client is, and how often it may use the model."""

from __future__ import annotations

import asyncio

import pytest
from django.test import AsyncRequestFactory

from inference.errors import RateLimited
from inference.limits import Limits
from traceapp import rates
from traceapp.rates import client_of, take_turn


def request(forwarded=None, peer="198.51.100.1"):
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    made = AsyncRequestFactory().get("/", headers=headers)
    made.META["REMOTE_ADDR"] = peer
    return made


@pytest.mark.parametrize(
    ("proxies", "forwarded", "client"),
    [
        (0, None, "peer"),
        (0, "203.0.113.9", "peer"),  # anybody may write the header
        (0, "203.0.113.9, 203.0.113.8", "peer"),
        (1, "203.0.113.9", "203.0.113.9"),
        (1, "made up, 203.0.113.9", "203.0.113.9"),
        (1, "made up, also made up,203.0.113.9 ", "203.0.113.9"),
        (2, "203.0.113.9, 10.0.0.1", "203.0.113.9"),
        (2, "made up, 203.0.113.9, 10.0.0.1", "203.0.113.9"),
        (1, None, "peer"),  # it did not come through the proxy
        (1, "", "peer"),
        (2, "203.0.113.9", "peer"),
        (2, ", 10.0.0.1", "peer"),
    ],
)
def test_a_client_is_the_peer_or_what_the_outermost_trusted_proxy_saw(
    environment, proxies, forwarded, client
):
    environment(proxies=proxies)
    assert client_of(request(forwarded, peer="peer")) == client


async def turns(count, *, per_minute, **client):
    """How many of so many requests at once were let through."""
    limits = Limits(rate_per_minute=per_minute)
    taken = await asyncio.gather(
        *(take_turn(request(**client), limits) for _ in range(count)), return_exceptions=True
    )
    assert all(turn is None or isinstance(turn, RateLimited) for turn in taken)
    return sum(turn is None for turn in taken)


async def test_of_many_at_once_exactly_the_rate_is_let_through_even_of_a_processs_first():
    for attempt in range(20):
        rates._counter.cache_clear()
        assert await turns(20, per_minute=5, peer=f"192.0.2.{100 + attempt}") == 5


async def test_clients_have_a_rate_each():
    assert await turns(3, per_minute=2, peer="192.0.2.2") == 2
    assert await turns(3, per_minute=2, peer="192.0.2.3") == 2


async def test_a_made_up_header_gives_no_turns_beyond_the_rate(environment):
    environment(proxies=1)
    for made_up in ("a", "b", "c"):
        expected = 2 if made_up == "a" else 0
        forwarded = f"{made_up}, 192.0.2.4"
        assert await turns(3, per_minute=2, forwarded=forwarded) == expected


async def test_a_rate_of_zero_is_no_rate():
    assert await turns(100, per_minute=0, peer="192.0.2.5") == 100


async def test_a_refusal_says_the_rate_and_when_to_come_back():
    await turns(2, per_minute=2, peer="192.0.2.6")
    with pytest.raises(RateLimited) as refused:
        await take_turn(request(peer="192.0.2.6"), Limits(rate_per_minute=2))
    assert "2 requests in a minute" in refused.value.message
    assert 1 <= refused.value.retry_after_seconds <= 60
