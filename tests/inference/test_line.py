"""Who is next and who makes room, without a model."""

from __future__ import annotations

from inference.engine.types import GenerationRequest, SamplingParams
from inference.jobs import Job
from inference.line import Caller, Line
from inference.pace import ENOUGH, Pace

REQUEST = GenerationRequest(
    prompt_ids=(97,), max_tokens=1, num_candidates=1, sampling=SamplingParams()
)


class Named(Job):
    name: object


def job(name, client=None, lane=None, *, keeps_place=False):
    caller = Caller(client=client, lane=lane or client) if client else None
    made = Named(REQUEST, 0.0, lambda item: None, caller=caller, keeps_place=keeps_place)
    made.name = name
    return made


def line_of(*jobs):
    line = Line()
    for each in jobs:
        line.add(each)
    return line


def order(line):
    return [each.name for each in line]


def served(line):
    return order([line.take() for _ in range(len(line))])


def test_one_lane_is_served_first_come_first_served():
    line = line_of(*(job(n, "ada") for n in range(4)))
    assert order(line) == served(line) == [0, 1, 2, 3]


def test_those_that_are_nobodys_are_served_first_come_first_served():
    assert served(line_of(*(job(n) for n in range(4)))) == [0, 1, 2, 3]


def test_lanes_take_turns_however_many_one_has_sent():
    line = line_of(*(job(f"greedy{n}", "greedy") for n in range(4)))
    line.add(job("ada", "ada"))
    line.add(job("bob", "bob"))
    line.add(job("ada again", "ada"))
    assert served(line) == [
        *("greedy0", "ada", "bob", "greedy1", "ada again", "greedy2", "greedy3"),
    ]


def test_one_that_comes_later_waits_behind_one_request_of_a_greedy_lane_at_most():
    line = line_of(*(job(f"greedy{n}", "greedy") for n in range(9)))
    for _ in range(3):
        line.take()
    line.add(job("ada", "ada"))
    assert order(line)[:2] == ["greedy3", "ada"]
    line.take()
    assert order(line)[:2] == ["ada", "greedy4"]
    line.take()
    line.add(job("ada again", "ada"))
    assert order(line)[:2] == ["greedy4", "ada again"]


def test_a_greedy_lane_is_served_in_its_turn_however_many_others_come():
    line = line_of(*(job(f"greedy{n}", "greedy") for n in range(5)))
    taken = []
    for n in range(20):
        line.add(job(f"new{n}", f"new{n}"))
        line.add(job(f"more{n}", f"more{n}"))
        taken += order([line.take()])
    assert taken.count("greedy0") == taken.count("greedy1") == 1


def test_a_class_behind_one_address_takes_turns_as_so_many_and_not_as_one():
    line = line_of(*(job(f"pupil{n}", "school", f"socket{n}") for n in range(3)))
    line.add(job("ada", "ada"))
    line.add(job("ada again", "ada"))
    assert served(line) == ["pupil0", "pupil1", "pupil2", "ada", "ada again"]


def test_who_leaves_the_line_is_out_of_it_and_the_lane_moves_up():
    first, second, other = job("a", "ada"), job("a again", "ada"), job("bob", "bob")
    line = line_of(first, second, other)
    line.remove(first)
    assert first not in line
    assert second in line
    assert order(line) == ["a again", "bob"]
    line.remove(second)
    assert served(line) == ["bob"]


def test_the_place_that_is_told_beforehand_is_the_place_that_is_got():
    line = line_of(*(job(n, "greedy") for n in range(3)))
    for name in ("ada", "greedy", "bob", "ada"):
        caller = Caller(name, name)
        place = line.place_of_next(caller)
        added = job("new", name)
        line.add(added)
        assert list(line)[place] is added


def test_the_largest_client_makes_room_for_a_small_one_with_its_last():
    line = line_of(*(job(n, "greedy", f"socket{n}") for n in range(7)), job("bob", "bob"))
    ada = Caller("ada", "ada")
    assert line.share() == 2
    makes_room = line.who_makes_room_for(ada, among=8)
    assert isinstance(makes_room, Named)
    assert makes_room.name == 6
    among_three = line.who_makes_room_for(ada, among=3)
    assert isinstance(among_three, Named)
    assert among_three.name == 2


def test_nobody_makes_room_for_a_client_that_has_its_share():
    line = line_of(*(job(n, "greedy") for n in range(6)), job("a", "ada"), job("b", "ada"))
    assert line.who_makes_room_for(Caller("ada", "another socket"), among=8) is None
    assert line.who_makes_room_for(Caller("greedy", "greedy"), among=8) is None


def test_a_client_within_its_share_makes_no_room():
    line = line_of(*(job(n, f"client{n % 4}") for n in range(8)))
    assert line.who_makes_room_for(Caller("ada", "ada"), among=8) is None


def test_what_has_begun_keeps_its_place():
    line = line_of(*(job(n, "greedy", keeps_place=n > 2) for n in range(6)))
    makes_room = line.who_makes_room_for(Caller("ada", "ada"), among=6)
    assert isinstance(makes_room, Named)
    assert makes_room.name == 2


def test_a_line_remembers_no_lane_that_has_nothing_to_wait_for():
    line = line_of(job("stays", "first"))
    for n in range(9):
        line.add(job(n, f"client{n}"))
        line.take()
    assert len(line._lanes) == len(line) == 1


# How long it takes


def paced(*seconds, choices=1):
    pace = Pace()
    for each in seconds:
        pace.note(each, choices=choices, is_whole=True)
    return pace


def test_nobody_is_late_before_enough_has_run_to_tell():
    assert paced(*[100.0] * (ENOUGH - 1)).seconds_late(50, 1.0, max_batch=1) == 0


def test_who_waits_is_late_by_what_those_before_and_the_own_run_take_too_long():
    pace = paced(*[1.0] * ENOUGH)  # as long as it takes for granted
    assert pace.seconds_late(9, 10.0, max_batch=1) == 0
    assert pace.seconds_late(10, 10.0, max_batch=1) == 1
    assert pace.seconds_late(40, 10.0, max_batch=4) == 1
    assert pace.seconds_late(0, 0.1, max_batch=1) == 0  # who need not wait is never late


def test_a_request_of_many_choices_takes_as_many_lanes():
    one, eight = paced(*[1.0] * ENOUGH), paced(*[1.0] * 50, choices=8)
    assert one.retry_after(8, max_batch=8) == 1
    assert eight.retry_after(8, max_batch=8) == 8


def test_what_was_cut_off_counts_only_where_it_was_slow():
    pace = Pace()
    for _ in range(50):
        pace.note(0.01, choices=1, is_whole=False)
    assert pace.retry_after(10, max_batch=1) == 10
    for _ in range(50):
        pace.note(5.0, choices=1, is_whole=False)
    assert pace.retry_after(10, max_batch=1) == 50
