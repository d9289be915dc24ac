// What pages do beyond htmx: keys and copying. "/" goes to the search box, "g" and a letter to a view.
const VIEWS = { d: "/design", p: "/patterns", i: "/items", c: "/console", l: "/live", t: "/tables" };
const CHORD_MS = 900;
let lastG = -CHORD_MS;

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input, select, textarea")) return;
  if (event.key === "/") {
    event.preventDefault();
    document.getElementById("q").focus();
  } else if (event.key === "g") {
    lastG = event.timeStamp;
  } else if (event.timeStamp - lastG < CHORD_MS && VIEWS[event.key]) {
    const link = document.querySelector(`.top nav a[href="${VIEWS[event.key]}"]`);
    if (link) link.click();
  }
});

// A button with data-copy="#id" copies the text of that element.
addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const label = button.textContent;
  await navigator.clipboard.writeText(document.querySelector(button.dataset.copy).innerText);
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = label), 1500);
});
