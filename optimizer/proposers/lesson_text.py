"""Lesson text: one call that taught something, written for a reflection model."""

from __future__ import annotations

from ..rollout import Lesson


def lesson_text(lesson: Lesson) -> str:
    """Say what the agent received and returned, and what was wrong with it."""
    lines = [f"Received: {lesson.inputs}", f"Returned: {lesson.output}"]
    if lesson.failed:
        lines.append(f"Wrong: {lesson.feedback}")
        if lesson.rule:
            lines.append(f"Rule: {lesson.rule}")
    else:
        lines.append("Right.")
    return "\n".join(lines)
