"""The nouns of the project: frozen, JSON-safe, free of heavy imports. Read this room first.

A study (study.py) joins a model (models.py) with an evaluation set (evaluation.py) and a promise; its experiments
(experiment.py) hold results (results.py). The vocabularies are in words.py.
"""

from engine.records.base import Record
from engine.records.evaluation import EvalSetInfo, SliceInfo
from engine.records.experiment import Annotation, Experiment, ExperimentSpec, Failure, JobState
from engine.records.models import Choice, Manifest, Recipe, Signature, Step, TensorSpec
from engine.records.operators import OperatorCost, OperatorProfile
from engine.records.results import (
    Agreement,
    Comparison,
    FileRef,
    Interval,
    Measurement,
    QualityReport,
    RowSpread,
    SliceQuality,
)
from engine.records.study import Band, Goal, Promise, Study, Workload
from engine.records.words import (
    TERMINAL,
    Clock,
    Metric,
    OutputKind,
    Preset,
    QualityVerdict,
    Role,
    SpeedVerdict,
    SplitName,
    Status,
    Task,
)

__all__ = [
    "TERMINAL",
    "Agreement",
    "Annotation",
    "Band",
    "Choice",
    "Clock",
    "Comparison",
    "EvalSetInfo",
    "Experiment",
    "ExperimentSpec",
    "Failure",
    "FileRef",
    "Goal",
    "Interval",
    "JobState",
    "Manifest",
    "Measurement",
    "Metric",
    "OperatorCost",
    "OperatorProfile",
    "OutputKind",
    "Preset",
    "Promise",
    "QualityReport",
    "QualityVerdict",
    "Recipe",
    "Record",
    "Role",
    "RowSpread",
    "Signature",
    "SliceInfo",
    "SliceQuality",
    "SpeedVerdict",
    "SplitName",
    "Status",
    "Step",
    "Study",
    "Task",
    "TensorSpec",
    "Workload",
]
