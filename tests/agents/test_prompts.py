from __future__ import annotations

import copy
import pickle
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cotune.agents.errors import UsageError
from cotune.agents.prompts import Prompt, PromptBundle, read_prompt

BUNDLE = PromptBundle.of(Prompt("search", "Find it."), Prompt("cart", "Count.", "Keeps count"))

texts = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n"), min_size=1
).filter(lambda text: text == text.strip())


def test_placeholders_are_filled_and_single_braces_are_text() -> None:
    prompt = Prompt("a", 'In {{ store }} and {{city}} say {"x": {}}.')
    assert prompt.placeholders == {"store", "city"}
    assert prompt.render({"store": "A", "city": "B"}) == 'In A and B say {"x": {}}.'


def test_values_are_not_read_as_placeholders() -> None:
    assert Prompt("a", "{{ x }}").render({"x": "{{ y }}"}) == "{{ y }}"


def test_missing_value_names_agent_and_placeholder() -> None:
    with pytest.raises(UsageError, match=r"'cart'.*'store'"):
        Prompt("cart", "{{ store }}").render()


def test_fingerprint_follows_agent_and_text_only() -> None:
    prompt = Prompt("a", "x", "one")
    assert prompt.fingerprint == Prompt("a", "x", "two").fingerprint
    assert prompt.fingerprint != Prompt("a", "y", "one").fingerprint
    assert prompt.fingerprint != Prompt("b", "x", "one").fingerprint


def test_fingerprints_stay_the_same_between_releases() -> None:
    assert Prompt("router", "Choose the agent.").fingerprint == "071eb3efdde97bb0"


def test_bundle_is_ordered_by_name_and_equal_by_content() -> None:
    assert list(BUNDLE) == ["cart", "search"]
    same = PromptBundle.of(*reversed(list(BUNDLE.values())))
    assert same == BUNDLE
    assert hash(same) == hash(BUNDLE)
    assert BUNDLE.length == len("Find it.Count.")
    assert BUNDLE != {"cart": "Count."}


def test_prompt_under_a_wrong_name_is_refused() -> None:
    with pytest.raises(ValueError, match="stored under 'b'"):
        PromptBundle({"b": Prompt("a", "x")})


def test_bundle_is_changed_by_making_another() -> None:
    changed = BUNDLE.with_texts({"cart": "Count twice."})
    assert changed.texts() == {"cart": "Count twice.", "search": "Find it."}
    assert changed["cart"].description == "Keeps count"
    assert BUNDLE["cart"].text == "Count."
    with pytest.raises(KeyError):
        BUNDLE.with_texts({"nobody": "x"})


def test_only_keeps_the_named_agents() -> None:
    assert list(BUNDLE.only("cart")) == ["cart"]
    with pytest.raises(KeyError):
        BUNDLE.only("nobody")


def test_caller_cannot_change_a_bundle_from_outside() -> None:
    prompts = {"a": Prompt("a", "x")}
    bundle = PromptBundle(prompts)
    prompts["a"] = Prompt("a", "y")
    assert bundle["a"].text == "x"


def test_diff_shows_what_differs_and_only_that() -> None:
    diff = BUNDLE.diff(BUNDLE.with_texts({"cart": "Count.\nTwice."}))
    assert "+Twice." in diff
    assert "cart (after)" in diff
    assert "search" not in diff
    assert BUNDLE.diff(BUNDLE) == ""


def test_diff_with_a_missing_agent_shows_its_text_as_removed() -> None:
    assert "-Find it." in BUNDLE.diff(BUNDLE.only("cart"))


@given(texts, st.text(st.characters(exclude_categories=["Cs"])))
@example("---", "")
@example("---\ndescription: no\n---\nstill the text", "")
@example("---\na: b: c\n---", "Sorts.")
@example("x", "\n---\n: # '\"")
@example("x", " " * 100)
def test_saved_bundle_is_read_back_the_same(text: str, description: str) -> None:
    bundle = PromptBundle.of(Prompt("a", text, description), Prompt("b", "other"))
    with tempfile.TemporaryDirectory() as folder:
        bundle.save(Path(folder))
        loaded = PromptBundle.load(Path(folder))
    assert loaded == bundle
    assert loaded["a"].description == description


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.md", "", "the prompt is empty"),
        ("a.md", "---\ndescription: x\n---\n\n", "the prompt is empty"),
        ("a.md", "---\ncolour: red\n---\nHi", "unknown front matter field 'colour'"),
        ("a.md", "---\n- x\n---\nHi", "must be a mapping"),
        ("a.md", "---\na: b: c\n---\nHi", "not valid YAML"),
        ("a.md", "---\ndescription: 2024-13-45\n---\nHi", "not valid YAML"),
        ("a.md", "---\ndescription: [x]\n---\nHi", "must be a text, found ['x']"),
        ("1a.md", "Hi", "cannot be an agent's name"),
    ],
)
def test_bad_file_is_named_with_its_problem(
    tmp_path: Path, name: str, content: str, said: str
) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        PromptBundle.load(tmp_path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("head", ["", "{}", "description:", "# nothing"])
def test_front_matter_may_say_nothing(tmp_path: Path, head: str) -> None:
    (tmp_path / "a.md").write_text(f"---\n{head}\n---\nHi", encoding="utf-8")
    assert read_prompt(tmp_path / "a.md") == Prompt("a", "Hi")


def test_dashes_with_words_do_not_end_the_front_matter(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\ndescription: |\n  x\n---y\n---\nHi", encoding="utf-8")
    with pytest.raises(UsageError, match="not valid YAML"):
        read_prompt(tmp_path / "a.md")


def test_file_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"Gr\xfc\xdfe")
    with pytest.raises(UsageError, match=r"Cannot read the prompt .*a\.md: it is not UTF-8"):
        PromptBundle.load(tmp_path)


def test_folder_without_prompts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No prompts found"):
        PromptBundle.load(tmp_path / "nowhere")


def test_windows_line_ends_are_read_as_plain_ones(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"---\r\ndescription: x\r\n---\r\nOne\r\ntwo\r\n")
    assert read_prompt(tmp_path / "a.md") == Prompt("a", "One\ntwo", "x")


def test_a_bundle_can_be_copied_and_sent_to_another_process() -> None:
    bundle = PromptBundle.of(Prompt("search", "Search."), Prompt("cart", "Add.", "Adds."))
    for copied in (copy.deepcopy(bundle), pickle.loads(pickle.dumps(bundle))):  # noqa: S301
        assert copied == bundle
        assert copied["cart"].description == "Adds."
        assert list(copied) == ["cart", "search"]
