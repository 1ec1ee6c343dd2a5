"""How a page looks, on a screen, a phone and paper, and its switches."""

STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:auto;padding:0 1rem;color:#222;background:#fff}
h2{margin-top:3rem;border-top:1px solid #ddd;padding-top:1rem}
.scroll>svg{width:100%;min-width:30rem;height:auto;font-size:12px}
table{border-collapse:collapse;font-size:.9rem}td,th{padding:.2rem .6rem;text-align:right;white-space:nowrap}
td:first-child,th:first-child{text-align:left;white-space:normal;min-width:7rem}
td:last-child{white-space:normal;min-width:6rem}
tr:nth-child(even){background:#f6f6f6}.scroll{overflow-x:auto}fieldset{border:0;padding:0;margin:.5rem 0}
label{display:inline-block;margin-right:1rem;white-space:nowrap}label svg{width:28px;height:10px}
pre{background:#f6f6f6;padding:.6rem;overflow-x:auto}input:focus-visible{outline:3px solid #0072B2}
@media print{fieldset input,script{display:none}h2{break-before:page}h3{break-after:avoid}
.scroll{overflow:visible;break-inside:avoid}.scroll>svg{min-width:0}table{font-size:.7rem}
td,th{padding:.1rem .3rem;white-space:normal}pre{white-space:pre-wrap}}
"""
SCRIPT = """
for(const box of document.querySelectorAll("input[data-key]"))box.addEventListener("change",()=>{
for(const mark of box.closest("section").querySelectorAll("."+box.dataset.key))
mark.style.display=box.checked?"":"none"});
"""
