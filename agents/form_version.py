"""Versions of the forms of files: what is read says which one it has."""

from __future__ import annotations

from pydantic import AfterValidator


def of_version(known: int) -> AfterValidator:
    """Return what refuses any version of a form but the known one, as a field's annotation."""

    def is_known(version: int) -> int:
        if version != known:
            raise ValueError(
                f"this cotune reads version {known}; a newer version needs a newer cotune"
            )
        return version

    return AfterValidator(is_known)
