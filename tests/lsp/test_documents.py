"""A server may be faster than the one who tells it, or later than the next question."""

from threading import Lock, Thread

import pytest

from fsagent_tools.lsp.changes import DiskChanges
from fsagent_tools.lsp.documents import Documents
from fsagent_tools.lsp.watch import Watch

URI = "file:///a.json"
MOMENT = 0.5  # seconds that a thread which has to wait is waited for


@pytest.fixture
def documents():
    return Documents(lambda method, params: None)


def asked(documents, text, uri=URI):
    with documents.held(uri, "json", 0) as document:
        documents.send(document, text)
    return document


def test_an_answer_counts_however_soon_it_comes():
    def answer_at_once(method, params):
        named = params["textDocument"]
        text = params.get("contentChanges", [named])[0]["text"]
        documents.publish({**named, "diagnostics": [text]})

    documents = Documents(answer_at_once)
    with documents.held(URI, "json", 0) as document:
        for text in ("one", "two", "two"):
            documents.send(document, text)
            assert document.items == [text]


def test_an_answer_to_what_was_open_before_is_not_taken_for_one_to_what_is_opened_again(documents):
    old = asked(documents, "one").version
    documents.changed("/a.json")
    document = asked(documents, "two")
    documents.publish({"uri": URI, "version": old, "diagnostics": ["one"]})
    assert document.items is None
    documents.publish({"uri": URI, "version": document.version, "diagnostics": ["two"]})
    assert document.items == ["two"]


def test_what_may_be_said_of_the_file_on_disk_is_no_sure_answer_to_the_text_that_was_sent():
    documents = Documents(lambda method, params: None, versioned=True)
    document = asked(documents, "one")
    documents.publish({"uri": URI, "diagnostics": ["of the disk"]})
    assert not document.sure
    documents.publish({"uri": URI, "version": document.version, "diagnostics": ["one"]})
    assert (document.items, document.sure) == (["one"], True)


def test_an_old_answer_does_not_slip_in_while_the_next_question_is_sent(documents):
    document = asked(documents, "one")
    sender = Thread(target=documents.send, args=(document, "two"))

    class Params(dict):
        def get(self, key):
            sender.start()
            sender.join(MOMENT)  # it waits for us, or has overtaken us
            return self[key]

    documents.publish(Params(uri=URI, version=document.version, diagnostics=["one"]))
    sender.join()
    assert (document.text, document.items) == ("two", None)


def test_who_waited_for_a_document_that_was_closed_meanwhile_hears_the_answer(documents):
    class LateLock:
        def __init__(self):
            self.lock, self.release = Lock(), None

        def acquire(self, timeout=-1, *, blocking=True):
            if blocking and timeout == 0 and not self.release:
                self.release = self.lock.release
                for number in range(64):  # so many make room for themselves
                    asked(documents, "other", f"file:///{number}.json")
            return self.lock.acquire(blocking=False)

    asked(documents, "one").lock = LateLock()
    document = asked(documents, "two")
    documents.publish({"uri": URI, "diagnostics": ["two"]})
    assert document.items == ["two"]


@pytest.fixture
def changes(documents, tmp_path):
    """A function: name -> the document, asked about after what changed on disk is told."""
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text("")
    told = DiskChanges(Watch([tmp_path], (".json",), ()), documents)

    def announce(name):
        path = tmp_path / name
        with documents.held(path.as_uri(), "json", 0) as document:
            told.announce(document, str(path), float("inf"), lambda changes: None)
        return document

    return announce


def test_what_is_asked_before_a_change_is_of_the_state_before_it_though_sent_later(
    changes, documents, tmp_path
):
    first = changes("a.json")
    (tmp_path / "b.json").write_text("new")
    changes("b.json")
    documents.send(first, "")
    changes("a.json")
    assert first.asked != first.state


def test_a_file_that_changes_while_it_is_asked_about_counts_as_changed_afterwards(
    changes, documents, tmp_path
):
    path = tmp_path / "b.json"
    with documents.held(path.as_uri(), "json", 0) as other:
        documents.send(other, "")
        path.write_text("new")
        before = changes("a.json").asked
        assert other.version
    assert changes("a.json").asked > before
    assert not other.version
    assert changes("a.json").asked == before + 1
