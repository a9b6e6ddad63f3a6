"""Our dataclass is that of the standard library, but for the time that it takes."""

import copy
import dataclasses
import inspect
import pickle
from dataclasses import FrozenInstanceError, field

import pytest

from fsagent_tools import records


class Plain:
    """Of every kind of field."""

    name: str
    sizes: list[int] = field(default_factory=list)
    hidden: int = field(default=1, repr=False)
    aside: int = field(default=2, compare=False)
    made: str = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "made", self.name.upper())


def decorated(decorate, **options):
    body = {k: copy.copy(v) for k, v in vars(Plain).items() if k not in ("__dict__", "__weakref__")}
    return decorate(**options)(type("Plain", (), body))


@pytest.fixture(params=[{"frozen": True}, {"frozen": True, "repr": False}, {}], ids=str)
def both(request):
    return [decorated(one, **request.param) for one in (dataclasses.dataclass, records.dataclass)]


def outcome(run):
    try:
        return run()
    except Exception as error:  # noqa: BLE001
        return type(error), str(error) if isinstance(error, TypeError) else ""


@pytest.mark.parametrize(
    "use",
    [
        lambda kind: repr(kind("a")).partition(" at ")[0],
        lambda kind: repr(kind("a", [1], 3, 4)).partition(" at ")[0],
        lambda kind: vars(kind("a", aside=5)),
        lambda kind: kind("a") == kind("a", aside=7),
        lambda kind: kind("a") == kind("a", hidden=7),
        lambda kind: kind("a") == kind("a", [3]),
        lambda kind: kind("a").__eq__(Plain()),
        lambda kind: kind("a").sizes is kind("a").sizes,
        lambda kind: hash(kind("a", ())) == hash(kind("a", (), aside=3)),
        lambda kind: hash(kind("a")),
        lambda kind: kind(),
        lambda kind: kind("a", [], 1, 2, 3),
        lambda kind: kind("a", wrong=1),
        lambda kind: setattr(kind("a"), "name", "b"),
        lambda kind: setattr(kind("a"), "new", "b"),
        lambda kind: delattr(kind("a"), "name"),
        lambda kind: vars(dataclasses.replace(kind("a", [2]), hidden=4)),
        lambda kind: dataclasses.asdict(kind("a")),
        lambda kind: [(one.name, one.type, one.compare) for one in dataclasses.fields(kind)],
        lambda kind: list(inspect.signature(kind).parameters),
        lambda kind: inspect.signature(kind).parameters["name"].annotation,
        lambda kind: (kind.__match_args__, kind.__doc__, kind.hidden, kind.__init__.__qualname__),
        lambda kind: vars(copy.deepcopy(kind("a", [1]))),
        lambda kind: vars(dataclasses.dataclass(frozen=True)(type("B", (kind,), {}))("a")),
        lambda kind: vars(dataclasses.dataclass(type("B", (kind,), {}))("a")),
    ],
)
def test_it_is_as_that_of_the_standard_library(both, use):
    theirs, ours = (outcome(lambda kind=kind: use(kind)) for kind in both)
    assert ours == theirs


def test_one_that_inherits_has_the_fields_of_both():
    @records.dataclass(frozen=True)
    class First:
        one: int = 1

    @records.dataclass(frozen=True)
    class Second(First):
        two: int = 2

    assert repr(Second(two=3)).endswith("Second(one=1, two=3)")
    assert Second() == Second() != First()
    with pytest.raises(FrozenInstanceError, match="one"):
        Second().one = 2


def test_own_methods_stay():
    @records.dataclass(frozen=True)
    class Own:
        one: int

        def __repr__(self):
            return "own"

        def __hash__(self):
            return 7

    assert repr(Own(1)) == "own"
    assert hash(Own(1)) == 7
    assert Own(1) == Own(1)


def test_ours_pickle():
    from fsagent_tools import Policy

    policy = Policy(denied_paths=["*.key"])
    again = pickle.loads(pickle.dumps(policy))
    assert again == policy
    assert again.explain("read", "a.key") == policy.explain("read", "a.key")
