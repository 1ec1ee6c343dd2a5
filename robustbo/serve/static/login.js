// The token stands behind # in the printed address, which no browser sends anywhere: it is posted once, and gone.
async function logIn() {
  const token = decodeURIComponent(location.hash.slice(1));
  if (!token) return;
  history.replaceState(null, "", "/login");
  const answer = await fetch("/login", {
    method: "POST",
    headers: {Accept: "application/json"},
    body: new URLSearchParams({token}),
  });
  if (answer.ok) location.replace("/");
  else document.querySelector("#answer").hidden = false;
}

window.addEventListener("hashchange", logIn); // where the address is pasted into this page
await logIn();
