"""How a page looks: on a screen, light and dark, on a telephone and on paper."""

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #ffffff; --line: #d0d4d9;
  --shade: #f4f5f7; --quiet: #59616b; --accent: #0060a0; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e7eb; --paper: #15181c;
  --line: #3b424b; --shade: #1f242a; --quiet: #a2abb6; --accent: #6cb8f0; } }
@media print { :root { --ink: #000; --paper: #fff; --line: #999; --shade: #fff;
  --quiet: #333; color-scheme: light; } }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 64rem; color: var(--ink);
  background: var(--paper); font: 1rem/1.55 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.25; }
h2 { font-size: 1.25rem; margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
p { max-width: 44rem; }
h1, h2, p, figcaption { overflow-wrap: anywhere; }
figure { margin: 1.5rem 0; }
figcaption { color: var(--quiet); font-size: .92rem; margin-bottom: .4rem;
  max-width: 44rem; }
.wide { overflow-x: auto; }
.wide > svg { max-width: 100%; height: auto; }
.long { max-height: 34rem; overflow-y: auto; border: 1px solid var(--line);
  width: fit-content; max-width: 100%; }
.long thead th { position: sticky; top: 0; background: var(--shade); }
table { border-collapse: collapse; font-size: .92rem; }
th, td { padding: .3rem .7rem; text-align: left; border-bottom: 1px solid var(--line);
  white-space: nowrap; font-variant-numeric: tabular-nums; }
thead th { border-bottom: 2px solid var(--line); }
td.words { white-space: normal; overflow-wrap: anywhere; min-width: 11rem;
  max-width: 22rem; }
td svg { display: block; }
.number { text-align: right; }
pre { background: var(--shade); padding: .8rem 1rem; overflow-x: auto;
  font-size: .88rem; line-height: 1.4; }
button, input { font: inherit; color: inherit; }
th button { all: unset; cursor: pointer; font-weight: inherit; }
th button::after { content: "\\2195"; content: "\\2195" / ""; padding-left: .35em;
  opacity: .45; }
[aria-sort=ascending] button::after { content: "\\2191"; content: "\\2191" / "";
  opacity: 1; }
[aria-sort=descending] button::after { content: "\\2193"; content: "\\2193" / "";
  opacity: 1; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.tools { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: baseline;
  margin: .4rem 0; font-size: .88rem; color: var(--quiet); }
.tools:empty { display: none; }
.tools input { background: var(--paper); border: 1px solid var(--line);
  border-radius: .25rem; padding: .15rem .45rem; color: var(--ink); }
.download { background: none; border: 1px solid var(--line); border-radius: .25rem;
  padding: .1rem .55rem; cursor: pointer; color: var(--accent); }
@media (max-width: 40rem) { body { padding: 1rem .9rem 3rem; }
  .wide > svg { max-width: none; min-width: 36rem; } }
@media print { body { max-width: none; padding: 0; } h2 { break-after: avoid; }
  p:has(+ figure) { break-after: avoid; }
  p, figure, tr { break-inside: avoid; } figure:has(table) { break-inside: auto; }
  /* Headers come again on every page, of which buttons are not a part. */
  .long thead th { position: static; } th button { display: contents; }
  .wide, .long, pre { overflow: visible; max-height: none; border: 0; }
  .tools { display: none; } th button::after { content: ""; }
  [aria-sort] button::after { padding: 0; }
  .wide > svg { min-width: 0; max-width: 100%; }
  pre { white-space: pre-wrap; } table { font-size: 8pt; }
  th, td { white-space: normal; padding: .15rem .35rem; } }
"""
