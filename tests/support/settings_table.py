"""The settings table of the README, from the settings themselves. Run as a script it writes the table anew."""

from __future__ import annotations

from pathlib import Path

from recall.settings_sources import Known, known_settings

README = Path(__file__).parents[2] / "README.md"
BEGIN, END = "<!-- settings: `make docs` writes this table -->", "<!-- end of settings -->"
LONGEST_DEFAULT = 40


def table() -> str:
    """Rows of Markdown, one a setting."""
    head = "| setting | default | meaning |\n|---|---|---|\n"
    return head + "".join(_row(setting) for setting in known_settings())


def rewritten(readme: str) -> str:
    """The README with the table as it should be."""
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}{END}{after}"


def _row(setting: Known) -> str:
    doc = setting.doc.replace("|", "\\|")
    return f"| `{setting.path}` | {_default(setting.default)} | {doc} |\n"


def _default(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, frozenset):
        return f"{len(value)} of them"
    text = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return f"`{text}`" if text and len(text) <= LONGEST_DEFAULT else text or "empty"


if __name__ == "__main__":
    README.write_text(rewritten(README.read_text(encoding="utf-8")), encoding="utf-8")
