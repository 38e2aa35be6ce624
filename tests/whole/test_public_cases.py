"""Cases of the public record, from the files to the verdict. What one room decides alone is tested beside that room."""

import numpy as np
import pytest

from engine.environment import describe
from engine.errors import BadData, BadInput, BadModel, DoesNotFit
from engine.experiment import uploaded
from engine.plugin import levers
from engine.records import Step


def rows_in(made):
    return sum(made.info.splits[name] for name in ("train", "selection", "certification"))


def test_p01_a_fixed_batch_is_scored_row_by_row(make, public_cases):
    made = make(public_cases / "P01/model.onnx", public_cases / "P01/eval.csv")
    assert made.study.signature.fixed_batch == 1
    assert rows_in(made) == 200
    assert len(made.answers()) == made.info.splits["selection"]


def test_p04_a_fraction_for_an_integer_input_names_row_and_column(make, public_cases):
    with pytest.raises(BadInput) as raised:
        make(public_cases / "P04/model.onnx", public_cases / "P04/eval_one_fraction.csv")
    assert "row 4" in str(raised.value)
    assert "ids" in str(raised.value)


@pytest.mark.slow
def test_p05_a_converted_classifier_names_its_classes_and_int8_has_nothing_to_do(make, public_cases):
    made = make(public_cases / "P05/model.onnx", public_cases / "P05/eval.csv")
    assert made.study.signature.classes == ("no", "yes")
    assert made.study.signature.output_kind == "probabilities"
    assert made.answers().shape == (made.info.splits["selection"], 2)
    for lever in ("quantisation.int8_dynamic", "quantisation.int8_static", "quantisation.float16"):
        with pytest.raises(DoesNotFit, match="no MatMul"):
            made.answers(Step(lever=lever))


def test_p05_without_the_zipmap_the_answers_stay(make, public_cases):
    made = make(public_cases / "P05/model.onnx", public_cases / "P05/eval.csv")
    np.testing.assert_allclose(made.answers(Step(lever="export.onnx_optimise")), made.answers(), rtol=1e-6)


def test_p08_a_pickle_is_refused(make, public_cases):
    with pytest.raises(BadModel, match="pickle"):
        make(public_cases / "P08/model.pt", public_cases / "P09/eval.csv")


def test_p09_a_cut_booster_is_a_sentence(make, public_cases):
    with pytest.raises(BadModel, match="damaged or cut off"):
        make(public_cases / "P09/model_cut.txt", public_cases / "P09/eval.csv", feature_order=("f0", "f1", "f2", "f3"))


@pytest.mark.slow
def test_p10_a_custom_objective_gives_a_raw_score(make, public_cases):
    made = make(public_cases / "P10/model.txt", public_cases / "P10/eval.csv", feature_order=("f0", "f1", "f2", "f3"))
    assert made.study.signature.output_kind == "raw score"
    assert made.quality().baseline > 0.9
    with pytest.raises(DoesNotFit, match="objective"):
        made.answers(Step(lever="export.lightgbm_to_onnx"))


@pytest.mark.slow
def test_p11_categories_come_from_the_model(make, public_cases):
    made = make(public_cases / "P11/model.txt", public_cases / "P11/eval.csv")
    assert made.quality().baseline > 0.9
    unknown = make(public_cases / "P11/model.txt", public_cases / "P11/eval_unknown.csv")
    assert any("200" in note and "colour" in note for note in unknown.info.notes)


@pytest.mark.slow
def test_p12_columns_are_matched_by_name(make, public_cases):
    made = make(public_cases / "P12/model.txt", public_cases / "P12/eval.csv")
    assert made.quality().baseline > 0.9
    assert any("100 certification rows cannot certify a drop limit of 0.01" in note for note in made.info.notes)


@pytest.mark.parametrize("name", ["latin1.csv", "bom.csv"])
def test_p13_encodings_give_the_same_table(make, public_cases, name):
    made = make(public_cases / "P13/model.onnx", public_cases / f"P13/{name}", label="größe")
    assert rows_in(made) == 200
    assert set(made.study.signature.classes) == {"groß", "klein"}


def test_p14_the_text_na_is_a_class(make, public_cases):
    made = make(public_cases / "P14/model.onnx", public_cases / "P14/eval.csv")
    assert set(made.study.signature.classes) == {"NA", "EU"}
    assert rows_in(made) == 200


