"""What all figures share: a finished figure is written out once; no run is followed by a collection of everything."""

import plotly.graph_objects as go
import plotly.io
from streamlit import config

from pages._ui.charts import finished


def test_a_finished_figure_is_written_once_and_says_the_same():
    figure = go.Figure([go.Scatter(x=[1, 2], y=[3.5, 4.0])])
    plain = plotly.io.to_json(figure.to_dict(), validate=False)
    done = finished(figure)
    assert isinstance(done, go.Figure)
    assert done.to_dict() is done.to_dict()
    assert plotly.io.to_json(done.to_dict(), validate=False) == plain


def test_no_run_is_followed_by_a_collection_of_everything():
    assert config.get_option("runner.postScriptGC") is False
