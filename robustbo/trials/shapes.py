"""Shapes of the lines of an optimization's journal: their keys, and of which kind the entries are."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from robustbo import limits
from robustbo.trials.noise import PATTERN

Number = Annotated[int, Field(strict=True, ge=0, le=2**53)]
Finite = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Spread = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
Value = Finite | Annotated[str, Field(strict=True)] | Annotated[bool, Field(strict=True)] | None
Text = Annotated[str, Field(strict=True)]
Finites = Finite | dict[Text, Finite]  # of several outcomes by name
Limit = Annotated[str, Field(strict=True, pattern=r"^[<>]-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?$")]  # a bound, as written
Values = Finite | Limit | dict[Text, Finite | Limit]
OfMean = Annotated[str, Field(strict=True, pattern=PATTERN)]  # the noise of a mean, as written
Spreads = Spread | None | dict[Text, Spread | None]
Noises = Spread | OfMean | None | dict[Text, Spread | OfMean | None]
Yes = Annotated[bool, Field(strict=True)]
Label = Annotated[str, Field(strict=True, min_length=1, max_length=limits.SOURCE_CHARACTERS)]
Source = Annotated[dict[Label, Label], Field(max_length=limits.SOURCE_KINDS)]
LabelText = Annotated[str, Field(strict=True, min_length=1, max_length=limits.LABEL_CHARACTERS)]
LabelValue = LabelText | Finite | Annotated[bool, Field(strict=True)]
Labels = Annotated[dict[LabelText, LabelValue], Field(max_length=limits.LABELS)]
Time = Annotated[str, Field(strict=True, pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?\+00:00$")]
Params = Annotated[dict[Text, Value], Field(min_length=1)]
ANY = ConfigDict(extra="allow")  # what later versions add


@with_config(ANY)
class _Event(TypedDict):
    trial: Number
    group: NotRequired[Annotated[list[Number], Field(min_length=2, max_length=2)]]
    by: NotRequired[Text | None]
    at: NotRequired[Time]


class _Ask(_Event):
    event: Literal["ask"]
    params: Params
    origin: NotRequired[Text]
    expected: NotRequired[Finites | None]
    expected_sd: NotRequired[Spreads]
    expected_noise: NotRequired[Spreads]
    expected_error: NotRequired[Finites]
    expected_error_sd: NotRequired[Spreads]
    repeats: NotRequired[Number | None]
    reason: NotRequired[Text | None]
    fallback: NotRequired[Text | None]
    fit_s: NotRequired[Finite]
    acquisition_s: NotRequired[Finite]
    unseen: NotRequired[Annotated[list[Number], Field(min_length=2, max_length=2)]]
    fixed: NotRequired[Params]
    source: NotRequired[Source]
    elsewhere: NotRequired[Source]


class _Enqueue(_Event):
    event: Literal["enqueue"]
    params: Params
    labels: NotRequired[Labels]
    source: NotRequired[Source]


class _Handed(_Event):
    event: Literal["assign", "requeue", "withdraw", "exclude", "include"]
    outcome: NotRequired[Text]
    reason: NotRequired[Text]
    vouch: NotRequired[Yes]
    source: NotRequired[Source]


class _Ended(_Event):
    labels: NotRequired[Labels]
    source: NotRequired[Source]
    measured_at: NotRequired[Time]
    params: NotRequired[Params]
    repeats: NotRequired[Number | None]
    origin: NotRequired[Text]


class _Tell(_Ended):
    event: Literal["tell", "amend"]
    value: Values
    sd: Noises
    lost: NotRequired[list[Text]]
    reasons: NotRequired[dict[Text, Text]]  # of those
    reason: NotRequired[Text]  # of an amendment
    raw: NotRequired[Yes]  # likewise
    unchanged: NotRequired[Yes]  # likewise


class _Fail(_Ended):
    event: Literal["fail"]
    reason: Text
    retry: NotRequired[Yes]


class _Diagnose(_Event):
    event: Literal["diagnose"]
    observations: Number
    outliers: list[Number]
    percentiles: list[Finite]
    void: Yes


class _Extend(_Event):
    event: Literal["extend"]
    rows: Annotated[list[Annotated[list[Value], Field(min_length=1)]], Field(min_length=1)]


class _Change(_Event):
    event: Literal["change"]
    space: Annotated[dict[Text, dict[str, Any]], Field(min_length=1)]
    constraints: NotRequired[list[Text]]
    was: NotRequired[Params]


class _Verdict(_Event):
    event: Literal["verdict"]
    verdict: Literal["exclude", "include", "correct"]
    source: Source
    since: NotRequired[Number]
    error: NotRequired[Finite]
    outcome: NotRequired[Text]
    reason: NotRequired[Text]


@with_config(ANY)
class _JournalHeader(TypedDict):
    settings: dict[Text, Any]
    versions: dict[Text, Text]


HEADER: TypeAdapter[Any] = TypeAdapter(_JournalHeader)
EVENT: TypeAdapter[Any] = TypeAdapter(
    Annotated[
        _Ask | _Enqueue | _Handed | _Tell | _Fail | _Diagnose | _Extend | _Change | _Verdict,
        Field(discriminator="event"),
    ]
)
