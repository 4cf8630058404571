package rules

import (
	"testing"

	"github.com/amplint/amplint/graph"
)

const forward = `File "/src/app/model.py", line 96, in forward
    return self.network(x)
  File "/usr/lib/python3.12/site-packages/torch/nn/modules/container.py", line 250, in forward
    input = module(input)
  File "/usr/lib/python3.12/site-packages/torch/nn/modules/linear.py", line 134, in forward
    return F.linear(input, self.weight, self.bias)`

func TestSourceOf(t *testing.T) {
	meta := func(kv ...string) (list []graph.Entry) {
		for i := 0; i < len(kv); i += 2 {
			list = append(list, graph.Entry{Key: kv[i], Value: kv[i+1]})
		}
		return list
	}
	for _, c := range []struct {
		what string
		node graph.Node
		want Source
	}{
		{"torch's exporter", graph.Node{Name: "node_linear", Meta: meta("namespace", ": __main__.Net/network: torch.nn.Sequential/network.0: torch.nn.Linear/linear: aten.linear.default",
			"pkg.torch.onnx.name_scopes", "['', 'network', 'network.0', 'linear']", "pkg.torch.onnx.stack_trace", forward)}, Source{"network.0", "/src/app/model.py", 96}},
		{"scopes alone", graph.Node{Name: "n0", Meta: meta("pkg.torch.onnx.name_scopes", "['', 'blocks.2', 'blocks.2.mlp', 'linear_8']")}, Source{Module: "blocks.2.mlp"}},
		{"a namespace alone", graph.Node{Meta: meta("namespace", ": m.A.<locals>.Net/encoder: m.Encoder/softmax: aten.softmax.int")}, Source{Module: "encoder"}},
		{"the root module", graph.Node{Meta: meta("pkg.torch.onnx.name_scopes", "['', 'add']")}, Source{}},
		{"metadata that is no list", graph.Node{Meta: meta("pkg.torch.onnx.name_scopes", "oops", "pkg.torch.onnx.stack_trace", `File "x", line y`)}, Source{}},
		{"code made at run time", graph.Node{Meta: meta("pkg.torch.onnx.stack_trace", "File \"gen.py\", line 278, in forward\n    f(x)\n  File \"<eval_with_key>.0 from /usr/lib/x.py:1968 in wrapped\", line 11, in forward")}, Source{File: "gen.py", Line: 278}},
		{"a library's model", graph.Node{Meta: meta("pkg.torch.onnx.stack_trace", "File \"/v/site-packages/transformers/models/bert/modeling_bert.py\", line 41, in forward\n  File \"/v/site-packages/torch/nn/functional.py\", line 7, in gelu")},
			Source{File: "/v/site-packages/transformers/models/bert/modeling_bert.py", Line: 41}},
		{"another system's paths", graph.Node{Meta: meta("pkg.torch.onnx.stack_trace", "File \"C:\\Users\\me\\train.py\", line 5, in forward\n  File \"C:\\Python312\\site-packages\\torch\\nn\\modules\\linear.py\", line 134, in forward")}, Source{File: `C:\Users\me\train.py`, Line: 5}},
		{"the tracer", graph.Node{Name: "Conv_0", Doc: "/v/dist-packages/torch/nn/modules/conv.py(442): _conv_forward\n/v/dist-packages/torch/nn/modules/module.py(1102): _call_impl\n/src/net.py(17): forward\n" +
			"/v/dist-packages/torch/jit/_trace.py(118): wrapper\n/src/export.py(3): <module>\n"}, Source{File: "/src/net.py", Line: 17}},
		{"the tracer in a library's model", graph.Node{Doc: "/v/site-packages/torchvision/models/resnet.py(161): forward\n/v/site-packages/torch/jit/__init__.py(252): forward\n/src/export.py(3): <module>\n"},
			Source{File: "/v/site-packages/torchvision/models/resnet.py", Line: 161}},
		{"a doc string of another kind", graph.Node{Doc: "fused LayerNorm subgraphs (2): no stack"}, Source{}},
		{"torch's names", graph.Node{Name: "/encoder/layer.0/attention/MatMul"}, Source{Module: "encoder.layer.0.attention"}},
		{"torch's lists", graph.Node{Name: "/b/b.1/n1/ReduceMean_1"}, Source{Module: "b.1.n1"}},
		{"torch's root", graph.Node{Name: "/MatMul"}, Source{}},
		{"TensorFlow's names", graph.Node{Name: "StatefulPartitionedCall/model/dense_1/BiasAdd"}, Source{Module: "model/dense_1"}},
		{"no scope", graph.Node{Name: "Gemm_3"}, Source{}},
	} {
		c.node.Graph = &graph.Graph{}
		if got := SourceOf(&c.node); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.what, got, c.want)
		}
	}
}

// A node without a trace of its own is where the node around it is; a weight names its module.
func TestSourceAround(t *testing.T) {
	in := prepareText(t, `<ir_version: 9, opset_import: ["" : 18], metadata_props: ["amplint.range.x": "[-600,600]"]>
m (float[2, 4] x, bool c) => (float[2, 4] y, float[2, 4] z)
<float[4, 4] "head.proj.weight" = {900, 0, 0, 0, 0, 900, 0, 0, 0, 0, 900, 0, 0, 0, 0, 900}>
{
  ["/gate/If"] y = If(c) <then_branch = t () => (float[2, 4] u) { u = Mul(x, x) }, else_branch = e () => (float[2, 4] w) { w = Identity(x) }>
  z = MatMul(x, "head.proj.weight")
}`)
	modules := map[string]string{}
	for _, f := range Run(in) {
		if f.Node != nil {
			modules[f.Node.Op] = f.Source.Module
		}
	}
	if modules["Mul"] != "gate" || modules["MatMul"] != "head.proj" {
		t.Errorf("%v", modules)
	}
}
