"use strict";
(function () {
  const one = (s) => document.querySelector(s);
  const status = one("#status"), report = one("#report"), stop = one("#stop"), again = one("#check");
  const modelName = /\.(onnx|onnxtxt)(\.gz)?$/i;
  let files = [], worker = null;

  const say = (grade, text) => {
    status.className = "verdict " + grade;
    status.textContent = text;
  };
  const got = async (name) => {
    const r = await fetch(name);
    if (!r.ok) { throw new Error(name + ": " + r.status + " " + r.statusText); }
    return r;
  };
  // Not every server knows the type of the file, without which it cannot be compiled while it comes.
  const compiled = (r) => (r.headers.get("Content-Type") || "").startsWith("application/wasm")
    ? WebAssembly.compileStreaming(r) : r.arrayBuffer().then((b) => WebAssembly.compile(b));
  // A worker made of a blob is under the policy of this page, one that is fetched would not be.
  const load = async () => {
    const [code, module] = await Promise.all([got("worker.js").then((r) => r.blob()), got("amplint.wasm").then(compiled)]);
    return { module, url: URL.createObjectURL(new Blob([code], { type: "text/javascript" })) };
  };

  const lines = (id) => one(id).value.split("\n").map((s) => s.trim()).filter(Boolean);
  // What the files are: models are checked, samples bound their inputs, all others are found by name.
  const args = (names) => {
    const models = names.length === 1 ? names : names.filter((n) => modelName.test(n));
    const list = ["check", "--quiet", "--format=html"];
    if (one("#target").value !== "auto") { list.push("--target=" + one("#target").value); }
    lines("#ranges").forEach((s) => list.push("--range=" + s));
    lines("#dims").forEach((s) => list.push("--dim=" + s));
    names.filter((n) => /\.npz$/i.test(n)).forEach((n) => list.push("--data=" + n));
    list.push("--"); // a name may begin as a flag does
    return { models, list };
  };

  const end = () => {
    if (worker) { worker.terminate(); }
    worker = null;
    stop.hidden = true;
    again.disabled = files.length === 0;
  };
  const show = (html, name) => {
    URL.revokeObjectURL(one("#link").href);
    one("#link").href = URL.createObjectURL(new Blob([html], { type: "text/html" }));
    one("#link").download = name + ".html";
    report.srcdoc = html;
    report.hidden = one("#save").hidden = false;
  };
  // The exit codes are those of the program: 0 and 1 are reports, 3 is one where other models are in it.
  const told = ({ code, out, err }, models) => {
    const whole = code === 0 || code === 1;
    if (whole || (code === 3 && models.length > 1)) { show(out, models.length === 1 ? models[0] : "amplint"); }
    const text = err.replace(/^amplint: /gm, "").trim();
    if (/out of memory/.test(text)) {
      say("error", "the model takes more memory than a browser gives to a page: check it with the program");
    } else if (!whole) {
      say("error", text || "the program ended without a report");
    } else {
      say(code === 0 ? "clean" : "error", models.join(", ") + (code === 0 ? ": checked, nothing that fails" : ": checked, with findings that fail"));
    }
  };

  const run = async () => {
    end();
    const { models, list } = args(files.map((f) => f.name));
    report.hidden = one("#save").hidden = true;
    if (models.length === 0) {
      return say("error", "none of these files is a model: .onnx, .onnx.gz or .onnxtxt");
    }
    say("note", "checking " + models.join(", "));
    let p;
    try {
      p = await program;
    } catch (e) {
      return say("error", unloaded(e));
    }
    const w = new Worker(p.url);
    end();
    worker = w;
    stop.hidden = false;
    again.disabled = true;
    w.onmessage = (e) => { end(); told(e.data, models); };
    w.onerror = (e) => { e.preventDefault(); end(); say("error", "the program broke: " + e.message); };
    w.postMessage({ module: p.module, files, models, args: list });
  };
  const take = (list) => {
    files = Array.from(list);
    if (files.length > 0) { run(); }
  };

  // Whatever is dropped beside the field must not replace the page.
  const zone = one("#drop");
  document.addEventListener("dragover", (e) => { e.preventDefault(); zone.classList.add("over"); });
  document.addEventListener("dragleave", () => zone.classList.remove("over"));
  document.addEventListener("drop", (e) => {
    e.preventDefault();
    zone.classList.remove("over");
    const entries = Array.from(e.dataTransfer.items, (i) => i.webkitGetAsEntry && i.webkitGetAsEntry());
    if (entries.some((x) => x && x.isDirectory)) { return say("error", "this is a folder: drop the files that are in it"); }
    take(e.dataTransfer.files);
  });
  one("#files").addEventListener("change", (e) => take(e.target.files));
  again.addEventListener("click", run);
  stop.addEventListener("click", () => { end(); say("note", "stopped"); });

  const unloaded = (e) => location.protocol === "file:"
    ? "a browser reads no program from a file: serve the folder, such as by python -m http.server" : "the program could not be loaded: " + e.message;
  const program = load();
  program.then(() => { if (files.length === 0) { say("note", "ready"); } }, (e) => say("error", unloaded(e)));
})();
