package main

import (
	"slices"
	"testing"

	"github.com/amplint/amplint/graph/infer"
	"github.com/amplint/amplint/rangeprop"
)

// untyped are operators of onnxruntime alone whose outputs keep the types that the file declares.
var untyped = []string{"com.microsoft.CropAndResize", "com.microsoft.DecoderMaskedMultiHeadAttention", "com.microsoft.DequantizeBFP",
	"com.microsoft.DynamicQuantizeLSTM", "com.microsoft.GatherBlockQuantized", "com.microsoft.GemmFastGelu", "com.microsoft.Irfft",
	"com.microsoft.LinearAttention", "com.microsoft.MatMulBnb4", "com.microsoft.MatMulFpQ4", "com.microsoft.MatMulInteger16",
	"com.microsoft.MaxpoolWithMask", "com.microsoft.PackedMultiHeadAttention", "com.microsoft.QuantizeBFP", "com.microsoft.Rfft"}

// TestKeys holds the operator tables against each other: what can be bounded must have types.
func TestKeys(t *testing.T) {
	types := infer.Keys()
	bounded := rangeprop.Keys()
	if len(bounded) < 100 {
		t.Errorf("only %d operators are bounded", len(bounded))
	}
	for _, key := range bounded {
		if !slices.Contains(types, key) && !slices.Contains(untyped, key) {
			t.Errorf("%s has a transfer function but no types", key)
		}
	}
}
