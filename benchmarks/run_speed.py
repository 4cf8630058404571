"""Compares the evaluator with onnxruntime: processor time on one thread, wall time on several.

usage: run_speed.py MODEL.onnx... [--rounds 5] [--runs 10] [--threads 1] [--amplint PATH]

Each model needs an NPZ of inputs of the same name. The two take turns, so that both see the same
machine; the figures are medians over the rounds of the median run after the first, in milliseconds
of processor time, and their ratio. With --threads above 1 they are the least wall time of a run
instead, which other work on the machine disturbs least. Beside it stand the runs whose every result is rounded to FP16,
and those whose sums are too, as multiples of the FP32 run. With --amplint the processor time and
the peak memory of whole processes are compared: `amplint run` and python with onnxruntime.
AMPLINT_CPU (go, avx2, avx512) holds the evaluator to an instruction set. Run it in the repository;
it needs Go, onnxruntime and a system with wait4.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile

REFERENCE = """
import sys, time
import numpy, onnxruntime
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = int(sys.argv[4])
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
data = numpy.load(sys.argv[2])
feed = {i.name: data[i.name] for i in session.get_inputs() if i.name in data}
clock = time.process_time if sys.argv[4] == "1" else time.perf_counter
session.run(None, feed)
for _ in range(int(sys.argv[3])):
    start = clock()
    session.run(None, feed)
    print(1000 * (clock() - start))
"""


def data(model):
    return model.removesuffix(".onnx") + ".npz"


def reference(model, runs, threads):
    out = subprocess.run([sys.executable, "-c", REFERENCE, model, data(model), str(runs), str(threads)],
                         check=True, capture_output=True, text=True).stdout
    times = list(map(float, out.split()))
    return statistics.median(times) if threads == 1 else min(times)


def evaluator(binary, model, runs, threads):
    """Returns the times of the three forms by name."""
    metric = "cpu-ms" if threads == 1 else "least-wall-ms"
    env = dict(os.environ, AMPLINT_MODELS=os.path.abspath(model), AMPLINT_THREADS=str(threads))
    out = subprocess.run([binary, "-test.run", "^$", "-test.bench", "RunModel", "-test.benchtime", f"{runs}x"],
                         check=True, capture_output=True, text=True, env=env).stdout
    return {form: float(ms) for form, ms in re.findall(r"/(\w+?)(?:-\d+)?\s.*?\s([\d.]+) " + metric, out)}


def process(*command):
    """Returns processor seconds and peak MB of a whole process."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(command[:2])} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="+")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--amplint")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        binary = os.path.join(folder, "refeval.test")
        subprocess.run(["go", "test", "-c", "-o", binary, "./refeval"], check=True)
        for model in args.models:
            compare(args, binary, model)


def compare(args, binary, model):
    theirs, ours = [], []
    for _ in range(args.rounds):
        theirs.append(reference(model, args.runs, args.threads))
        ours.append(evaluator(binary, model, args.runs, args.threads))
    fp32 = statistics.median(o["fp32"] for o in ours)
    ratio = statistics.median(o["fp32"] / t for o, t in zip(ours, theirs))
    print(f"{os.path.basename(model)}: {fp32:.1f} ms, onnxruntime {statistics.median(theirs):.1f} ms, ratio {ratio:.2f}")
    for form in ("fp16", "fp16sums"):
        times = statistics.median(o[form] / o["fp32"] for o in ours)
        print(f"  {form}: {times:.2f} times the FP32 run")
    if args.amplint:
        pairs = [(process(args.amplint, "run", model, "--data", data(model)),
                  process(sys.executable, "-c", REFERENCE, model, data(model), "0", "1")) for _ in range(args.rounds)]
        for name, i, unit in (("whole process", 0, "s"), ("peak memory", 1, "MB")):
            a, b = (statistics.median(p[k][i] for p in pairs) for k in (0, 1))
            print(f"  {name}: {a:.2f} {unit}, python with onnxruntime {b:.2f} {unit}, ratio {a / b:.2f}")


if __name__ == "__main__":
    main()
