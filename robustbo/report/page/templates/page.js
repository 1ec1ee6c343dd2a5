for(const box of document.querySelectorAll("input[data-key]")){const show=()=>{
for(const mark of box.closest("section").querySelectorAll("."+box.dataset.key))
mark.style.display=box.checked?"":"none"};box.addEventListener("change",show);show()}
