"""The league's page: a table a setting, what peers cannot do, and a picture of ranks with intervals."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from benchmarks.common import pages
from benchmarks.league import plan, scores

NOTHING = f"Nothing is recorded yet: no setting has two methods with {scores.ENOUGH} replications of each problem."
PICTURE = "league.png"  # beside the page
LEVEL = 0.05  # of corrected p-values


def put_into(files: Sequence[Path] | None, rows: pd.DataFrame) -> None:
    """Put the tables between the marks of a page; print them where there is none."""
    pages.put(files, {"tables": markdown(rows)})


def markdown(rows: pd.DataFrame) -> str:
    """The text between the marks: a table a setting, or that nothing can be shown yet."""
    tables = scores.all_scores(rows)
    if not tables:
        return NOTHING
    text = [f"![Ranks by setting, with intervals]({PICTURE})\n", _heading(tables)]
    for key, table in tables.items():
        first = table.iloc[0]
        many = f"{first['problems']} problems, at least {first['replications']} replications of each"
        text.append(f"### {key.name}: {plan.ABOUT[key.setting]}\n\n{many}.\n\n{_table(table)}")
    return "\n".join([*text, _failures(rows)])


def _heading(tables: Mapping[plan.Table, pd.DataFrame]) -> str:
    comparisons = sum(int(table["p"].notna().sum()) for table in tables.values())
    hidden = [setting for setting in plan.SETTINGS if setting not in {key.setting for key in tables}]
    rest = f" Too little is recorded of {', '.join(hidden)}." if hidden else ""
    return (
        "Ranks are among the methods of a table, 1 is best, with 95 % intervals of a paired bootstrap. Regret is the "
        f"mean log10 after {plan.BUDGETS[-1]} trials; *more* is what a method's lies above that of `{plan.FIRST}`, "
        f"with its standard error. A star marks differences that hold at {LEVEL:.0%} after Holm's correction for all "
        f"{comparisons} comparisons of this page.{rest}\n"
    )


def _table(table: pd.DataFrame) -> str:
    lines = []
    for line in table.itertuples():
        rank = "" if pd.isna(line.rank) else f"{line.rank:.2f} ({line.rank_low:.2f} to {line.rank_high:.2f})"
        star = "*" if line.holm < LEVEL else ""
        more = "" if pd.isna(line.difference) else f"{line.difference:+.2f} ± {line.error:.2f}{star}"
        lines.append([f"`{line.method}`", rank, f"{line.regret:.2f}", more.replace("*", "\\*"), _seconds(line.ask_s)])
    return pages.table(["method", "rank", "regret", "more", "s an ask"], lines)


def _seconds(ask_s: float) -> str:
    return "< 0.001" if ask_s < 0.001 else f"{ask_s:.2g}"


def _failures(rows: pd.DataFrame) -> str:
    """Problems that methods cannot search, and shares of the trials in which a point was drawn in a peer's place."""
    reasons = rows["cannot"].fillna("").astype(str)
    cannot = rows.assign(cannot=reasons)[reasons != ""].groupby(["method", "problem", "cannot"], sort=False).size()
    lines = [f"- `{method}` cannot search {problem}: {reason}." for method, problem, reason in cannot.index]
    shares = rows.groupby("method", sort=False)["drawn"].mean() / plan.BUDGETS[-1]
    lines += [f"- `{name}`: {share:.1%} of its points were drawn for it." for name, share in shares.items() if share]
    return "\n".join(["### Where peers could not do their own", "", *lines, ""]) if lines else ""


def draw(rows: pd.DataFrame, file: Path) -> None:
    """Draw the ranks, a setting a panel and a method a row, with intervals; nothing where nothing can be shown."""
    from matplotlib.figure import Figure

    tables = scores.all_scores(rows)
    if not tables:
        return
    columns = min(3, len(tables))
    height = -(-len(tables) // columns)
    figure = Figure(figsize=(4.2 * columns, 2.8 * height), layout="constrained")
    axes = figure.subplots(height, columns, squeeze=False).flatten()
    for axis, (key, table) in zip(axes, tables.items(), strict=False):
        ranked = table[table["rank"].notna()][::-1]
        reach = [ranked["rank"] - ranked["rank_low"], ranked["rank_high"] - ranked["rank"]]
        colors = ["tab:red" if method in plan.OURS else "tab:blue" for method in ranked["method"]]
        axis.barh(
            ranked["method"], ranked["rank"], xerr=[part.clip(lower=0) for part in reach], color=colors, alpha=0.6
        )
        axis.set_title(key.name, fontsize=9)
        axis.tick_params(labelsize=7)
    for axis in axes[len(tables) :]:
        axis.set_visible(False)
    figure.supxlabel("mean rank of the recommended point's true value, 95 % intervals; 1 is best", fontsize=9)
    figure.savefig(file, dpi=80)
