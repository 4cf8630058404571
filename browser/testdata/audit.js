// Returns what a person could not read or reach: text of too little contrast (WCAG 2.1, 4.5 to 1),
// controls and drawings without a name, identifiers that stand twice, headings that skip a level, and
// a page that is wider than the window.
(() => {
  const faults = [];
  document.querySelectorAll("details").forEach((d, i) => { if (i < 60) { d.open = true; } });
  const parse = (c) => { const m = c.match(/[\d.]+/g).map(Number); return m.length > 3 ? m : [...m, 1]; };
  const channel = (x) => { x /= 255; return x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; };
  const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c[3] > 0) { return c; }
    }
    return [255, 255, 255, 1];
  };
  const seen = new Map(); // how often elements of a kind were measured: a page of 1,000 findings has few kinds
  document.querySelectorAll("body *").forEach((e) => {
    const key = e.tagName + "." + (e.getAttribute("class") || "") + " in " + (e.parentElement.getAttribute("class") || "");
    const times = seen.get(key) || 0;
    if (times > 4) { return; }
    const own = Array.from(e.childNodes).some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || e.closest("script,style,title") || e.classList.contains("skip") || !e.getClientRects().length) { return; }
    const style = getComputedStyle(e);
    const ink = parse(e instanceof SVGElement ? style.fill : style.color), paper = ground(e);
    const a = luminance(ink), b = luminance(paper);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    seen.set(key, times + 1);
    if (ratio < 4.5) { faults.push("contrast " + ratio.toFixed(2) + " of " + key + ": " + e.textContent.slice(0, 30)); }
  });
  const named = (e) => e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.textContent.trim() || (e.labels && e.labels.length);
  document.querySelectorAll("button, input, a, summary, [tabindex='0'], svg[role=img]").forEach((e) => {
    if (!named(e)) { faults.push("no name: " + e.outerHTML.slice(0, 80)); }
  });
  const ids = new Set();
  document.querySelectorAll("[id]").forEach((e) => { if (ids.has(e.id)) { faults.push("twice: #" + e.id); } ids.add(e.id); });
  document.querySelectorAll("a[href^='#']").forEach((e) => { if (!ids.has(e.getAttribute("href").slice(1))) { faults.push("leads nowhere: " + e.outerHTML); } });
  let level = 0;
  document.querySelectorAll("h1,h2,h3").forEach((h) => { const l = Number(h.tagName[1]); if (l > level + 1) { faults.push("skips a level: " + h.textContent); } level = l; });
  if (document.documentElement.scrollWidth > window.innerWidth + 1) { faults.push("wider than the window: " + document.documentElement.scrollWidth); }
  if (!document.title || !document.documentElement.lang) { faults.push("no title or language"); }
  return faults;
})();
