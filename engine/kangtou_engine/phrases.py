"""Fixed phrases that say nothing about cards: all that may be said where talk is restricted. HS-11.4."""

from __future__ import annotations

from collections.abc import Mapping

# By id, as it is sent: (English, Chinese).
PHRASES: Mapping[str, tuple[str, str]] = {
    "hello": ("Hello", "你好"),
    "thanks": ("Thank you", "谢谢"),
    "well_played": ("Well played", "打得好"),
    "hurry": ("Please hurry", "请快一点"),
    "moment": ("Sorry, a moment", "不好意思，稍等"),
    "goodbye": ("Goodbye", "再见"),
}


def phrase(code: str, lang: str) -> str:
    """A phrase in "en" or "zh"; the id itself if it is none of ours."""
    texts = PHRASES.get(code)
    return code if texts is None else texts[lang == "zh"]
