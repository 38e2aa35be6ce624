import pytest

from engine.data.separator import check_separator, header_of, sniff_separator
from engine.errors import BadData


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n", ";"),
        ("a\tb\tc\n1\t2\t3\n", "\t"),
        ("a|b\n1|2\n", "|"),
        ('a,b\n"x;y;z",2\n', ","),
        ('a;"b,c,d"\n1;2\n', ";"),
        ("a,b,c\n1,2,3\n1,2\n", ","),
    ],
)
def test_the_separator_that_cuts_evenly(text, separator):
    assert sniff_separator(text) == separator


@pytest.mark.parametrize("text", ["a\n1\n2\n", "just text\n", 'a\n"1,2,3"\n'])
def test_one_column_is_refused(text):
    with pytest.raises(BadData, match="only one column"):
        sniff_separator(text)


def test_header_cells_are_stripped_and_may_be_quoted():
    assert header_of(' a , "b, c",\n1,2,3\n', ",") == ["a", '"b', 'c"', ""]
    assert header_of('a,"b, c","d\ne"\n1,2,3\n', ",") == ["a", "b, c", "d\ne"]


@pytest.mark.parametrize(("given", "mark"), [("tab", "\t"), ("\\t", "\t"), (";", ";"), ("semicolon", ";"), ("^", "^")])
def test_a_separator_may_be_spoken(given, mark):
    assert check_separator(given) == mark


@pytest.mark.parametrize("given", ["", ",,", "a", '"', "\n", "§"])
def test_what_cannot_separate_is_refused(given):
    with pytest.raises(BadData, match="cannot be a separator"):
        check_separator(given)
