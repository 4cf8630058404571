#!/usr/bin/env python3
"""Check that `amplint fix` writes valid models: on the standard's node tests, or on any folder of models.

  fix_valid.py FOLDER... --amplint PATH [--target fp16] [--twice] [--jobs N] [--only TEXT] [-v] [-- EXTRA FLAGS OF fix]

A folder holds *.onnx, or NAME/model.onnx with test_data_set_0/{input_i.pb, output_i.pb}, or NAME/model.onnx alone.
For each model that onnx.checker (full) accepts the fixed one must be accepted too; the same for loading in onnxruntime
(for bf16 `amplint run` instead: its CPU provider has hardly a BF16 kernel). Where there are data, the outputs must be near the expected.
Two differences are within the format by definition. A quantised number may be the next one: a number that was rounded may lie on the
other side of the half between two. And nothing bounds the inputs of these models: by as much as an output of the original changes when
its inputs alone are rounded to the format (the softmax of 10000 … 10003 in bf16), that of the fixed model may be off too.
--twice also fixes the fixed model, which must come out unchanged.
A model that `fix` refuses with status 1 counts as refused, not as wrong. Exit status 1 where anything is wrong.
Needs: pip install onnx onnxruntime numpy ml_dtypes
"""
import argparse, collections, concurrent.futures as cf, concurrent.futures.process, glob, os, subprocess, sys, tempfile
import ml_dtypes, numpy as np, onnx, onnxruntime as ort
from onnx import numpy_helper as nh

ort.set_default_logger_severity(4)
TOLERANCE = {'fp16': 0.02, 'bf16': 0.1, 'fp32': 0.02}   # of the greatest expected magnitude


def checked(path):
    try:
        onnx.checker.check_model(path, full_check=True)
        return ''
    except Exception as e:
        return str(e).replace('\n', ' ')[:240] or repr(e)


def loaded(path):
    o = ort.SessionOptions()
    o.log_severity_level, o.intra_op_num_threads = 4, 1
    try:
        return ort.InferenceSession(path, o, providers=['CPUExecutionProvider']), ''
    except Exception as e:
        return None, str(e).replace('\n', ' ')[:300]


def value(path, info):
    b, kind = open(path, 'rb').read(), info.type.WhichOneof('value')
    if kind == 'sequence_type':
        p = onnx.SequenceProto(); p.ParseFromString(b)
        return [np.asarray(x) for x in nh.to_list(p)]
    if kind == 'optional_type':
        p = onnx.OptionalProto(); p.ParseFromString(b)
        return nh.to_optional(p)
    p = onnx.TensorProto(); p.ParseFromString(b)
    return nh.to_array(p)


def samples(path, model):
    """inputs by name and expected outputs, None where the model has no data"""
    d = os.path.join(os.path.dirname(path), 'test_data_set_0')
    if os.path.isdir(d):
        inputs = {i.name: value(f'{d}/input_{k}.pb', i) for k, i in enumerate(model.graph.input) if os.path.exists(f'{d}/input_{k}.pb')}
        outputs = [value(f'{d}/output_{k}.pb', o) for k, o in enumerate(model.graph.output) if os.path.exists(f'{d}/output_{k}.pb')]
        return inputs, outputs
    npz = path[:-5] + '.npz'
    return (dict(np.load(npz)), None) if os.path.exists(npz) else None


def distance(want, got, next_code=False):
    if isinstance(want, list):
        return max([distance(a, b) for a, b in zip(want, got)], default=0.0) if len(want) == len(got) else np.inf
    if want is None or got is None:
        return 0.0 if want is got else np.inf
    want, got = np.asarray(want), np.asarray(got)
    if want.shape != got.shape:
        return np.inf
    if want.dtype.kind not in 'fV' and not want.dtype.name.startswith(('float', 'bfloat')):
        if want.dtype.kind in 'OU' or not want.size:
            return 0.0
        off = np.abs(want.astype(np.int64) - got.astype(np.int64)) > 1 if next_code and want.dtype.kind in 'iu' else want != got
        return float(np.mean(off))
    a, b = want.astype(np.float64), got.astype(np.float64)
    ok = np.isfinite(a) & (np.abs(a) < 6e4)
    if not ok.any():
        return 0.0
    return float(np.nan_to_num(np.abs(a[ok] - b[ok]), nan=np.inf).max() / max(np.abs(a[ok]).max(), 1e-3))


def fix(path, out, a):
    return subprocess.run([a.amplint, 'fix', path, '-o', out, '--target', a.target, *a.extra], capture_output=True, text=True)


def stable(out, again, a):
    fix(out, again, a)
    return os.path.exists(again) and open(out, 'rb').read() == open(again, 'rb').read()


def one(job):
    path, a = job
    with tempfile.TemporaryDirectory() as td:
        out = os.path.join(td, 'fixed.onnx')
        p = fix(path, out, a)
        if not os.path.exists(out):
            return path, 'refused' if p.returncode == 1 else 'failed', f'status {p.returncode}: {p.stderr.strip()[-200:]}'
        if why := checked(out):
            return (path, 'checker', why) if not checked(path) else (path, 'original invalid', '')
        if a.twice and not stable(out, os.path.join(td, 'again.onnx'), a):
            return path, 'changes again', ''
        if a.target == 'bf16':
            return (path, *evaluated(path, out, td, a))
        session, why = loaded(out)
        if session is None:
            return (path, 'does not load', why) if loaded(path)[0] else (path, 'original does not load', '')
        return (path, *outputs(path, session, a))


