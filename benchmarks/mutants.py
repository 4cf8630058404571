"""Runs `amplint check` on damaged models: it must never panic, never grow, and always answer.

usage: mutants.py FOLDER... --amplint PATH [--count 10000] [--jobs 2] [--seed 1] [--keep DIR]

Every model below the folders is checked as it is, then COUNT mutants of them: cut, one or more
bits flipped, a stretch of random bytes, a stretch removed or doubled. For each run: exit code 3
with one line on stderr, or a report (exit code 0 or 1); a peak below 200 MB; no panic. Of the
unmutated models, and of the mutants that onnx's full check and onnxruntime both accept, the share
that gets a report is printed. Needs onnx, onnxruntime and a system with wait4.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import random
import subprocess
import sys
import tempfile
import threading

CAP_MB = 200


def mutate(data, rng):
    data, n = bytearray(data), len(data)
    kind = rng.choice(["cut", "bits", "bytes", "remove", "double"])
    at, size = rng.randrange(n), rng.randrange(1, 64)
    if kind == "cut":
        del data[at:]
    elif kind == "bits":
        for _ in range(rng.choice([1, 1, 1, 2, 8])):
            data[rng.randrange(n)] ^= 1 << rng.randrange(8)
    elif kind == "bytes":
        data[at:at + size] = rng.randbytes(min(size, n - at))
    elif kind == "remove":
        del data[at:at + size]
    else:
        data[at:at] = data[at:at + size]
    return kind, bytes(data)


def run(amplint, path):
    """Runs the check; returns exit code, peak MB, stdout and stderr."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        p = subprocess.Popen([amplint, "check", path, "--format", "json"], stdout=out, stderr=err)
        timer = threading.Timer(120, p.kill)
        timer.start()
        _, status, usage = os.wait4(p.pid, 0)
        timer.cancel()
        p.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        return p.returncode, usage.ru_maxrss / 1024, out.read(), err.read().decode("utf8", "replace")


ACCEPT = """
import sys, onnx, onnxruntime as ort
ort.set_default_logger_severity(4)
o = ort.SessionOptions(); o.log_severity_level = 4; o.intra_op_num_threads = 1
o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
for path in sys.stdin:
    path = path.rstrip("\\n")
    try:
        onnx.checker.check_model(path, full_check=True)
        ort.InferenceSession(path, o, providers=["CPUExecutionProvider"])
        print("@yes", flush=True)
    except Exception:
        print("@no", flush=True)
"""


class Judge:
    """Asks onnx and onnxruntime in a process of their own: damaged models crash them at times."""

    def __init__(self):
        self.p = None

    def accepts(self, path):
        if self.p is None or self.p.poll() is not None:
            self.p = subprocess.Popen([sys.executable, "-c", ACCEPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            self.p.stdin.write(path + "\n")
            self.p.stdin.flush()
            for line in self.p.stdout:  # libraries print to it too
                if line.startswith("@"):
                    return line.strip() == "@yes"
            return False
        except OSError:
            self.p = None
            return False


def judge(result):
    code, peak, out, err = result
    faults = []
    if "panic" in err or "goroutine" in err or "runtime error" in err:
        faults.append("panic")
    if code not in (0, 1, 3):
        faults.append(f"exit code {code}")
    if peak > CAP_MB:
        faults.append(f"{peak:.0f} MB")
    if code == 3 and len(err.strip().splitlines()) != 1:
        faults.append("not one line of error")
    report = False
    if code in (0, 1):
        try:
            report = bool(json.loads(out)["models"])
        except ValueError:
            faults.append("no report")
    return faults, report, err.strip()[:160]


def worker(job):
    amplint, files, count, seed, keep = job
    rng, ask, rows = random.Random(seed), Judge(), []
    with tempfile.TemporaryDirectory() as td:
        for i in range(count):
            src = rng.choice(files)
            kind, data = mutate(open(src, "rb").read(), rng)
            path = os.path.join(td, "mutant.onnx")
            with open(path, "wb") as f:
                f.write(data)
            faults, report, err = judge(run(amplint, path))
            accepted = ask.accepts(path)
            if keep and (faults or accepted and not report):
                with open(os.path.join(keep, f"{seed}-{i}.onnx"), "wb") as f:
                    f.write(data)
            rows.append((src, kind, faults, report, accepted, err))
    return rows


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folders", nargs="+")
    p.add_argument("--amplint", default="amplint")
    p.add_argument("--count", type=int, default=10000)
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--keep")
    a = p.parse_args()
    files = sorted(f for d in a.folders for f in glob.glob(os.path.join(d, "**", "*.onnx"), recursive=True))
    if a.keep:
        os.makedirs(a.keep, exist_ok=True)
    whole = [(f, *judge(run(a.amplint, f))) for f in files]
    for f, faults, report, err in whole:
        if faults or not report:
            print("whole", f, faults, err)
    print(f"unmutated models with a report   {sum(w[2] for w in whole)}/{len(whole)}")
    chunk = 250
    jobs = [(a.amplint, files, min(chunk, a.count - k), a.seed * 100003 + k, a.keep) for k in range(0, a.count, chunk)]
    with concurrent.futures.ProcessPoolExecutor(a.jobs) as ex:
        rows = [r for part in ex.map(worker, jobs) for r in part]
    for src, kind, faults, report, accepted, err in rows:
        if faults or accepted and not report:
            print("mutant", kind, src, faults, "accepted by onnx and onnxruntime" if accepted else "", err)
    good = [r for r in rows if r[4]]
    print(f"mutants                          {len(rows)}")
    print(f"panics                           {sum('panic' in r[2] for r in rows)}")
    print(f"other faults                     {sum(bool(r[2]) for r in rows)}")
    print(f"accepted elsewhere, with report  {sum(r[3] for r in good)}/{len(good)}")


if __name__ == "__main__":
    main()
