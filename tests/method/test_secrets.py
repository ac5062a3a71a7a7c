"""Keys stay in the environment."""

from __future__ import annotations

import logging

import pytest

from method.secrets import Secrets, guard_logs

ENVIRON = {
    "OPENAI_API_KEY": "sk-abcdefgh12345678",
    "LONGER_KEY": "sk-abcdefgh12345678-and-more",
    "GITHUB_TOKEN": "ghp_verysecret",
    "DB_PASSWORD": "hunter22",
    "HF_TOKEN": "EMPTY",
    "KEYBOARD": "qwertz-layout",
    "MONKEY": "banana-split",
    "GATEWAY": "letmein-please",
}


def test_values_of_keys_are_found_by_the_names_of_variables() -> None:
    secrets = Secrets.of_environment(ENVIRON, ["GATEWAY", "NOT_SET", None])
    text = " ".join(ENVIRON.values())
    assert secrets.clean(text) == (
        "[redacted] [redacted] [redacted] [redacted] EMPTY qwertz-layout banana-split [redacted]"
    )
    assert Secrets.of_environment(ENVIRON).clean("letmein-please") == "letmein-please"


@pytest.mark.parametrize(
    "key",
    [
        "sk-proj-Zz09_-Zz09",
        "tvly-dev-0123456789",
        "AIzaSyA-0123456789abcdefghij",
        "hf_0123456789abcdefXYZ",
    ],
)
def test_messages_lose_whatever_looks_like_a_key(key: str) -> None:
    assert Secrets().clean_message(f"wrong key {key}, sorry") == "wrong key [redacted], sorry"
    assert Secrets().clean(f"wrong key {key}") == f"wrong key {key}"


def test_innocent_messages_stay() -> None:
    text = "a task-based key-value risk-averse sk-learn model at https://x.org/pk-1 (Bearer bonds)"
    assert Secrets().clean_message(text) == text.replace("bonds)", "[redacted]")
    assert Secrets().clean_message("temperature must be 1") == "temperature must be 1"


def test_guarded_loggers_print_no_key(caplog: pytest.LogCaptureFixture) -> None:
    guard_logs(Secrets(["very-secret-value"]))
    guard_logs(Secrets(["another-secret-value"]))
    log = logging.getLogger("httpx")
    caplog.set_level(logging.DEBUG, logger="httpx")
    log.info("GET %s with %r", "key very-secret-value", {"k": "another-secret-value"})
    try:
        raise ValueError("very-secret-value")
    except ValueError:
        log.exception("failed for %s", "very-secret-value")
    assert "very-secret" not in caplog.text
    assert "another-secret" not in caplog.text
    assert caplog.text.count("[redacted]") == 5
    assert "ValueError: [redacted]" in caplog.text
