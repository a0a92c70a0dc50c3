"""``--schema``: where a verb finds the schemas of Avro."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from cdcwire.cli.context import ContextArguments, context_from
from cdcwire.core.message import KafkaMessage
from cdcwire.formats.avro import FORMAT
from cdcwire.model.events import RowChange
from cdcwire.schema_registry import RegistryError

TEXT = (
    '{"type":"record","name":"t","namespace":"default.s","fields":[{"name":"id",'
    '"type":{"type":"int","connect.parameters":{"tidb_type":"INT"}}}]}'
)


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    ContextArguments.add_to(parser)
    return parser.parse_args(words)


def test_folder_of_schemas_decodes_messages(tmp_path: Path) -> None:
    (tmp_path / "7.avsc").write_text(TEXT, encoding="utf-8")
    context = context_from(parsed("--schema", str(tmp_path)))
    message = KafkaMessage(b"\0\0\0\0\x07\x02", b"\0\0\0\0\x07\x02")
    (event,) = FORMAT.to_events(message, context=context)
    assert isinstance(event, RowChange)
    assert event.after is not None
    assert event.after.values == (1,)


def test_without_it_there_are_no_schemas() -> None:
    assert context_from(parsed()).schemas == {}


def test_verbs_that_do_not_have_it_have_no_schemas() -> None:
    arguments = parsed()
    del arguments.schema, arguments.ca_file
    assert context_from(arguments).schemas == {}


@pytest.mark.parametrize(
    ("place", "advice"),
    [
        ("missing", "a schema is a file <id>.avsc"),
        ("http://u:secret@", "an address is http[s]://"),
        ("u:secret@registry:8081", "an address is http[s]://"),
        ("registry:8081/apis/", "an address is http[s]://"),
        ("ftp://u:secret@registry", "an address is http[s]://"),
    ],
)
def test_place_that_is_none_is_one_line(place: str, advice: str) -> None:
    with pytest.raises(RegistryError) as caught:
        context_from(parsed("--schema", place))
    assert "secret" not in str(caught.value)
    assert advice in str(caught.value)


def test_folder_may_be_called_like_an_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "me@home:80").mkdir()
    (tmp_path / "me@home:80" / "7.avsc").write_text(TEXT, encoding="utf-8")
    assert context_from(parsed("--schema", "me@home:80")).schemas == {"7": TEXT}
