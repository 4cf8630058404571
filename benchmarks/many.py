"""Checks many models in one run: throughput, one broken file, a run broken off and taken up again.

Copies of the models below a folder (a checkout of onnx has 1,600 in onnx/backend/test/data/node) are
numbered up to -n, with one that is cut off among them. They are checked by one process on one
processor and on all, with a cache that a run fills until it is interrupted and another completes,
and by four shards. Everything must give the same report.

    python benchmarks/many.py FOLDER --amplint ./amplint -n 1000
"""

import argparse
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BROKEN = "broken.onnx"


def copies(folder, out, n):
    """Fills a folder with n models, of which one is cut off."""
    models = sorted(pathlib.Path(folder).rglob("*.onnx"))
    if not models:
        sys.exit(f"{folder}: no .onnx in it")
    for i in range(n - 1):
        model = models[i % len(models)]
        place = out / f"{i:05d}"
        place.mkdir(parents=True)
        shutil.copy(model, place / "model.onnx")
        for data in model.parent.glob("*.data"):
            shutil.copy(data, place)
    whole = models[0].read_bytes()
    (out / f"{n // 2:05d}" / BROKEN).write_bytes(whole[: len(whole) * 2 // 3])


def cpu():
    """Returns the processor time of the processes that have ended."""
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r.ru_utime + r.ru_stime


class Run:
    """A check of the folder: its exit code, its report and how long it took."""

    def __init__(self, amplint, folder, *flags, procs=None, stop_after=None):
        env = dict(os.environ)
        if procs:
            env["GOMAXPROCS"] = str(procs)
        command = [amplint, "check", ".", "--format", "json", *flags]
        start, used = time.monotonic(), cpu()
        p = subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if stop_after:
            stop_after(p)
        self.out, self.err = p.communicate()
        self.seconds, self.cpu = time.monotonic() - start, cpu() - used
        self.code = p.returncode


def entries(cache):
    return sum(1 for _ in cache.rglob("*.json")) if cache.exists() else 0


def interrupt(cache, at):
    """Returns what sends Ctrl-C once the cache holds so many results."""

    def stop(p):
        while p.poll() is None and entries(cache) < at:
            time.sleep(0.01)
        if p.poll() is None:
            p.send_signal(signal.SIGINT)

    return stop


def want(condition, message):
    if not condition:
        sys.exit("FAILED: " + message)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("folder")
    args.add_argument("--amplint", default="./amplint")
    args.add_argument("-n", type=int, default=1000)
    args = args.parse_args()
    amplint = str(pathlib.Path(args.amplint).resolve())
    with tempfile.TemporaryDirectory() as tmp:
        folder, cache = pathlib.Path(tmp) / "models", pathlib.Path(tmp) / "cache"
        copies(args.folder, folder, args.n)
        one = Run(amplint, folder, "-j", "1", procs=1)
        report = json.loads(one.out)
        failed = report["failures"]
        want(one.code == 3, f"exit code {one.code} with a broken model, not 3: {one.err.decode()[-300:]}")
        want(any(f["path"].endswith(BROKEN) for f in failed), "the broken file is not told of")
        want(len(report["models"]) + len(failed) == args.n, "models are missing")
        print(f"1 processor: {args.n} models in {one.seconds:.1f} s, {args.n / one.seconds:.0f} models/s, {args.n / one.cpu:.0f} in a second of its time; {len(failed)} failed, exit code {one.code}")
        for f in failed[:5]:
            print(f"  {f['error'][:150]}")

        cores = os.cpu_count()
        every = Run(amplint, folder)
        want(every.out == one.out, "the report depends on the number of processors")
        print(f"{cores} processors: {every.seconds:.1f} s, {args.n / every.seconds / cores:.0f} models/s on each, {args.n / every.cpu:.0f} in a second of its time")

        broken = Run(amplint, folder, "--cache", str(cache), stop_after=interrupt(cache, args.n // 2))
        done = broken.code == one.code and broken.out == one.out  # before it could be interrupted
        want(done or broken.code == 130 and not broken.out, f"exit code {broken.code} of the run that was interrupted")
        kept = entries(cache)
        resumed = Run(amplint, folder, "--cache", str(cache))
        want(resumed.out == one.out, "the report of the resumed run is another one")
        again = Run(amplint, folder, "--cache", str(cache))
        want(again.out == one.out, "the report from the cache is another one")
        print(f"interrupted with {kept} results kept; resumed in {resumed.seconds:.1f} s; all from the cache in {again.seconds:.1f} s")

        parts = []
        for i in range(4):
            parts.append(pathlib.Path(tmp) / f"part{i}.json")
            parts[i].write_bytes(Run(amplint, folder, "--shard", f"{i}/4").out)
        merged = subprocess.run([amplint, "merge", *map(str, parts), "--format", "json"], capture_output=True)
        want(merged.returncode == 3 and merged.stdout == one.out, "the merged report is another one")
        print("four shards merge to the same report")


if __name__ == "__main__":
    main()
