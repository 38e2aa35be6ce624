"""Training on another net's answers: the loss is right (case P37), and the best state is kept."""

import numpy as np
import pytest
import torch
from torch import nn

from engine.errors import DoesNotFit
from engine.graph.teaching import Lesson, lesson, loss_of, measure_statistics, teach


@pytest.fixture(autouse=True)
def _one_thread():
    """Threads that wait for each other cost tiny nets a hundred times their arithmetic on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_p37_the_loss_is_zero_for_equals_never_negative_and_a_mean_over_rows():
    torch.manual_seed(0)
    teacher, student = torch.randn(40, 3), torch.randn(40, 3)
    assert loss_of([teacher], [teacher], ["logits"], 4.0).item() == pytest.approx(0, abs=1e-6)
    found = loss_of([student], [teacher], ["logits"], 4.0).item()
    assert found > 0
    rows = [loss_of([student[i : i + 1]], [teacher[i : i + 1]], ["logits"], 4.0).item() for i in range(40)]
    assert min(rows) >= 0
    assert found == pytest.approx(np.mean(rows), rel=1e-5)  # a mean over rows, not over classes


def test_p37_the_square_of_the_temperature_keeps_gradients_of_one_size():
    torch.manual_seed(0)
    teacher = torch.randn(200, 3)
    sizes = []
    for temperature in (1.0, 4.0, 8.0):
        student = torch.zeros(200, 3, requires_grad=True)
        loss_of([student], [teacher], ["logits"], temperature).backward()
        sizes.append(student.grad.abs().mean().item())
    assert max(sizes) < 2 * min(sizes)  # without the square they would fall 64 times


def test_against_the_formula_and_probabilities_as_their_logits():
    torch.manual_seed(1)
    teacher, student = torch.randn(30, 4), torch.randn(30, 4)
    p, q = torch.softmax(teacher / 2, 1), torch.softmax(student / 2, 1)
    right = 4 * (p * (p / q).log()).sum(1).mean().item()
    assert loss_of([student], [teacher], ["logits"], 2.0).item() == pytest.approx(right, rel=1e-4)
    given = [torch.softmax(each, 1) for each in (student, teacher)]
    assert loss_of(given[:1], given[1:], ["probabilities"], 2.0).item() == pytest.approx(right, rel=1e-3)
    one = [torch.sigmoid(each[:, :1]) for each in (student, teacher)]
    two = [each[:, :1] for each in (student, teacher)]
    assert loss_of(one[:1], one[1:], ["probabilities"]).item() == pytest.approx(
        loss_of(two[:1], two[1:], ["logits"]).item(), rel=1e-3
    )


def test_numbers_are_compared_by_their_variance_and_codes_not_at_all():
    wanted = torch.tensor([[0.0], [2.0]])
    assert loss_of([wanted + 1], [wanted], [None]).item() == pytest.approx(1.0)
    assert loss_of([wanted * 1000 + 1000], [wanted * 1000], [None]).item() == pytest.approx(1.0)
    assert loss_of([torch.tensor([1])], [torch.tensor([2])], [None]).item() == 0


class Answering(nn.Module):
    """A net that answers as rebuilt programs do: a tuple. It notes in which mode and with which gradients."""

    def __init__(self, width=8):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, 3))
        self.seen = []

    def forward(self, x):
        self.seen.append((self.training, torch.is_grad_enabled()))
        return (self.net(x),)


@pytest.fixture
def rows():
    return {"x": np.random.default_rng(0).normal(size=(256, 4)).astype(np.float32)}


def test_p37_the_teacher_is_asked_once_in_evaluation_mode_without_gradients(rows):
    torch.manual_seed(0)
    teacher = Answering()
    teacher.train()
    made = lesson(teacher, rows, ["x"], 200, 32, seed=1)
    assert set(teacher.seen) == {(False, False)}
    assert len(made) == 192
    teacher.seen.clear()
    teach(
        Answering(), made, ["logits"], epochs=2, rate=1e-3, temperature=2.0, batch=32, seed=0, progress=lambda *_: None
    )
    assert teacher.seen == []


def test_a_student_learns_the_teacher_and_keeps_its_best_state(rows):
    torch.manual_seed(0)
    teacher, student = Answering(), Answering()
    made = lesson(teacher, rows, ["x"], 256, 32, seed=1)
    told = []
    report = teach(
        student,
        made,
        ["logits"],
        epochs=12,
        rate=1e-2,
        temperature=2.0,
        batch=32,
        seed=0,
        progress=lambda part, text: told.append(text),
    )
    assert min(report.losses) < 0.3 * report.losses[0]
    assert not student.training
    assert told[0].startswith("epoch 1 of 12")
    with torch.no_grad():
        agreement = (student(made.inputs[0])[0].argmax(1) == made.answers[0].argmax(1)).float().mean().item()
    assert agreement > 0.85


def test_a_rate_that_destroys_is_undone(rows):
    torch.manual_seed(0)
    teacher = Answering()
    made = lesson(teacher, rows, ["x"], 256, 32, seed=1)
    student = Answering()
    student.load_state_dict(teacher.state_dict())
    report = teach(
        student, made, ["logits"], epochs=20, rate=5.0, temperature=1.0, batch=32, seed=0, progress=lambda *_: None
    )
    assert report.stopped == "no better for 4 epochs"
    assert report.n_epochs == 4
    with torch.no_grad():
        torch.testing.assert_close(student(made.inputs[0])[0], made.answers[0], atol=1e-5, rtol=1e-5)


def test_statistics_are_measured_over_the_rows():
    norm = nn.BatchNorm1d(2)
    x = torch.randn(96, 2) * torch.tensor([3.0, 0.5]) + torch.tensor([10.0, -4.0])
    assert measure_statistics(norm, Lesson((x,), (x,)), 32) == 1
    torch.testing.assert_close(norm.running_mean, x.mean(0), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(norm.running_var.sqrt(), x.std(0), atol=0.2, rtol=0.1)
    assert not norm.training
    assert measure_statistics(nn.Linear(2, 2), Lesson((x,), (x,)), 32) == 0


def test_too_few_rows_are_said(rows):
    with pytest.raises(DoesNotFit, match="at least 20 rows to train on; this study has 8"):
        lesson(Answering(), {"x": rows["x"][:8]}, ["x"], 100, 4, seed=0)
