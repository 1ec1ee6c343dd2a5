"""How a page looks, on a screen (light or dark), a phone and paper, and its switches."""

LIGHT = """--ink:#222;--paper:#fff;--band:#8881;--shade:#0003;--rule:#e4e4e4;--faint:#666;--focus:#0072B2;
--blue:#0072B2"""
DARK = """--ink:#e6e6e6;--paper:#16181c;--band:#8882;--shade:#0009;--rule:#3a3e46;--faint:#aaa;--focus:#56B4E9;
--blue:#2F95DC"""
MOST = 40  # columns of which it can be said that they are words
WORDS = ",".join(f".t{k} tr>:nth-child({k})" for k in range(1, MOST + 1))
STYLE = f"""
:root{{color-scheme:light dark;{LIGHT}}}@media screen and (prefers-color-scheme:dark){{:root{{{DARK}}}}}
body{{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:auto;padding:0 1rem;color:var(--ink);
background:var(--paper)}}
h2{{margin-top:2.5rem;border-top:1px solid var(--rule);padding-top:1rem}}h1,h2,h3,p,li{{overflow-wrap:anywhere}}
.lead{{font-size:1.2rem}}.made,.hint{{color:var(--faint);font-size:.85rem}}.hint{{display:none}}
.steps{{padding-left:1.3rem}}.steps>li{{margin-bottom:.8rem}}.steps p{{margin:.4rem 0 0;font-size:.9rem}}
.steps pre{{margin:.2rem 0}}
.legend{{margin:.2rem 0 .6rem;font-size:.85rem}}.legend span{{display:inline-block;margin-right:1.2rem}}
.swatch{{width:auto;height:.8rem;vertical-align:-.05rem;color:var(--ink)}}
.scroll>svg{{display:block;width:100%;min-width:30rem;height:auto;font-size:12px;fill:currentColor;color:var(--ink);
forced-color-adjust:preserve-parent-color}}text{{fill:currentColor}}text.note{{fill:var(--faint)}}
g>circle,g>path{{pointer-events:all}}
table{{border-collapse:collapse;font-size:.9rem}}td,th{{padding:.2rem .6rem;text-align:right;white-space:nowrap}}
td:first-child,th:first-child{{text-align:left;white-space:normal;min-width:3rem}}
th{{white-space:normal;vertical-align:bottom}}
{WORDS}{{text-align:left}}:is({WORDS}):last-child{{white-space:normal;min-width:9rem}}
tr:nth-child(even){{background:var(--band)}}
.scroll{{overflow-x:auto;background:linear-gradient(to right,var(--paper) 40%,transparent) left/3rem 100% local,
linear-gradient(to left,var(--paper) 40%,transparent) right/3rem 100% local,
linear-gradient(to right,var(--shade),transparent) left/1rem 100% scroll,
linear-gradient(to left,var(--shade),transparent) right/1rem 100% scroll;background-repeat:no-repeat}}
fieldset{{border:0;padding:0;margin:.5rem 0}}legend{{padding:0}}
label{{display:inline-block;margin-right:1rem;white-space:nowrap}}label svg{{width:28px;height:10px}}
pre{{background:var(--band);padding:.6rem;overflow-x:auto;white-space:pre-wrap;text-align:left;
overflow-wrap:anywhere}}a{{color:inherit}}
:focus-visible{{outline:3px solid var(--focus);outline-offset:2px}}
@media screen and (max-width:600px){{.hint{{display:block;margin:.4rem 0 0}}}}
@media screen and (min-width:1400px){{body{{max-width:88rem}}p,.steps{{max-width:60rem}}
.parts,.wide .pieces{{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));column-gap:2.5rem}}
.wide{{grid-column:1/-1}}.tall{{grid-row:span 2}}
.part:not(.wide) :is(td,th){{padding:.2rem .4rem}}section>.scroll:has(>svg){{max-width:60rem}}}}
@media print{{fieldset input,script,.hint{{display:none}}h2{{break-before:page}}h3{{break-after:avoid}}
.scroll{{overflow:visible;break-inside:avoid;background:none}}.scroll>svg{{min-width:0}}table{{font-size:.7rem}}
td,th{{padding:.1rem .3rem;white-space:normal}}pre{{white-space:pre-wrap}}}}
"""
SCRIPT = """
for(const box of document.querySelectorAll("input[data-key]")){const show=()=>{
for(const mark of box.closest("section").querySelectorAll("."+box.dataset.key))
mark.style.display=box.checked?"":"none"};box.addEventListener("change",show);show()}
"""
LIVE = """
const version=document.currentScript.dataset.version;
setInterval(()=>fetch("version").then(r=>r.ok?r.text():version).then(now=>{if(now!==version)location.reload()})
.catch(()=>{}),2000);
"""
