"""How a page looks, on a screen (light or dark), a phone and paper, and its switches."""

LIGHT = "--ink:#222;--paper:#fff;--band:#f6f6f6;--rule:#e4e4e4;--faint:#666;--focus:#0072B2;--blue:#0072B2"
DARK = "--ink:#e6e6e6;--paper:#16181c;--band:#22252b;--rule:#3a3e46;--faint:#aaa;--focus:#56B4E9;--blue:#2F95DC"
STYLE = f"""
:root{{color-scheme:light dark;{LIGHT}}}@media screen and (prefers-color-scheme:dark){{:root{{{DARK}}}}}
body{{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:auto;padding:0 1rem;color:var(--ink);
background:var(--paper)}}
h2{{margin-top:3rem;border-top:1px solid var(--rule);padding-top:1rem}}h1,h2,h3,p{{overflow-wrap:anywhere}}
.scroll>svg{{width:100%;min-width:30rem;height:auto;font-size:12px;fill:currentColor;color:var(--ink);
forced-color-adjust:preserve-parent-color}}text{{fill:currentColor}}text.note{{fill:var(--faint)}}
table{{border-collapse:collapse;font-size:.9rem}}td,th{{padding:.2rem .6rem;text-align:right;white-space:nowrap}}
td:first-child,th:first-child{{text-align:left;white-space:normal;min-width:7rem}}
td:last-child{{white-space:normal;min-width:9rem}}
tr:nth-child(even){{background:var(--band)}}.scroll{{overflow-x:auto}}
fieldset{{border:0;padding:0;margin:.5rem 0}}legend{{padding:0}}
label{{display:inline-block;margin-right:1rem;white-space:nowrap}}label svg{{width:28px;height:10px}}
pre{{background:var(--band);padding:.6rem;overflow-x:auto;white-space:pre-wrap;text-align:left}}a{{color:inherit}}
:focus-visible{{outline:3px solid var(--focus);outline-offset:2px}}
@media print{{fieldset input,script{{display:none}}h2{{break-before:page}}h3{{break-after:avoid}}
.scroll{{overflow:visible;break-inside:avoid}}.scroll>svg{{min-width:0}}table{{font-size:.7rem}}
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
