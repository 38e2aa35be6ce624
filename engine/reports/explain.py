"""Every figure in one line of plain words, and where docs/measuring.md says how it is computed."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from engine.records import Record

DOCUMENT = Path(__file__).parents[2] / "docs" / "measuring.md"


class Explanation(Record):
    """line: what the figure says. section: heading in docs/measuring.md that says how it is computed."""

    line: str
    section: str

    @property
    def anchor(self) -> str:
        """The section as a link: docs/measuring.md#bounds."""
        return f"docs/measuring.md#{_slug(self.section)}"


_TEXT: dict[str, dict[str, str]] = {
    "Time": {
        "p50_ms": "Half of the calls are faster than this.",
        "p95_ms": "One call in twenty is slower than this.",
        "p99_ms": "One call in a hundred is slower than this.",
        "p99_cpu_ms": "The same of processor time alone, without waiting for the machine's scheduler.",
        "items_per_s": "Rows answered per second by one process that never waits.",
        "items_per_s_interval": "Where the rows per second lie with 95 % certainty.",
        "cold_start_ms": "The first call of a fresh process; it is in no other figure.",
        "load_ms": "Time until the model is open and ready.",
        "peak_bytes": "The most memory the serving process held.",
        "prepare_ms": "Of one call: making its arrays.",
        "model_ms": "Of one call: the model itself.",
        "post_ms": "Of one call: turning outputs into scores.",
        "floor_ms": "What a call costs around a model that does nothing.",
        "row_spread": "How much longer the slowest rows take than the usual ones.",
        "cpu_utilisation": "How busy the processor was while timed; 100 % is one core.",
        "accelerator_utilisation": "How busy the accelerator was while timed.",
        "accelerator_peak_bytes": "The most memory the model held on the accelerator.",
        "n_calls": "Calls that were timed.",
        "n_pairs": "Fresh process pairs; they, not the calls, carry the interval.",
        "n_warm_up": "Calls of each process before the timed ones.",
        "speedup": "How many times faster than the original, timed in the same process pairs.",
        "speedup_low": "The speed-up is at least this, with 95 % certainty on both sides.",
        "speedup_high": "The speed-up is at most this, with 95 % certainty on both sides.",
        "goal_speedup": "The speed-up in the quantity that the goal names, at the batch of the promise.",
        "speedup_vs_export": "The speed-up over a plain export to ONNX instead of over the original.",
        "speed_verdict": "Faster or slower by more than 3 %, no difference, or cannot tell.",
        "ratio": "Time of the variant as a share of the original's.",
        "low": "The smallest value that the measurements allow.",
        "high": "The largest value that the measurements allow.",
        "pairs_needed": "Process pairs that would probably decide.",
    },
    "Batch sweep": {
        "thread_gain": "How many times sooner a call is done than with the fewest threads.",
        "call_time": "One call takes a fixed part and a part per row.",
        "marginal_ms": "What each item more costs from the size before to this one.",
        "flattens": "From this batch on more rows per call bring little.",
        "auto_batch_size": "The smallest batch within 5 % of the best items per second, from a quick look up to 128.",
    },
    "Operators": {
        "operator_share": "Part of one call that this kind of operator takes.",
        "operator_nodes": "Operators of this kind that ran in one call; of trees, the trees of the block.",
        "operator_time": "Their time in one call together, without what they call themselves.",
    },
    "What is recorded": {
        "size_bytes": "Size of the model's files.",
        "compressed_bytes": "Size of the model's files once compressed: what travels to a replica.",
        "flags": "Why the figures may be disturbed.",
        "content_id": "The first digits of the SHA-256 of the model's files: the same digits, the same files.",
    },
    "Whole request": {
        "request_share": "Part of the whole request that is spent in the model, both at their median.",
        "request_ceiling": "How many times faster the request would be if the model took no time at all.",
        "whole_request": "How many times faster the request becomes with this speed-up of the model.",
    },
    "Cost": {
        "cost_per_1k": "Price of 1,000 predictions when the replica is always busy.",
    },
    "Metrics": {
        "metric_value": "The metric of this model on the selection rows.",
        "baseline": "The metric of the original.",
        "candidate": "The metric of the variant, on the same rows.",
        "recall": "Of the rows of this class, the share that is named so.",
        "precision": "Of the rows named so, the share that is of this class.",
        "roc_auc": "How well rows that have the label are told from those that do not; 50 % is chance.",
        "f1": "Recall and precision in one number; low when either is.",
    },
    "Quality": {
        "drop": "What the variant loses in the metric; a minus is a gain.",
        "metric_drop": "What the variant loses in the metric; a minus is a gain.",
        "worst_slice_drop": "The largest loss among the slices that have rows enough.",
        "quality_verdict": "Whether the loss is within what the promise allows.",
        "n_rows": "Labelled rows that were judged.",
    },
    "Bounds": {
        "bound": "The loss could be as large as this; more is excluded.",
        "alpha": "How often such a bound may be too low.",
        "n_groups": "Groups of rows that depend on each other; they are counted, not the rows.",
    },
    "Slices": {
        "too_few_rows": "So few rows that even without any loss nothing is shown.",
        "harm_p": "How likely chance alone makes this slice look so much worse; small means it did get worse.",
    },
    "Found slices": {
        "mean_loss": "What a row of this slice loses on average, on rows the slice was not found on.",
        "mean_loss_elsewhere": "What other rows lose on average.",
    },
    "Agreement": {
        "flip_fraction": "Rows whose most likely class changed.",
        "bad_flip_fraction": "Rows the original had right and the variant has wrong.",
        "good_flip_fraction": "Rows the original had wrong and the variant has right.",
        "row_flip_fraction": "Rows on which any of the labels changed.",
        "n_labels": "Labels that are decided on every row.",
        "max_abs_diff": "The largest change of any output.",
        "p99_abs_diff": "On 99 % of the rows no output changes more than this.",
        "mean_kl_nats": "How far the class probabilities moved, on average.",
        "max_kl_nats": "How far they moved on the worst row.",
        "mean_js_nats": "The same on average, both ways alike, at most 0.69.",
        "top_k": "How many of the most likely classes are compared.",
        "top_k_overlap": "Share of the most likely classes that both models name.",
        "identical": "Every output is bit for bit the original's.",
        "edge_rows": "Evaluation rows, and rows made from them with one value replaced by an awkward one.",
        "edge_differ": "Rows on which the trees took another way than the original's.",
        "edge_largest": "The largest difference of any answer to these rows, rounding included.",
    },
    "Calibration": {
        "n_bins": "Groups of rows with similar confidence.",
        "equal_width": "How far confidence is from the share of right answers, on average.",
        "calibration_error": "How far the probability of this label is from the share of rows that have it.",
        "equal_mass": "The same with equally many rows in every group.",
        "change": "How much the variant is worse calibrated than the original; grey when 0 lies inside.",
    },
    "Certificates": {
        "certificate": "The verdict on rows that no choice has seen, by a promise made in advance.",
        "number": "Which of the few certificates this promise allows.",
        "not_covered": "Slices about which the certificate says nothing.",
        "exact": "The answers are the original's, so every slice keeps its quality.",
    },
    "Rows needed": {
        "rows_needed": "Rows after which a variant that loses nothing is certified four times out of five.",
    },
}  # fmt: skip
EXPLANATIONS: dict[str, Explanation] = {
    figure: Explanation(line=line, section=section)
    for section, lines in _TEXT.items()
    for figure, line in lines.items()
}


def explain(figure: str) -> Explanation:
    """What a figure says; `figure` is the name of its field or column."""
    return EXPLANATIONS[figure]


@cache
def how_computed(section: str) -> str:
    """The Markdown of a section of docs/measuring.md, without its heading."""
    parts = re.split(r"^## (.+)$", DOCUMENT.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))[section].strip()


def _slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
