from __future__ import annotations

import pytest

from cotune.agents.redact import public, public_json


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://me:hunter2@db.example/x", "http://…@db.example/x"),
        ("http://me:hunt@r2@db.example/x", "http://…@db.example/x"),
        ("https://h/v1?api_key=hunter2&token=hunter2", "https://h/v1?api_key=…&token=…"),
        ("https://h/v1?a=1&X-Amz-Signature=hunter2#top", "https://h/v1?a=1&X-Amz-Signature=…#top"),
        (
            "postgresql://h/db?sslmode=on&password=hunter2",
            "postgresql://h/db?sslmode=on&password=…",
        ),
        ("https://h/v1?Subscription-Key=hunter2, again", "https://h/v1?Subscription-Key=… again"),
        ("https://h/v1?sig=hunter2", "https://h/v1?sig=…"),
        ("cotune --api-base 'https://h?key=hunter2'", "cotune --api-base 'https://h?key=…'"),
    ],
)
def test_secrets_in_addresses_are_blanked(address: str, shown: str) -> None:
    assert public(address) == shown
    assert public(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "https://h/v1?version=2&design=flat",
        "scripted:grocery?rate_limit=0.02&noise=0.1",
        "mail me@shop.example about the key = 3",
    ],
)
def test_other_text_stays(text: str) -> None:
    assert public(text) == text


def test_every_text_of_an_object_is_looked_at_and_stays_itself() -> None:
    quoted = 'say "https://h?key=hunter2" \\ twice'
    values = {"a": {"b": [quoted, 1, None]}, "c": ("é", True)}
    assert public_json(values) == {
        "a": {"b": [quoted.replace("hunter2", "…"), 1, None]},
        "c": ["é", True],
    }
