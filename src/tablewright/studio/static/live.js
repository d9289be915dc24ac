// The live view: adds the rows of new changes at the top, pauses, and says whether it is connected.
// The rows are made by the studio, which escapes every value.
(() => {
  const panel = document.getElementById("live");
  if (!panel || panel.dataset.ready) return;
  panel.dataset.ready = "1";
  const rows = document.getElementById("changes");
  const state = document.getElementById("state");
  const count = document.getElementById("count");
  const pause = document.getElementById("pause");
  const max = Number(count.dataset.shown);
  let waiting = [];
  let left = 0; // changes that came during a pause and are shown no more
  let paused = false;
  let total = 0;

  function say(text, kind) {
    if (state.textContent !== text) state.textContent = text;
    state.className = `tag ${kind}`;
  }

  function add(found) {
    for (const html of found) {
      const made = document.createElement("template");
      made.innerHTML = html;
      rows.prepend(made.content);
    }
    while (rows.rows.length > max) rows.deleteRow(-1);
    document.getElementById("nothing").hidden = rows.rows.length > 0;
  }

  function counted() {
    const held = waiting.length + left;
    count.textContent = `${total} since the page was opened${paused && held ? `, ${held} waiting` : ""}`;
  }

  function toggle() {
    paused = !paused;
    pause.setAttribute("aria-pressed", String(paused));
    pause.firstChild.textContent = paused ? "Continue " : "Pause ";
    if (!paused) {
      add(waiting);
      waiting = [];
      left = 0;
    }
    say(paused ? "paused" : "following the stream", paused ? "warn" : "good");
    counted();
  }

  // --- the last minute: 30 bars of two seconds ---------------------------------------------
  const rate = document.getElementById("rate");
  const bars = new Array(30).fill(0);
  const shapes = bars.map((_, number) => {
    const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    bar.setAttribute("x", number * 4);
    bar.setAttribute("width", 3);
    bar.setAttribute("fill", "currentColor");
    rate.append(bar);
    return bar;
  });
  rate.removeAttribute("hidden");

  function draw() {
    const most = Math.max(5, ...bars);
    bars.forEach((value, number) => {
      const height = Math.max((value * 20) / most, 1);
      shapes[number].setAttribute("height", height);
      shapes[number].setAttribute("y", 20 - height);
    });
  }
  const beat = setInterval(() => {
    bars.shift();
    bars.push(0);
    draw();
  }, 2000);
  draw();

  const source = new EventSource(panel.dataset.source);
  source.addEventListener("change", (event) => {
    total += 1;
    bars[bars.length - 1] += 1;
    draw();
    if (paused) {
      waiting.push(event.data);
      if (waiting.length > max) {
        waiting.shift();
        left += 1;
      }
    } else {
      add([event.data]);
    }
    counted();
  });
  source.addEventListener("ready", () => {
    if (!paused) say("following the stream", "good");
  });
  source.addEventListener("lost", (event) => say(`the target cannot be read: ${event.data}`, "bad"));
  source.addEventListener("full", (event) => {
    source.close();
    say(event.data, "bad");
  });
  source.addEventListener("error", () => {
    const ended = source.readyState === EventSource.CLOSED;
    say(ended ? "not connected: load the page again" : "not connected, trying again", "bad");
  });

  pause.hidden = false;
  pause.setAttribute("aria-pressed", "false");
  pause.addEventListener("click", toggle);
  function key(event) {
    if (!panel.isConnected) return end();
    if (event.key !== "p" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!event.target.matches("input, select, textarea")) toggle();
  }
  function end() {
    source.close();
    clearInterval(beat);
    removeEventListener("keydown", key);
  }
  addEventListener("keydown", key);
  addEventListener("pagehide", end);
  // A page that is swapped in for this one ends it.
  document.addEventListener("htmx:after:swap", () => panel.isConnected || end());
  say("connecting", "");
  counted();
})();
