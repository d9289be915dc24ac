// What pages do beyond htmx: keys and copying. "/" goes to the search box, "g" and a letter to a view.
const VIEWS = {
  d: "/design", p: "/patterns", i: "/items", c: "/console", l: "/live", t: "/tables", e: "/evolve",
};
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
  } else if (event.key === "j" || event.key === "k") {
    moveRow(event.key === "j" ? 1 : -1);
  } else if (event.key === "Escape") {
    const close = document.querySelector("[data-close]");
    if (close) close.click();
  }
});

// In the grid of items: j and k move the focus, so Enter opens; the opened row is marked.
function moveRow(step) {
  const rows = [...document.querySelectorAll("[data-row]")];
  const focused = rows.indexOf(document.activeElement);
  const from = focused >= 0 ? focused : rows.findIndex((row) => row.closest("tr.sel"));
  const next = rows[from < 0 ? 0 : Math.min(Math.max(from + step, 0), rows.length - 1)];
  if (next) next.focus();
}

addEventListener("click", (event) => {
  const row = event.target.closest("[data-row]");
  if (!row && !event.target.closest("[data-close]")) return;
  for (const marked of document.querySelectorAll("tr.sel, li.sel")) marked.classList.remove("sel");
  if (row) row.closest("tr, li").classList.add("sel");
});

// A button with data-copy="#id" copies the text of that element, or of the one that is shown.
addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const label = button.textContent;
  const found = [...document.querySelectorAll(button.dataset.copy)];
  const shown = found.find((each) => each.offsetParent !== null) || found[0];
  await navigator.clipboard.writeText(shown.innerText);
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = label), 1500);
});

// Ctrl+Enter presses the main button of the form.
addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return;
  const form = event.target.closest("form") || document.querySelector("#pattern form");
  const button = form && form.querySelector("button.go");
  if (!button) return;
  event.preventDefault(); // Enter alone presses the first button
  button.click();
});

// Typing into a field takes back its "none".
addEventListener("input", (event) => {
  const box = document.querySelector(`[data-none="${CSS.escape(event.target.id)}"]`);
  if (box) box.checked = false;
});

// After a form of a pattern was sent, the focus is where the result is: on what is wrong, or on the heading of the
// preview, the result, or what was written.
const RESULTS = "[role=alert], .field.err :is(input, select, textarea), [role=status], .pvh h3, h3.sh";

addEventListener("htmx:finally:request", (event) => {
  const part = document.getElementById("pattern");
  if (!part || event.detail.ctx.select !== "#pattern") return;
  const result = part.querySelector(RESULTS);
  if (!result) return;
  if (result.tabIndex < 0) result.tabIndex = -1;
  result.focus({ preventScroll: true });
});

// On a narrow screen the drawer is below the items: an opened item is brought into view.
addEventListener("htmx:after:swap", () => {
  const drawer = document.querySelector("#drawer:not(:empty)");
  if (drawer && drawer.getBoundingClientRect().top > innerHeight / 2) drawer.scrollIntoView();
});

// The studio may be stopped while its pages are open. After two requests without a response a bar says so; it
// goes when the studio answers again. A studio that was started again knows neither the cookie nor the link.
const BEAT_MS = 2000;
const PATIENCE_MS = 15000;
let missed = 0;

async function beat() {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const answer = await fetch("/beat", { cache: "no-store", signal });
    missed = 0;
    showEnd(answer.ok ? "" : "restarted");
  } catch {
    missed += 1;
    if (missed > 1) showEnd("stopped");
  }
  setTimeout(beat, BEAT_MS);
}

function showEnd(what) {
  for (const bar of document.querySelectorAll("[data-end]")) bar.hidden = bar.dataset.end !== what;
}

addEventListener("load", () => setTimeout(beat, BEAT_MS));

// A line says what a page waits for: at once for a link, after a moment for a part of a page. It counts
// seconds, so a slow target can be told from a broken one. Requests that a page sends by itself do not count.
const QUICK_MS = 300;
const waiting = new Set();
let since = 0;

addEventListener("htmx:before:request", (event) => {
  const trigger = event.target.getAttribute("hx-trigger") || "";
  if (!trigger.includes("every")) wait(event.detail.ctx);
});
addEventListener("htmx:finally:request", (event) => stopWaiting(event.detail.ctx));
addEventListener("beforeunload", () => wait("page"));
addEventListener("pageshow", () => stopWaiting("page"));

function wait(what) {
  if (!waiting.size) since = performance.now();
  waiting.add(what);
  setTimeout(showWaiting, QUICK_MS);
}

function stopWaiting(what) {
  waiting.delete(what);
  showWaiting();
}

function showWaiting() {
  const line = document.getElementById("waiting");
  line.hidden = !waiting.size;
  if (!waiting.size) return;
  const seconds = Math.floor((performance.now() - since) / 1000);
  line.querySelector("b").textContent = seconds ? ` ${seconds} s` : "";
  setTimeout(showWaiting, 1000);
}
