"""How a TorchScript file is refused, and the operators that its code may call."""

from __future__ import annotations

import re

from engine.errors import BadModel


def refuse(what: str) -> BadModel:
    """The error of everything the allow-list does not know."""
    shown = "".join(character if character.isprintable() else "?" for character in what)
    return BadModel(
        f"refused: the TorchScript file holds {shown}; trace the model again with torch.jit.trace, "
        "or save it with torch.export.save"
    )


def _names(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))


# Arithmetic on tensors, numbers, lists and text. What reads or writes files, prints, waits, talks to others or changes
# global state is absent (from_file, save, load, manual_seed, set_num_threads …); an unknown name is refused.
OPERATORS = _names("""
    abs abs_ absolute acos acosh add add_ addcdiv addcdiv_ addcmul addcmul_ addmm addmm_ addmv all allclose amax amin
    aminmax any append arange arccos arcsin arctan arctan2 argmax argmin argsort as_strided as_tensor asin asinh atan
    atan2 atanh baddbmm bilinear bitwise_and bitwise_not bitwise_or bitwise_xor bmm broadcast_tensors broadcast_to
    bucketize cat cdist ceil ceil_ celu channel_shuffle chunk clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_
    clone concat concatenate constant_pad_nd contiguous copy copy_ cos cosh cosine_similarity count_nonzero cpu cross
    cummax cummin cumprod cumsum data deg2rad dequantize detach detach_ diag diag_embed diagonal diff digamma dim dist
    div div_ divide dot einsum elu elu_ embedding embedding_bag empty empty_like eq equal erf erf_ erfc exp exp2 exp_
    expand expand_as expm1 eye fill fill_ find flatten flip float_power floor floor_ floor_divide floordiv fmod format
    frac full full_like gather gcd ge gelu gelu_ get glu greater greater_equal grid_sampler group_norm gt hardshrink
    hardsigmoid hardsigmoid_ hardswish hardswish_ hardtanh hardtanh_ hypot index index_add index_copy index_fill
    index_put index_put_ index_select insert instance_norm is_floating_point is_nonzero isclose isfinite isin isinf
    isnan item items keys kthvalue layer_norm le leaky_relu leaky_relu_ len lerp less less_equal lgamma lift_fresh
    linalg_cross linalg_matrix_norm linalg_norm linalg_vector_norm linear linspace list log log10 log1p log2 log_
    log_sigmoid log_softmax logaddexp logical_and logical_not logical_or logical_xor logit logsumexp lt masked_fill
    masked_fill_ masked_scatter masked_select matmul max maximum mean median meshgrid min minimum mish mm movedim mul
    mul_ multiply mv nan_to_num nanmean nansum narrow native_layer_norm ne neg neg_ negative new_empty new_full
    new_ones new_zeros nonzero norm normalize not_equal numel one_hot ones ones_like outer pad pairwise_distance permute
    pixel_shuffle pixel_unshuffle polar pow pow_ prelu prod quantile rad2deg range reciprocal reflection_pad1d
    reflection_pad2d relu relu_ relu6 relu6_ remainder repeat repeat_interleave replication_pad1d replication_pad2d
    reshape reshape_as rms_norm roll rot90 round rsqrt rsub scalar_tensor scaled_dot_product_attention scatter
    scatter_ scatter_add scatter_add_ searchsorted select selu selu_ sigmoid sigmoid_ sign silu silu_ sin sinc sinh
    size slice softmax softplus softshrink sort split split_with_sizes sqrt sqrt_ square squeeze squeeze_ stack std
    std_mean sub sub_ subtract sum swapaxes swapdims t take take_along_dim tan tanh tanh_ tensor tensor_split tensordot
    threshold threshold_ tile to topk transpose transpose_ tril triu true_divide trunc type_as unbind unflatten unfold
    unsqueeze unsqueeze_ upsample_bicubic2d upsample_bilinear2d upsample_linear1d upsample_nearest1d
    upsample_nearest2d upsample_nearest3d upsample_trilinear3d values var var_mean view view_as where zero_ zeros
    zeros_like
    adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d avg_pool1d
    avg_pool2d avg_pool3d max_pool1d max_pool2d max_pool3d max_pool2d_with_indices batch_norm conv1d conv2d conv3d
    conv_transpose1d conv_transpose2d conv_transpose3d _convolution dropout dropout_ feature_dropout alpha_dropout
    feature_alpha_dropout gru lstm rnn_tanh rnn_relu gru_cell lstm_cell _pack_padded_sequence _pad_packed_sequence
    _softmax _log_softmax _native_multi_head_attention _transformer_encoder_layer_fwd _nested_tensor_from_mask
    _shape_as_tensor _cast_Float _cast_Long _unsafe_view
    Bool Float Int IntImplicit FloatImplicit ScalarImplicit __and__ __or__ __xor__ __not__ __is__ __isnot__
    __contains__ __getitem__ __range_length __derive_index __interpolate device dict ones_like_ percentFormat
    str startswith endswith is_grad_enabled is_scripting sorted
""")
PRIM = _names("""
    NumToTensor RaiseException TupleIndex unchecked_unwrap_optional unchecked_cast data device dtype layout min max abs
    is_cuda is_quantized requires_grad shape itemsize nbytes ndim
""")
BUILTINS = _names("annotate unchecked_cast uninitialized getattr range int float bool str isinstance unwrap_optional")
TYPES = _names(
    "Tensor Optional List Tuple Dict int float bool str NoneType Final Any Device number Union complex Generator"
)
