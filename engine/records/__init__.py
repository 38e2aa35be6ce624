"""The nouns of the project: frozen, JSON-safe, free of heavy imports. Read this room first.

A study (study.py) joins a model (models.py) with an evaluation set (evaluation.py) and a promise; its experiments
(experiment.py) hold times (results.py) and quality (quality.py), and lists read them light (summary.py); a certificate
(certificate.py) is the last word on one of them. The vocabularies are in words.py, the facts about metrics in
metrics.py.
"""

from engine.records.base import Record
from engine.records.census import Census, PartRows
from engine.records.certificate import Certificate, Hashes
from engine.records.conformance import Conformance
from engine.records.evaluation import EvalSetInfo, SliceInfo
from engine.records.experiment import Annotation, Experiment, ExperimentSpec, Failure, JobState
from engine.records.metrics import METRICS, MetricFacts
from engine.records.models import Choice, Manifest, Recipe, Signature, Step, TensorSpec
from engine.records.operators import OperatorCost, OperatorProfile
from engine.records.quality import (
    Agreement,
    Calibration,
    ClassFigure,
    Disagreement,
    FoundSlice,
    MetricFigure,
    QualityReport,
    SliceQuality,
)
from engine.records.results import Comparison, FileRef, Interval, Measurement, RowSpread
from engine.records.source import StudySource
from engine.records.study import Band, Goal, Promise, Study, StudyAnnotation, Workload
from engine.records.summary import (
    ArtefactSummary,
    ExperimentSummary,
    MeasurementSummary,
    QualitySummary,
    summary_of,
)
from engine.records.words import (
    TERMINAL,
    TORCH_FORMATS,
    Clock,
    DisagreementKind,
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
    "METRICS",
    "TERMINAL",
    "TORCH_FORMATS",
    "Agreement",
    "Annotation",
    "ArtefactSummary",
    "Band",
    "Calibration",
    "Census",
    "Certificate",
    "Choice",
    "ClassFigure",
    "Clock",
    "Comparison",
    "Conformance",
    "Disagreement",
    "DisagreementKind",
    "EvalSetInfo",
    "Experiment",
    "ExperimentSpec",
    "ExperimentSummary",
    "Failure",
    "FileRef",
    "FoundSlice",
    "Goal",
    "Hashes",
    "Interval",
    "JobState",
    "Manifest",
    "Measurement",
    "MeasurementSummary",
    "Metric",
    "MetricFacts",
    "MetricFigure",
    "OperatorCost",
    "OperatorProfile",
    "OutputKind",
    "PartRows",
    "Preset",
    "Promise",
    "QualityReport",
    "QualitySummary",
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
    "StudyAnnotation",
    "StudySource",
    "Task",
    "TensorSpec",
    "Workload",
    "summary_of",
]