@pytest.mark.slow
def test_p15_a_row_number_is_no_feature(make, public_cases):
    made = make(public_cases / "P15/model.txt", public_cases / "P15/eval.csv")
    assert any("row number" in note for note in made.info.notes)
    assert made.quality().baseline > 0.9


def test_p16_object_arrays_are_refused_with_the_fix(make, public_cases):
    with pytest.raises(BadData, match=r"astype\(str\)"):
        make(public_cases / "P16/model.onnx", public_cases / "P16/eval.npz")


def test_p17_unlabelled_rows_are_left_out(make, public_cases):
    made = make(public_cases / "P17/model.onnx", public_cases / "P17/eval.csv")
    assert made.info.n_unlabelled == 20
    assert any("20 rows without label" in note for note in made.info.notes)


def test_p18_a_slice_that_cannot_be_judged_says_why(make, public_cases):
    made = make(public_cases / "P18/model.onnx", public_cases / "P18/eval.csv", slices=("region",))
    report = made.quality(Step(lever="quantisation.int8_dynamic"))
    assert report.baseline is not None
    unjudged = [part for part in report.slices if part.verdict in ("too few rows", "not judged")]
    assert {part.value for part in unjudged if part.column == "region"} == {"tiny", "north", "south"}
    assert all(part.reason for part in unjudged)


def test_p19_float16_survives_a_cast(make, public_cases):
    made = make(public_cases / "P19/model.onnx", public_cases / "P19/eval.csv")
    np.testing.assert_allclose(made.answers(Step(lever="quantisation.float16")), made.answers(), atol=0.01)


@pytest.mark.slow
def test_p21_convolutions_are_left_alone_by_dynamic_int8(make, public_cases):
    made = make(public_cases / "P21/model.onnx", public_cases / "P21/eval.npz")
    with pytest.raises(DoesNotFit, match="only convolutions"):
        made.answers(Step(lever="quantisation.int8_dynamic"))
    assert made.answers(Step(lever="quantisation.int8_static")).shape == made.answers().shape


@pytest.mark.slow
def test_p23_per_tensor_collapses_where_per_channel_does_not(make, public_cases):
    made = make(public_cases / "P23/model.onnx", public_cases / "P23/eval.npz")
    tensor = made.quality(Step(lever="quantisation.int8_dynamic", params={"per_channel": False}))
    channel = made.quality(Step(lever="quantisation.int8_dynamic", params={"per_channel": True}))
    assert tensor.drop > 0.1 > channel.drop
    assert tensor.verdict != "within band"


@pytest.mark.slow
def test_p25_linear_trees_are_not_converted(make, public_cases):
    made = make(public_cases / "P25/model.txt", public_cases / "P25/eval.csv", feature_order=("f0", "f1", "f2", "f3"))
    with pytest.raises(DoesNotFit, match="linear trees cannot be converted"):
        made.answers(Step(lever="export.lightgbm_to_onnx"))


@pytest.mark.slow
def test_p26_a_random_forest_stays_an_average(make, public_cases):
    made = make(public_cases / "P26/model.txt", public_cases / "P26/eval.csv", feature_order=("f0", "f1", "f2", "f3"))
    np.testing.assert_allclose(made.answers(Step(lever="export.lightgbm_to_onnx")), made.answers(), atol=1e-12)
    halved = made.answers(Step(lever="pruning.fewer_trees", params={"keep_fraction": 0.5}))
    assert 0 <= halved.min() <= halved.max() <= 1


@pytest.mark.slow
def test_what_cannot_work_is_known_before_it_is_tried(make, public_cases):
    linear = make(public_cases / "P25/model.txt", public_cases / "P25/eval.csv", feature_order=("f0", "f1", "f2", "f3"))
    classifier = make(public_cases / "P05/model.onnx", public_cases / "P05/eval.csv")
    for made, lever, reason in (
        (linear, "export.lightgbm_to_onnx", "linear trees cannot be converted"),
        (classifier, "quantisation.int8_dynamic", "no MatMul/Conv inside"),
    ):
        manifest = uploaded(made.study, made.workspace).manifest
        assert reason in levers()[lever].fits(manifest, describe())
