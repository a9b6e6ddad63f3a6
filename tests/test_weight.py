"""Data from outside is weighed at a price that does not depend on what is in it."""

from contextlib import suppress

import pytest

from fsagent_tools.web.search import LARGEST_MESSAGE, check_weight
from tests.conftest import soon

pytestmark = pytest.mark.full


@pytest.mark.parametrize("part", [b'\\",', b'",', b"\\,", b'"\\,', b'\\"\n,'])
def test_a_string_that_does_not_end_is_weighed_as_soon_as_one_that_does(part):
    start, whole = b'{"a":"', LARGEST_MESSAGE // len(part) - 10
    with soon():
        check_weight(start + part * 100_000)
        for text in (start + part * whole, start + part * whole + b'"}'):
            with suppress(ValueError):
                check_weight(text)


def test_what_stands_in_a_string_is_no_value():
    check_weight(b'{"a":"' + b"[{," * 300_000 + b'"}')
    check_weight(b'{"a":"' + b'\\",' * 300_000 + b'"}')
    with pytest.raises(ValueError, match="200,000 values"):
        check_weight(b'{"a":[' + b'"\\"",' * 300_000 + b"1]}")
