package infer

// families lists the tables of the operator families, one a file.
func families() []map[string]operator {
	return []map[string]operator{
		elementwiseOps(), reduceOps(), movementOps(), indexOps(), generateOps(), normalizeOps(), matmulOps(), convOps(),
		poolOps(), resizeOps(), rnnOps(), controlOps(), sequenceOps(), quantizeOps(), attentionOps(), signalOps(),
		textOps(), lossOps(), mlOps(), trainingOps(), contribOps(), contribAttentionOps(), contribQuantOps(),
	}
}

// each enters one function under several keys.
func each(f operator, keys ...string) map[string]operator {
	table := make(map[string]operator, len(keys))
	for _, k := range keys {
		table[k] = f
	}
	return table
}

// merged joins tables.
func merged(tables ...map[string]operator) map[string]operator {
	out := map[string]operator{}
	for _, t := range tables {
		for k, f := range t {
			out[k] = f
		}
	}
	return out
}

// typesOnly is the table of operators that are rare, deprecated or tied to other hardware. Their types flow, but
// they are no part of [Keys]: nothing else about them is known.
func typesOnly() map[string]operator {
	return merged(
		each(sameShape, "Affine", "ParametricSoftplus", "ScaledTanh", "Scale", "ImageScaler", "MemcpyFromHost",
			"MemcpyToHost", "com.microsoft.GatedRMSNorm", "com.microsoft.RMSNormRotary", "com.microsoft.ScaledSiLU",
			"com.microsoft.GatedAdd", "com.microsoft.SampleOp", "com.microsoft.NGramRepeatBlock", "com.microsoft.MoE",
			"com.microsoft.QMoE", "com.microsoft.QOrderedGelu", "com.microsoft.QOrderedLayerNormalization",
			"com.microsoft.QOrderedAttention", "com.microsoft.LongformerAttention", "com.microsoft.ComplexMul",
			"com.microsoft.ComplexMulConj", "com.microsoft.MurmurHash3", "com.microsoft.QuantizeWithOrder",
			"com.microsoft.DequantizeWithOrder", "com.microsoft.IsFinite"),
		each(likeInputs(0), "com.microsoft.BiasFastGeluGrad_dX"),
		each(likeShapeInput(0), "com.microsoft.GatherNDGrad"),
		each(likeShapeInput(1), "com.microsoft.SliceGrad", "com.microsoft.GatherElementsGrad"),
		each(scalarOut, "com.microsoft.All", "com.microsoft.Group", "com.microsoft.ReduceAllL2"),
		each(passThrough, "ai.onnx.preview.training.Gradient", "com.microsoft.InplaceClipGradNorm", "com.microsoft.PassThrough"),
		each(nothing, "com.microsoft.DequantizeBFP", "com.microsoft.QuantizeBFP", "com.microsoft.EPContext", "MaxPoolGrad", "AveragePoolGrad", "GivenTensorFill"),
		each(packedInput, "com.microsoft.QAttention", "com.microsoft.DecoderMaskedSelfAttention"),
		each(matmulOf(0, 1), "com.microsoft.MatMulInteger16", "com.microsoft.GemmFastGelu"),
		each(fusedMatmul, "com.microsoft.SparseToDenseMatMul"),
		each(widthFromAttr, "com.microsoft.MatMulBnb4", "com.microsoft.MatMulNBitsMlp",
			"com.microsoft.MatMulNBitsQLoRA", "com.microsoft.MatMulPacked"),
		each(bitmaskDropout, "com.microsoft.BitmaskDropout", "com.microsoft.BitmaskBiasDropout"),
		each(recurrent, "com.microsoft.AttnLSTM"),
		typesOnlyForms(),
	)
}

// typesOnlyForms are those with a function of their own.
func typesOnlyForms() map[string]operator {
	return map[string]operator{
		"Crop": crop, "DynamicSlice": slice, "com.microsoft.BiasDropout": dropout,
		"com.microsoft.BifurcationDetector": bifurcation, "com.microsoft.CDist": cdist,
		"com.microsoft.CausalConvWithState":             causalConv,
		"com.microsoft.ConvTransposeWithDynamicPads":    convTransposeDynamic,
		"com.microsoft.CropAndResize":                   cropAndResize,
		"com.microsoft.DecoderAttention":                decoderAttention,
		"com.microsoft.DecoderMaskedMultiHeadAttention": multiHead,
		"com.microsoft.DynamicTimeWarping":              timeWarp,
		"com.microsoft.GatedRelativePositionBias":       gatedPositionBias,
		"com.microsoft.GemmFloat8":                      gemmOf(0, 1),
		"com.microsoft.GemmaRotaryEmbedding":            gemmaRotary,
		"com.microsoft.Irfft":                           irfft,
		"com.microsoft.MatMulFpQ4":                      matmulFpQ4,
		"com.microsoft.MatMulNBitsQkv":                  matmulQkv,
		"com.microsoft.MaxpoolWithMask":                 pool,
		"com.microsoft.MixedPrecisionScale":             scaleAll,
		"com.microsoft.MulInteger":                      broadcastAt(0, 2),
		"com.microsoft.PackedAttention":                 packedTokens,
		"com.microsoft.PackedMultiHeadAttention":        packedHeads,
		"com.microsoft.PagedAttention":                  pagedAttention,
		"com.microsoft.QEmbedLayerNormalization":        embedNorm,
		"com.microsoft.QOrderedMatMul":                  qorderedMatmul,
		"com.microsoft.ReduceSumInteger":                reduce,
		"com.microsoft.RelativePositionBias":            positionBias,
		"com.microsoft.RemovePadding":                   removePadding,
		"com.microsoft.RestorePadding":                  restorePadding,
		"com.microsoft.Rfft":                            rfft,
		"com.microsoft.SGDOptimizerV2":                  sgd,
		"com.microsoft.SparseAttention":                 groupQuery,
		"com.microsoft.SwiGLU":                          swiglu,
		"com.microsoft.Tokenizer":                       tokenize,
		"com.microsoft.TorchEmbedding":                  torchEmbedding,
		"com.microsoft.UnfoldTensor":                    unfold,
		"com.microsoft.WordConvEmbedding":               wordConv,
	}
}
