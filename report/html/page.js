"use strict";
(function () {
  const all = (s, root) => Array.from((root || document).querySelectorAll(s));
  const one = (s) => document.querySelector(s);

  // The theme follows the system until the button is pressed.
  const theme = one("#theme"), root = document.documentElement;
  const systemDark = window.matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme || (systemDark.matches ? "dark" : "light")) === "dark";
  const label = () => { theme.textContent = dark() ? "Light" : "Dark"; };
  theme.hidden = false;
  theme.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; label(); });
  systemDark.addEventListener("change", label);
  label();

  // Charts: what is pointed at, or chosen by the arrow keys, is told under them.
  all(".chart").forEach((chart) => {
    const cols = all(".col", chart), readout = chart.querySelector(".readout");
    let at = -1;
    const choose = (i) => {
      if (!cols.length) { return; }
      if (cols[at]) { cols[at].classList.remove("on"); }
      at = Math.max(0, Math.min(i, cols.length - 1));
      cols[at].classList.add("on");
      readout.textContent = cols[at].querySelector("title").textContent;
    };
    const keys = { ArrowRight: () => at + 1, ArrowLeft: () => at - 1, Home: () => 0, End: () => cols.length - 1,
      PageDown: () => at + 20, PageUp: () => at - 20 };
    chart.addEventListener("keydown", (e) => {
      if (keys[e.key] && !e.altKey && !e.ctrlKey && !e.metaKey) { choose(keys[e.key]()); e.preventDefault(); }
    });
    chart.addEventListener("pointermove", (e) => {
      const col = e.target.closest(".col");
      if (col) { choose(cols.indexOf(col)); }
    });
  });

  // The filter of the findings.
  const filter = one("#filter");
  if (!filter) { return; }
  filter.hidden = false;
  const search = one("#q"), count = one("#count"), expand = one("#expand");
  const findings = all(".finding"), texts = findings.map((f) => f.textContent.toLowerCase());
  const off = new Set();
  const apply = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    findings.forEach((f, i) => {
      f.hidden = off.has(f.dataset.severity) || !words.every((w) => texts[i].includes(w));
      if (!f.hidden) { shown++; }
    });
    all(".findings").forEach((list) => {
      const empty = list.nextElementSibling;
      if (empty && empty.classList.contains("empty")) { empty.hidden = all(".finding:not([hidden])", list).length > 0; }
    });
    count.textContent = shown + " of " + findings.length + " shown";
  };
  search.addEventListener("input", apply);
  all(".sev").forEach((b) => b.addEventListener("click", () => {
    const on = b.getAttribute("aria-pressed") !== "true";
    b.setAttribute("aria-pressed", String(on));
    if (on) { off.delete(b.dataset.severity); } else { off.add(b.dataset.severity); }
    apply();
  }));
  expand.addEventListener("click", () => {
    const open = expand.getAttribute("aria-pressed") !== "true";
    expand.setAttribute("aria-pressed", String(open));
    expand.textContent = open ? "Close all" : "Open all";
    findings.forEach((f) => { f.open = open && !f.hidden; });
  });
  const reveal = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName === "DETAILS") { target.open = true; target.scrollIntoView(); }
  };
  window.addEventListener("hashchange", reveal);
  reveal();
  apply();
})();
