"""Services that the environment names."""

from __future__ import annotations

import pytest

from cdcwire_evidence.scenarios.services import NotRunError, Registry, given_registry


def test_registry_is_given_by_its_root() -> None:
    assert given_registry({"CDCWIRE_REGISTRY": "http://127.0.0.1:8080/apis/ccompat/v7/"}) == (
        Registry("http://127.0.0.1:8080/apis/ccompat/v7")
    )
    assert given_registry({}) is None


@pytest.mark.parametrize("address", ["127.0.0.1:8080", "http://", "http://me:secret@127.0.0.1"])
def test_url_without_a_registry_is_reported_in_one_line(address: str) -> None:
    with pytest.raises(NotRunError, match="CDCWIRE_REGISTRY has to be http") as caught:
        given_registry({"CDCWIRE_REGISTRY": address})
    assert "secret" not in str(caught.value)
