// The console: colours and line numbers, completion, the history of this browser, Ctrl+Enter.
// Without it the page is a form with a plain text field.
(() => {
  const area = document.getElementById("ps");
  if (!area || area.dataset.ready) return;
  area.dataset.ready = "1";
  const form = document.getElementById("console");
  const editor = area.closest(".editor");

  // --- colours -------------------------------------------------------------------------------
  const KEYWORDS = new Set(
    ("SELECT FROM WHERE INSERT INTO VALUE UPDATE SET REMOVE DELETE RETURNING ORDER BY ASC DESC AND " +
      "OR NOT BETWEEN IN IS MISSING NULL TRUE FALSE EXISTS ALL MODIFIED OLD NEW").split(" "),
  );
  const TOKEN = /('(?:[^']|'')*'?)|("(?:[^"]|"")*"?)|(--[^\n]*|\/\*[^]*?(?:\*\/|$))|(\d[\w.]*)|([A-Za-z_$][\w$]*)|[^]/g;
  const code = document.createElement("pre");
  const lines = document.createElement("div");
  code.setAttribute("aria-hidden", "true");
  lines.setAttribute("aria-hidden", "true");
  lines.className = "ln";
  editor.prepend(lines);
  area.before(code);
  editor.classList.add("lit");

  function colour() {
    code.textContent = "";
    for (const [text, string, , comment, number, word] of area.value.matchAll(TOKEN)) {
      const kind = string ? "s" : comment ? "c" : number ? "n" : word && KEYWORDS.has(word.toUpperCase()) ? "k" : "";
      if (!kind) {
        code.append(text);
        continue;
      }
      const span = document.createElement("span");
      span.className = kind;
      span.textContent = text;
      code.append(span);
    }
    code.append("\n");
    lines.textContent = area.value.split("\n").map((_, number) => number + 1).join("\n");
  }

  // --- completion ----------------------------------------------------------------------------
  const row = document.getElementById("complete");
  let timer = 0;
  let asked = 0;

  function wordAtCursor() {
    const before = area.value.slice(0, area.selectionEnd);
    const word = before.match(/(?:"[^"\n]*"?\.?)?[^\s,()=<>\[\]{}']*$/)[0];
    return [before.slice(0, before.length - word.length), word];
  }

  function hide() {
    row.hidden = true;
    row.textContent = "";
  }

  function take(text) {
    const [before, word] = wordAtCursor();
    const end = area.selectionEnd;
    area.setRangeText(text, before.length, end, "end");
    hide();
    colour();
    area.focus();
    return word;
  }

  async function suggest() {
    const [before, word] = wordAtCursor();
    const number = ++asked;
    if (!word && !/\b(?:FROM|INTO|UPDATE)\s+$/i.test(before)) return hide();
    const query = new URLSearchParams({ before, word });
    let found = [];
    try {
      found = await (await fetch(`/console/complete?${query}`)).json();
    } catch {
      // The studio or its target is away: there is nothing to offer.
    }
    if (number !== asked) return;
    found = found.filter((text) => text !== word);
    hide();
    if (!found.length) return;
    row.append("Complete: ");
    for (const text of found) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = text;
      button.addEventListener("click", () => take(text));
      row.append(button);
    }
    row.hidden = false;
  }

  area.addEventListener("input", () => {
    colour();
    clearTimeout(timer);
    timer = setTimeout(suggest, 120);
  });
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      hide();
      form.querySelector("[name=run]").click();
    } else if (event.key === "Escape" && !row.hidden) {
      hide();
    } else if (event.key === "Tab" && !event.shiftKey && !row.hidden) {
      event.preventDefault();
      take(row.querySelector("button").textContent);
    }
  });

  // --- history -------------------------------------------------------------------------------
  const NAME = "tablewright.statements";
  const MAX = 30;
  const panel = document.getElementById("history");

  function load() {
    try {
      const found = JSON.parse(localStorage.getItem(NAME));
      return Array.isArray(found) ? found : [];
    } catch {
      return [];
    }
  }

  function draw() {
    const list = panel.querySelector("ul");
    const found = load();
    list.textContent = "";
    panel.hidden = !found.length;
    for (const { text, kind } of found) {
      const item = document.createElement("li");
      const tag = document.createElement("span");
      tag.className = `tag ${kind === "failed" ? "bad" : kind === "Scan" ? "warn" : "good"}`;
      tag.textContent = kind;
      const link = document.createElement("a");
      link.className = "mono cut";
      link.href = `/console?${new URLSearchParams({ statement: text })}`;
      link.textContent = text.replace(/\s+/g, " ");
      item.append(tag, link);
      list.append(item);
    }
  }

  function remember() {
    const kind = document.getElementById("answer").dataset.kind;
    const text = area.value.trim();
    if (!kind || !text) return;
    const others = load().filter((each) => each.text !== text);
    try {
      localStorage.setItem(NAME, JSON.stringify([{ text, kind }, ...others].slice(0, MAX)));
    } catch {
      // The browser stores nothing: the page works without a history.
    }
    draw();
  }

  panel.querySelector("button").addEventListener("click", () => {
    localStorage.removeItem(NAME);
    draw();
    area.focus();
  });

  function announce() {
    const title = document.querySelector("#answer .result h2");
    const summary = document.querySelector("#answer .result header p, #answer .note");
    document.getElementById("said").textContent = `${title?.textContent ?? ""}: ${summary?.textContent ?? ""}`;
  }

  // The listener ends with the page, if a page is swapped in for another one.
  document.addEventListener("htmx:after:swap", function swapped() {
    if (!area.isConnected) return document.removeEventListener("htmx:after:swap", swapped);
    remember();
    announce();
  });
  colour();
  draw();
  remember();
})();
