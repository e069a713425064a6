"use strict";
(() => {
  const zone = { dateStyle: "medium", timeStyle: "short" };
  const pad = (count) => String(count).padStart(2, "0");

  function words(milliseconds) {
    const s = Math.max(0, Math.floor(milliseconds / 1000));
    if (s < 60) return `${s} s`;
    if (s < 3600) return `${Math.floor(s / 60)} min ${pad(s % 60)} s`;
    if (s < 86400) return `${Math.floor(s / 3600)} h ${pad(Math.floor(s / 60) % 60)} min`;
    return `${Math.floor(s / 86400)} d ${pad(Math.floor(s / 3600) % 24)} h`;
  }

  // Times in the reader's zone; elapsed times count on.
  function localise(root) {
    for (const element of root.querySelectorAll("time[datetime]")) {
      const at = new Date(element.dateTime);
      if (Number.isNaN(at.getTime())) continue;
      if (element.hasAttribute("data-since")) {
        element.textContent = words(Date.now() - at.getTime());
        element.title = at.toLocaleString(undefined, zone);
      } else if (!element.title) {
        element.title = element.textContent;
        element.textContent = at.toLocaleString(undefined, zone);
      }
    }
  }
  // The parts of a live page as the server sent them, so that one that did not change stays as it is.
  const shown = new Map();
  for (const part of document.querySelectorAll("[data-part]")) shown.set(part.id, part.innerHTML);
  localise(document);
  let live = true;
  setInterval(() => {
    // A clock that counts on would say that the server still knows.
    if (live) for (const element of document.querySelectorAll("time[data-since]")) {
      element.textContent = words(Date.now() - new Date(element.dateTime).getTime());
    }
  }, 1000);

  // Live parts: the server sends the parts that changed, each with the id of its element. A part in
  // which the reader is at work is replaced when they leave it.
  const waiting = new Map();
  const top = ["run-summary", "run-waiting", "run-lanes"];
  function replace(id, markup) {
    const element = document.getElementById(id);
    if (!element) return;
    const fresh = document.createElement("template");
    fresh.innerHTML = markup;
    if (shown.get(id) === fresh.innerHTML) {
      waiting.delete(id);
      return;
    }
    const focused = document.activeElement;
    const href = focused && element.contains(focused) ? focused.getAttribute("href") : null;
    if (focused && element.contains(focused) && href === null) {
      waiting.set(id, markup);
      return;
    }
    // What the reader has opened stays open, by a name that stays when the words change. Room that was
    // taken on Now and at the top of a run stays taken: nothing moves up.
    const unfolds = () => element.querySelectorAll("details[data-open]");
    const open = new Map([...unfolds()].map((one) => [one.dataset.open, one.open]));
    if (element.closest(".now") || top.includes(id)) element.style.minHeight = `${element.offsetHeight}px`;
    shown.set(id, fresh.innerHTML);
    element.innerHTML = markup;
    for (const one of unfolds()) {
      if (open.has(one.dataset.open)) one.open = open.get(one.dataset.open);
    }
    localise(element);
    element.dispatchEvent(new CustomEvent("replaced", { bubbles: true }));
    if (href !== null) {
      for (const link of element.querySelectorAll("a[href]")) {
        if (link.getAttribute("href") === href) { link.focus({ preventScroll: true }); break; }
      }
    }
  }
  document.addEventListener("focusout", () => setTimeout(() => {
    for (const [id, markup] of waiting) {
      const element = document.getElementById(id);
      if (element && !element.contains(document.activeElement)) {
        waiting.delete(id);
        replace(id, markup);
      }
    }
  }));
  // The server speaks at least every 15 seconds. A page that is hidden does not listen: a browser has
  // six connections for all pages of a server.
  const path = document.body.dataset.live;
  const state = document.getElementById("live-state");
  if (path && state) {
    // The summary of a run has room for what it comes to, and its lanes come and go in a box of their
    // own, so that nothing below moves.
    const lanes = document.getElementById("run-lanes"), summary = document.getElementById("run-summary");
    if (lanes && summary && summary.querySelector("a.danger")) {
      summary.style.minHeight = "27rem";
      lanes.style.height = "27rem";
      lanes.style.overflowY = "auto";
    }
    let events = null, watch = 0;
    const say = (words) => {
      live = words === "";
      if (state.textContent !== words) state.textContent = words;
    };
    const heard = () => {
      say("");
      clearTimeout(watch);
      watch = setTimeout(() => say("Not live: the server does not answer."), 40000);
    };
    const close = () => {
      clearTimeout(watch);
      if (events) events.close();
      events = null;
    };
    const listen = () => {
      if (document.hidden || events) return;
      events = new EventSource(path);
      events.addEventListener("open", heard);
      events.addEventListener("here", heard);
      events.addEventListener("unreadable", () => {
        heard();
        say("Not live: Convoke cannot read this page. Load it again to see why.");
      });
      events.addEventListener("parts", (event) => {
        heard();
        for (const [id, markup] of Object.entries(JSON.parse(event.data))) replace(id, markup);
      });
      events.addEventListener("error", () => {
        clearTimeout(watch);
        const refused = events && events.readyState === EventSource.CLOSED;
        say(refused ? "Not live: load the page again to see why." : "Not live: the server does not answer.");
        // The browser tries again by itself, but not after a refusal.
        if (refused) {
          close();
          setTimeout(listen, 5000);
        }
      });
    };
    document.addEventListener("visibilitychange", () => { if (document.hidden) close(); else listen(); });
    window.addEventListener("pagehide", close);
    window.addEventListener("pageshow", listen);
    listen();
  }

  // Keys.
  const help = document.getElementById("help");
  const button = document.getElementById("help-button");
  if (help && button) {
    button.hidden = false;
    button.addEventListener("click", () => help.showModal());
  }
  // A row in something closed cannot be reached.
  const rows = () => [...document.querySelectorAll("[data-row]")].filter((row) => row.checkVisibility());
  function step(by) {
    const all = rows();
    if (all.length === 0) return;
    // A row may lie in another one, as those of a table in what unfolds it: the last is the innermost.
    const at = all.findLastIndex((row) => row.contains(document.activeElement));
    const next = all[Math.min(all.length - 1, Math.max(0, at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by))];
    const inside = [...next.querySelectorAll("a[href], button, summary, input")];
    const target = inside.find((one) => one.closest("[data-row]") === next) || next;
    if (target === next) next.tabIndex = -1;
    target.focus();
    next.scrollIntoView({ block: "nearest" });
  }
  // Moves a task among its siblings: the forms of its row do it.
  function press(name) {
    const row = document.activeElement && document.activeElement.closest("[data-row]");
    const found = row && row.querySelector(`button[data-press="${name}"]`);
    if (found) found.click();
  }
  let leading = false;
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest && event.target.closest("input, textarea, select");
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (help && help.open) return;
    if (leading) {
      leading = false;
      const link = document.querySelector(`.sections a[data-key="${CSS.escape(event.key)}"]`);
      if (link) { event.preventDefault(); link.click(); }
      return;
    }
    if (event.key === "g") leading = true;
    else if (event.key === "/") { event.preventDefault(); document.getElementById("q").focus(); }
    else if (event.key === "?" && help) help.showModal();
    else if (event.key === "j") step(1);
    else if (event.key === "k") step(-1);
    else if (event.key === "J") press("down");
    else if (event.key === "K") press("up");
  });

  // After a change, the reader is where they were.
  const kept = sessionStorage.getItem("focus");
  sessionStorage.removeItem("focus");
  if (kept) {
    // The browser takes the focus away when it scrolls to the address's place, so this comes later.
    window.addEventListener("load", () => setTimeout(() => {
      const row = document.getElementById(kept);
      const target = row && (row.querySelector("a[href], button") || row);
      if (target) target.focus();
    }));
  }
  document.addEventListener("submit", (event) => {
    const row = (event.submitter || event.target).closest("[data-row]");
    if (row && row.id) sessionStorage.setItem("focus", row.id);
  });
})();