def evaluated(path, out, td, a):
    """run by amplint itself, which rounds as the target does"""
    data = os.path.join(os.path.dirname(path), 'test_data_set_0')
    if not os.path.isdir(data):
        return 'ok', 'no data'
    to = os.path.join(td, 'outputs')
    p = subprocess.run([a.amplint, 'run', out, '--data', data, '-o', to], capture_output=True, text=True)
    if p.returncode:
        before = subprocess.run([a.amplint, 'run', path, '--data', data, '-o', to], capture_output=True, text=True)
        return ('does not run', p.stderr.strip()[-240:]) if not before.returncode else ('ok', 'the original does not run')
    model = onnx.load(path, load_external_data=False)
    if any(random(n) for n in model.graph.node):
        return 'ok', 'random'
    files = [f'{to}/output_{k}.pb' for k in range(len(model.graph.output))]
    want = [value(f'{data}/output_{k}.pb', o) for k, o in enumerate(model.graph.output) if os.path.exists(f'{data}/output_{k}.pb')]
    got = [value(f, o) for f, o in zip(files, model.graph.output)]
    far = max([distance(x, y, next_code=c) for x, y, c in zip(want, got, codes(model))], default=0.0)
    if far > TOLERANCE[a.target] and (rounded := rounded_run(path, model, td, a)):
        far = max([distance(x, y) - distance(x, z) for x, y, z in zip(want, got, rounded)])
    return ('ok', '') if far <= TOLERANCE[a.target] else ('far', f'{far:.3g} of the greatest magnitude')


def codes(model):
    """for each output whether it holds quantised numbers"""
    maker = {o: n for n in model.graph.node for o in n.output}
    def code(name):
        n = maker.get(name)
        while n is not None and n.op_type in ('Identity', 'Cast', 'Clip', 'Reshape', 'Transpose'):
            n = maker.get(n.input[0])
        return n is not None and n.op_type in ('QuantizeLinear', 'DynamicQuantizeLinear', 'Round')
    return [code(o.name) for o in model.graph.output]


def rounded_run(path, model, td, a):
    """the outputs of the original for inputs that are rounded to bf16"""
    feeds, _ = samples(path, model)
    to = lambda x: x.astype(ml_dtypes.bfloat16).astype(x.dtype) if isinstance(x, np.ndarray) and x.dtype == np.float32 else x
    if any(isinstance(x, list) or x is None for x in feeds.values()):
        return None
    np.savez(os.path.join(td, 'rounded.npz'), **{k: to(x) for k, x in feeds.items()})
    out = os.path.join(td, 'rounded')
    if subprocess.run([a.amplint, 'run', path, '--data', os.path.join(td, 'rounded.npz'), '-o', out], capture_output=True).returncode:
        return None
    return [value(f'{out}/output_{k}.pb', o) for k, o in enumerate(model.graph.output)]


def random(node):
    return node.op_type.startswith(('Random', 'Bernoulli', 'Multinomial', 'Dropout'))


def outputs(path, session, a):
    model = onnx.load(path, load_external_data=False)
    data = samples(path, model)
    if data is None:
        return 'ok', 'no data'
    feeds, want = data
    names = {i.name for i in session.get_inputs()}
    reference = loaded(path)[0]
    try:
        ref = reference.run(None, {k: v for k, v in feeds.items() if k in names})
    except Exception:
        return 'ok', 'the original does not run'
    try:
        got = session.run(None, {k: v for k, v in feeds.items() if k in names})
    except Exception as e:
        return 'does not run', str(e).replace('\n', ' ')[:240]
    far = max([distance(x, y) for x, y in zip(ref, got)], default=0.0)
    return ('ok', '') if far <= TOLERANCE[a.target] else ('far', f'{far:.3g} of the greatest magnitude')


def models(folders):
    for f in folders:
        yield from sorted(glob.glob(f'{f}/*.onnx') + glob.glob(f'{f}/*/model.onnx'))


def run(todo, jobs):
    """one() for all, in a few processes; what takes its process down (onnxruntime may) is repeated in one of its own"""
    results, lost = [], []
    for i in range(0, len(todo), 64):
        with cf.ProcessPoolExecutor(jobs) as pool:
            for job, f in [(job, pool.submit(one, job)) for job in todo[i:i + 64]]:
                try:
                    results.append(f.result())
                except cf.process.BrokenProcessPool:
                    lost.append(job)
    for job in lost:
        with cf.ProcessPoolExecutor(1) as pool:
            try:
                results.append(pool.submit(one, job).result())
            except cf.process.BrokenProcessPool:
                results.append((job[0], 'crash', 'onnxruntime took the process down'))
    return sorted(results)


def main():
    p = argparse.ArgumentParser()
    p.add_argument('folders', nargs='+'); p.add_argument('--amplint', default='amplint'); p.add_argument('--target', default='fp16')
    p.add_argument('--jobs', type=int, default=2); p.add_argument('--only', default=''); p.add_argument('-v', action='store_true')
    p.add_argument('--twice', action='store_true')
    own = sys.argv[1:]
    cut = own.index('--') if '--' in own else len(own)
    a = p.parse_args(own[:cut]); a.extra = own[cut + 1:]
    todo = [(m, a) for m in models(a.folders) if a.only in m]
    results = run(todo, a.jobs)
    count = collections.Counter(kind for _, kind, _ in results)
    if a.v:
        for path, kind, why in results:
            if kind not in ('ok', 'original invalid', 'original does not load'):
                print(f'{kind:14} {path}: {why}')
    print(f'{len(results)} models to {a.target}: ' + ', '.join(f'{n} {k}' for k, n in count.most_common()))
    sys.exit(any(count[k] for k in ('failed', 'checker', 'does not load', 'does not run', 'far', 'changes again')))


if __name__ == '__main__':
    main()
