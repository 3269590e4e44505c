"""The look of the pages that benchmarks write: light and dark, fetching nothing."""

from __future__ import annotations

from html import escape
from typing import Final

STYLE: Final = """
:root{--bg:#fff;--fg:#1c2330;--dim:#667085;--line:#e4e7ec;--s0:#2563a8;--s1:#c2570c;--s2:#13795b;--s3:#8b3fa0;
--s4:#a8862b;--s5:#b3324b;--s6:#3f7f93;--s7:#6b7280;--s8:#7a5230;--s9:#4d6b1f;--s10:#94517a;--s11:#37527e;--s12:#555}
@media(prefers-color-scheme:dark){:root{--bg:#14181f;--fg:#e6e9ef;--dim:#98a2b3;--line:#2b323d;--s0:#6aa9f0;--s1:#f2964f;
--s2:#4fc79d;--s3:#c98be0;--s4:#d9bb62;--s5:#ef7f93;--s6:#7cc0d4;--s7:#a7adb8;--s8:#c79a70;--s9:#a3c46a;--s10:#dc9cc4;
--s11:#8ea9d6;--s12:#aaa}}
body{background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif;max-width:860px;
margin:2rem auto;padding:0 1rem}
h1{font-size:1.4rem;margin-bottom:.2rem}h2{font-size:1.05rem;margin:2rem 0 .4rem}
p{margin:.3rem 0}.dim,li{color:var(--dim)}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .55rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th:first-child,td:first-child{text-align:left}th{font-weight:600}td.best{font-weight:700}
svg{width:100%;height:auto;display:block}svg text{font-size:12px;fill:var(--dim)}.grid{stroke:var(--line)}
.rule{stroke:var(--dim);
stroke-dasharray:3 3}.legend span{display:inline-block;margin-right:1rem}.legend i{display:inline-block;width:.75rem;
height:.75rem;border-radius:2px;margin-right:.35rem}
"""


def document(title: str, heading: str, body: str) -> str:
    """A page of its own; title and heading are plain text, the body is HTML."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width,initial-scale=1"><title>{escape(title)}</title><style>{STYLE}</style></head>'
        f"<body><h1>{escape(heading)}</h1>{body}</body></html>\n"
    )
