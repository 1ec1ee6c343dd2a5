const version=document.currentScript.dataset.version;
setInterval(()=>fetch("version").then(r=>r.ok?r.text():version).then(now=>{if(now!==version)location.reload()})
.catch(()=>{}),2000);
