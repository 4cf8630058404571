"""Measures whole processes of amplint on a model of BERT's size and on a long chain.

usage: analysis_speed.py [--amplint PATH] [--folder DIR] [--rounds 3] [--processors 1] [--large] [--only PART]

The models are those of big_models.py: an encoder of 438 MB, a chain of 100,000 nodes, and with
--large an encoder of 2.6 GB whose weights lie in an external file. They go to --folder, where they
stay, or to a temporary one. Each line gives the least processor time and wall time and the greatest
peak memory of the rounds, by wait4; a fix is compared with copying the files that it wrote, round by
round, and the median ratio is given. All run on one processor, or on as many as --processors says. --only runs the lines whose name holds a text.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time


def process(command, env):
    """Returns processor seconds, wall seconds and peak MB of a process.

    A child begins with the memory of its parent as its peak: nothing large is imported here.
    """
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env)
    errors = child.stderr.read().decode()
    _, status, usage = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) > 1:
        sys.exit(f"{' '.join(command[:3])} failed: {errors}")
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - start, usage.ru_maxrss / 1024


def measure(name, rounds, command, env=None, after=None):
    runs = []
    for _ in range(rounds):
        runs.append(process(command, env) + ((after() if after else 0),))
    cpu, wall = (min(r[i] for r in runs) for i in (0, 1))
    line = f"{name:34} {cpu:7.2f} s cpu {wall:7.2f} s wall {max(r[2] for r in runs):6.0f} MB"
    if after:
        line += f"   {statistics.median(r[1] / r[3] for r in runs):.2f} x copying what it wrote"
    print(line, flush=True)


def copying(folder):
    """Returns the seconds that cp takes for the files of a folder, which is emptied."""
    files = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    start = time.perf_counter()
    for p in files:
        subprocess.run(["cp", p, p + ".copy"], check=True)
    seconds = time.perf_counter() - start
    for p in files:
        os.remove(p)
        os.remove(p + ".copy")
    return seconds


def parts(args, folder):
    """Yields the kind of a model, its file, the name of a line, and its command."""
    out = os.path.join(folder, "written", "out.onnx")
    bert, long, big = (os.path.join(folder, f"{n}.onnx") for n in ("encoder", "chain", "large"))
    names = "input_ids", "attention_mask", "token_type_ids"
    ranges = [a for n, hi in zip(names, (30521, 1, 1)) for a in ("--range", f"{n}=0,{hi}")]
    yield "encoder", bert, "encoder: ranges", ["ranges", bert, *ranges]
    yield "encoder", bert, "encoder: ranges --effort off", ["ranges", bert, *ranges, "--effort", "off"]
    yield "encoder", bert, "encoder: check --effort off", ["check", bert, *ranges, "--effort", "off"]
    yield "encoder", bert, "encoder: fix --effort off", ["fix", bert, "-o", out, "--target", "fp16", "--effort", "off", *ranges]
    yield "chain", long, "chain: ranges", ["ranges", long, "--range", "v0=-1,1"]
    yield "chain", long, "chain: ranges --effort off", ["ranges", long, "--range", "v0=-1,1", "--effort", "off"]
    if args.large:
        yield "large", big, "large: dump --summary", ["dump", big, "--summary"]
        yield "large", big, "large: fix --effort off", ["fix", big, "-o", out, "--target", "fp16", "--effort", "off"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--amplint", default="./amplint")
    parser.add_argument("--folder")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--processors", type=int, default=1)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.folder or temporary
        os.makedirs(os.path.join(folder, "written"), exist_ok=True)
        for kind, path, name, command in parts(args, folder):
            if args.only not in name:
                continue
            if not os.path.exists(path):
                make(kind, path)
            run(args, folder, name, command)


def make(kind, path):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "big_models.py")
    subprocess.run([sys.executable, script, kind, path], check=True)


def run(args, folder, name, command):
    env = dict(os.environ, GOMAXPROCS=str(args.processors))
    after = (lambda: copying(os.path.join(folder, "written"))) if command[0] == "fix" else None
    measure(name, args.rounds, [args.amplint, *command], env, after)


if __name__ == "__main__":
    main()
