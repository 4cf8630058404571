"use strict";
// The file system that the program sees: one folder with the files that were dropped, for reading,
// and what it writes to stdout and stderr. It has the functions of Node's fs that Go calls.
const folder = (function () {
  const files = new Map(), handles = new Map(), written = { 1: [], 2: [] };
  const root = { ino: 1, directory: true, size: 0 };
  let last = 2; // descriptor that was given out

  // Weights are read in small parts from one end to the other; each call to the browser takes long.
  const ahead = 4 << 20;

  const fault = (code) => Object.assign(new Error(code), { code });
  const named = (path) => {
    const steps = path.split("/").filter((s) => s && s !== ".");
    if (steps.every((s) => s === "..")) { return root; }
    const f = files.get(steps.join("/"));
    if (!f) { throw fault("ENOENT"); }
    return f;
  };
  const held = (fd) => {
    const h = handles.get(fd);
    if (!h) { throw fault("EBADF"); }
    return h;
  };
  const bytes = (blob) => new Uint8Array(new FileReaderSync().readAsArrayBuffer(blob));
  const part = (f, at, n) => {
    n = Math.max(0, Math.min(n, f.size - at));
    if (n > ahead) { return bytes(f.blob.slice(at, at + n)); }
    if (at < f.from || at + n > f.from + f.part.length) {
      f.part = bytes(f.blob.slice(at, at + ahead));
      f.from = at;
    }
    return f.part.subarray(at - f.from, at - f.from + n);
  };
  const about = (f) => ({
    dev: 1, ino: f.ino, mode: f.directory ? 0o040555 : 0o100444, nlink: 1, uid: 0, gid: 0, rdev: 0, size: f.size,
    blksize: 4096, blocks: 0, atimeMs: 0, mtimeMs: 0, ctimeMs: 0, isDirectory: () => Boolean(f.directory),
  });

  const calls = {
    open(path, flags) {
      const file = named(path);
      if (flags !== 0) { throw fault("EROFS"); }
      handles.set(++last, { file, pos: 0 });
      return last;
    },
    close(fd) { handles.delete(fd); },
    fstat(fd) { return about(held(fd).file); },
    stat(path) { return about(named(path)); },
    lstat(path) { return about(named(path)); },
    readdir(path) {
      if (!named(path).directory) { throw fault("ENOTDIR"); }
      return Array.from(files.keys());
    },
    readlink() { throw fault("EINVAL"); },
    read(fd, buffer, offset, length, position) {
      if (fd === 0) { return 0; }
      const h = held(fd);
      if (h.file.directory) { throw fault("EISDIR"); }
      const b = part(h.file, position === null ? h.pos : position, length);
      buffer.set(b, offset);
      if (position === null) { h.pos += b.length; }
      return b.length;
    },
    write(fd, buffer, offset, length) {
      if (!written[fd]) { throw fault("EBADF"); }
      written[fd].push(buffer.slice(offset, offset + length));
      return length;
    },
    fsync() {},
  };
  for (const name of ["chmod", "chown", "fchmod", "fchown", "ftruncate", "lchown", "link", "mkdir", "rename", "rmdir", "symlink", "truncate", "unlink", "utimes"]) {
    calls[name] = () => { throw fault("EROFS"); };
  }

  const fs = {
    constants: { O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024, O_DIRECTORY: 0 },
    // What a crash writes comes this way.
    writeSync(fd, buffer) { return calls.write(fd, buffer, 0, buffer.length); },
  };
  for (const [name, call] of Object.entries(calls)) {
    fs[name] = (...args) => {
      const done = args.pop();
      let result;
      try {
        result = call(...args);
      } catch (e) {
        return done(typeof e.code === "string" ? e : fault("EIO"));
      }
      done(null, result);
    };
  }
  globalThis.fs = fs;

  return {
    add(name, blob) { files.set(name, { ino: files.size + 2, blob, size: blob.size, from: 0, part: new Uint8Array(0) }); },
    text(fd) { return new Blob(written[fd]).text(); },
  };
})();
