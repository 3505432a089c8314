"""What is being tuned: prompts, language models, assistants and the reference assistant.

Code in production needs no more than `load_bundle`; it imports nothing but PyYAML.
"""

from .bundle_source import load_bundle
from .prompts import Prompt, PromptBundle

__all__ = ["Prompt", "PromptBundle", "load_bundle"]
