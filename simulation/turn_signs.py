"""Signs in a customer's words that somebody else is speaking: patterns, each with few false alarms.

What a customer quotes, in quotation marks or after "you said", is not their own word.
"""

from __future__ import annotations

import re

_FLAGS = re.IGNORECASE | re.MULTILINE
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|(?<!\w)'[^'\n]{3,}'(?!\w)")
_REPORTED = re.compile(
    r"\byou(?:'ve| have)? (?:just |also |already )?(?:said|told me|wrote|written|asked)\b[^.!?\n]*",
    re.IGNORECASE,
)


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), _FLAGS)


ROLE_FLIP = _any_of(
    r"^\s*(?:assistant|agent|bot|shop|support)\s*:",
    r"\bhow (?:can|may|could) I (?:help|assist)\b",
    r"\bwhat (?:can|may) I (?:do|get|find) for you\b",
    r"\bI(?:'d| would) be (?:happy|glad) to (?:help|assist)\b",
    r"\bI can (?:only )?help (?:you )?(?:with|find)\b",
    r"\b(?:I|we)(?:'ve|'ll| have| will| can)?(?: \w+){0,2}? (?:add|put|plac|remov|updat)(?:ed?)?\b"
    r"[^.?!\n]*\byour (?:cart|basket|order|list)\b",
    r"\bwould you like me to (?:add|put|remove|search|look|find|check|place|proceed)\b",
    r"\banything else I can (?:help|get|do for)\b",
    r"\banything else you(?:'d| would)? (?:like|need|want)\b(?! from me)",
    r"\bthank(?:s| you) for (?:shopping|contacting|choosing|reaching|your (?:purchase|order))\b",
    r"\byour order (?:has been|is|was) (?:placed|confirmed)\b",
    r"\bI(?:'ll| can| will| could) (?:add|put|find|check|remove|place) [^.?!\n]*\bfor you\b",
    r"\bhere are (?:some|a few|the|your) (?:options|products|results|recommendations)\b",
    r"\bI(?:'m| am) (?:the|your|a|an) (?:\w+ )?(?:assistant|bot|agent)\b",
    r"\blet me know if you (?:need (?:any|more|further)|have any (?:\w+ )?questions)",
)

LEAKED_REASONING = _any_of(
    r"</?(?:think|thinking|reasoning|scratchpad)>|<\|\w+\|>|\[/?INST\]",
    r"```|^\s{0,3}#{1,6} \S|\*\*[^*\n]+\*\*",
    r"^\s*[\[{]\s*\"\w+\"|\"(?:message|status|reason)\"\s*:",
    r"^\s*\W*(?:message|status|reason|reasoning|thought|analysis|response|customer|user)\W{0,3}:",
    r"\b(?:the|this) (?:user|customer) (?:wants|needs|asked|asks|should|would|has to|said)\b",
    r"\bas (?:the|a|this) (?:customer|user|shopper|simulated \w+),? I (?:should|need|must|will)\b",
    r"\bI (?:should|need to|must|have to) (?:respond|stay in character|role-?play|pretend)\b",
    r"\b(?:the|my) (?:persona|scenario)\b|\bin character\b",
    r"(?<!\*)\*[a-z][^*\n]{2,60}\*(?!\*)",
    r"[\[(](?:sigh|paus|wait|smil|think|look|nod|laugh|frown|leav|end of)[^\])\n]*[\])]",
    r"###[A-Z][\w-]*###|\[/?(?:end|stop|done|exit)\]|\A\W*(?:satisfied|gave[_ ]up)\W*\Z",
    r"\[(?:your|insert|product|customer|brand|item) ?[\w ]*\]|\{\{.*?\}\}",
)

ERROR_TEXT = _any_of(
    r"\bas an? (?:AI|artificial intelligence|(?:large )?language model)\b",
    r"\bI(?:'m| am) (?:just |only )?an? (?:AI|(?:large )?language model)\b",
    r"\bI(?: can(?:not|'t)|(?:'m| am) (?:unable|not able) to) (?:assist|comply|fulfil+|help)"
    r"(?: you)? with (?:that|this)(?: request)?\b",
    r"\A\W*(?:error|exception|fatal|traceback)\b(?: code)?\W*(?:[:(\[]|\d{3}\b|$)",
    r"Traceback \(most recent call last\)|^\s*File \"[^\"]+\", line \d+",
    r"\A\W*(?:HTTP|status)(?:/[\d.]+)?(?: code| status)?\W*[45]\d\d\b",
    r"\b(?:429|5\d\d)\W+(?:too many requests|internal server|service unavailable|bad gateway)",
    r"\A\W*(?:\w+\.)*[A-Z][a-z]\w*(?:Error|Exception)\b",
    r"\A\W*(?:rate limit|internal server error|service unavailable|request timed out|"
    r"connection (?:refused|reset|timed out|error))",
    r"\b(?:provider|user|assistant|infrastructure|tool|judge) fault \(",
    r"\A\s*(?:null|nan|undefined|n/a|error)\W*\Z",
)


def own_words(message: str) -> str:
    """Return a message without what it quotes."""
    return _REPORTED.sub(" ", _QUOTED.sub(" ", message))


def found(signs: re.Pattern[str], text: str) -> list[str]:
    """Return the signs in a text."""
    return [match[0].strip() for match in signs.finditer(text)]
