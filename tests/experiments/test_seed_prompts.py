"""What an assistant says of prompts that a run would try."""

from __future__ import annotations

from pathlib import Path

from cotune.agents.adapters.settings import LangGraphSettings
from cotune.agents.prompts import Prompt, PromptBundle
from cotune.experiments.seed_prompts import unfit_for

GRAPH = """
from langgraph.graph import START, MessagesState, StateGraph

def build(prompts):
    def front(state):
        return {"messages": [("assistant", prompts["front"] + prompts["back"])]}
    if "{" in prompts["back"]:
        raise ValueError("braces")
    graph = StateGraph(MessagesState)
    graph.add_node("front", front)
    graph.add_node("back", lambda state: {})
    graph.add_edge(START, "front")
    assert prompts["front"]
    return graph.compile()
"""


def test_a_proposal_for_one_agent_is_looked_at_with_the_prompts_of_the_others(tmp_path: Path):
    (tmp_path / "graph_of_two.py").write_text(GRAPH)
    graph = LangGraphSettings(kind="langgraph", path="graph_of_two:build", folder=tmp_path)
    seed = PromptBundle.of(Prompt("front", "Greet."), Prompt("back", "Serve."))
    unfit = unfit_for(graph, seed)
    assert unfit(PromptBundle.of(Prompt("front", "Greet them."))) is None
    assert "braces" in (unfit(PromptBundle.of(Prompt("back", "Serve {it}."))) or "")
