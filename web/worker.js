"use strict";
// Runs the program once, on the files and with the arguments that the page sends.
process.cwd = () => "/";

// The program unpacks into a file of its own, which the folder has no place for.
const unpacked = async (file) => {
  if (!/\.gz$/i.test(file.name)) { return file; }
  try {
    return await new Response(file.stream().pipeThrough(new DecompressionStream("gzip"))).blob();
  } catch (e) {
    throw new Error(file.name + ": unpacking: " + e.message);
  }
};

let code = null; // that the program ended with
// A timer that it left behind finds it ended, which Go's side of the browser takes for a fault.
addEventListener("error", (e) => { if (code !== null) { e.preventDefault(); } });

onmessage = async ({ data: { module, files, models, args } }) => {
  let fault = "";
  try {
    const plain = (name) => name.replace(/\.gz$/i, "");
    for (const f of files) { folder.add(plain(f.name), await unpacked(f)); }
    const go = new Go();
    go.argv = ["amplint", ...args, ...models.map(plain)];
    go.exit = (c) => { code = c; };
    await go.run(await WebAssembly.instantiate(module, go.importObject));
  } catch (e) {
    fault = e.message;
  }
  postMessage({ code, out: await folder.text(1), err: (await folder.text(2)) + fault });
};
