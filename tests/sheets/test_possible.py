"""Values outside the possible range of an outcome, and columns of another unit, in sheets."""

import pytest

import robustbo as rb

SPACE = rb.Space(x=rb.Float(0, 1))
YIELD = rb.Outcome("yield", unit="%", low=0, high=100)
WHY = "outside the possible range [0, 100] %"
REFUSED = r"yield must be in the possible range \[0, 100\] %, got "


@pytest.fixture
def begun(tmp_path):
    """Begins a study whose asks are quick, and its sheet of two trials."""

    def begin(**given):
        opt = rb.Optimizer(SPACE, acquisition="sobol", seed=1, journal=tmp_path / "j.jsonl", **given)
        opt.write_sheet(tmp_path / "todo.csv", 2)
        return opt, tmp_path / "todo.csv"

    return begin


def fill(sheet, *texts):
    """Put texts behind the first lines of a sheet below its header, and lines of their own below them."""
    header, *lines = sheet.read_text().splitlines()
    rows = [a + b for a, b in zip(lines, texts, strict=False)]
    sheet.write_text("\n".join([header, *rows, *texts[len(lines) :]]) + "\n")


def test_an_impossible_value_is_an_error_of_its_row_and_nothing_is_told(begun):
    opt, sheet = begun(direction="maximize", outcome=YIELD)
    fill(sheet, "82.0", "820")
    with pytest.raises(
        rb.SheetError, match="line 3: " + REFUSED + r"820 %; correct it.*read_sheet.*out_of_range='exclude'"
    ):
        opt.read_sheet(sheet)
    with pytest.raises(rb.SheetError, match="line 3: " + REFUSED):
        opt.write_sheet(sheet, 1)
    with pytest.raises(ValueError, match=r"out_of_range must be one of .*, got 'clip'"):
        opt.read_sheet(sheet, out_of_range="clip")
    assert [trial.state for trial in opt.history] == ["pending", "pending"]


def test_or_it_is_kept_and_excluded_and_read_again_in_peace(begun):
    opt, sheet = begun(direction="maximize", outcome=YIELD)
    fill(sheet, "82.0", "820", ",0.5,,-3")
    told = opt.read_sheet(sheet, out_of_range="exclude")
    assert [(t.state, t.value, t.note) for t in told] == [
        ("told", 82.0, None),
        ("excluded", 820.0, WHY),
        ("excluded", -3.0, WHY),
    ]
    assert opt.read_sheet(sheet) == []
    sheet.write_text(sheet.read_text().replace("\n2,0.5", "\n,0.5"))  # as if the number could not have been written
    with pytest.warns(rb.SheetWarning, match="is taken for trial 2"):
        assert opt.read_sheet(sheet) == []
    assert "\n2,0.5" in sheet.read_text()


@pytest.mark.parametrize("what", ["raise", "exclude"])
def test_a_value_that_corrects_another_must_be_possible(begun, what):
    opt, sheet = begun(direction="maximize", outcome=YIELD)
    fill(sheet, "82.0")
    opt.read_sheet(sheet)
    sheet.write_text(sheet.read_text().replace("82.0", "-7"))
    with pytest.raises(rb.SheetError, match="line 2: " + REFUSED + "-7 %; write the right value"):
        opt.read_sheet(sheet, amend=True, out_of_range=what)
    assert opt.history[0].value == 82.0


def test_of_several_outcomes_each_by_itself_also_one_that_comes_later(begun):
    opt, sheet = begun(objectives={"yield": "maximize", "cost": "minimize"}, outcome=YIELD)
    opt.tell(0, {"cost": 3})
    sheet.write_text("trial,yield,cost\n0,820,3\n1,50,2\n")
    with pytest.raises(rb.SheetError, match="line 2: " + REFUSED + "820 %; correct it"):
        opt.read_sheet(sheet)
    assert len(opt.read_sheet(sheet, out_of_range="exclude")) == 2
    late = opt.history[0].outcomes["yield"]
    assert (late.value, late.is_excluded, late.note) == (820.0, True, WHY)
    assert not opt.history[0].outcomes["cost"].is_excluded


class TestColumns:
    @pytest.mark.parametrize(
        ("column", "said"),
        [
            ("yield (g)", r"the column 'yield \(%\)' must be in %, got 'yield \(g\)'; convert its values"),
            ("yeild", r"got \['trial', 'x', 'yeild'\]; rename 'yeild' to 'yield \(%\)', or say value='yeild'"),
            ("yeild (g)", r"'yeild \(g\)'\]; if it has another name, say so"),
            ("sd (g),yield", r"the column 'sd' must be in %, got 'sd \(g\)'"),
        ],
    )
    def test_what_is_in_another_unit_is_not_taken_and_not_suggested(self, begun, column, said):
        opt, sheet = begun(direction="maximize", outcome=YIELD)
        sheet.write_text(f"trial,x,{column}\n0,,5,5\n")
        with pytest.raises(rb.SheetError, match=said):
            opt.read_sheet(sheet)

    @pytest.mark.parametrize(
        "header", ["yield", "Yield [%]", "yield (g),yield", "yield (g),yield (%)", "yield (g),value"]
    )
    def test_what_is_in_its_unit_is(self, begun, header):
        opt, sheet = begun(direction="maximize", outcome=YIELD)
        sheet.write_text(f"trial,{header}\n0,{'5,' * header.count(',')}50\n")
        value = "value" if header.endswith("value") else None
        assert [trial.value for trial in opt.read_sheet(sheet, value=value)] == [50.0]

    def test_of_several_outcomes_too(self, begun):
        opt, sheet = begun(objectives={"yield": "maximize", "cost": "minimize"}, outcome=YIELD)
        sheet.write_text("trial,yield (g),cost\n0,5,5\n")
        with pytest.raises(rb.SheetError, match=r"the column 'yield' must be in %, got 'yield \(g\)'"):
            opt.read_sheet(sheet)

    def test_a_parameter_that_is_misspelt_is_named(self, tmp_path):
        space = rb.Space(temperature=rb.Float(0, 100), time=rb.Float(0, 1))
        opt, sheet = rb.Optimizer(space, direction="maximize", acquisition="sobol"), tmp_path / "own.csv"
        sheet.write_text("trial,time,temprature,value\n,0.5,30,1.5\n")
        said = r"a column 'temperature' for rows without a trial's number, .*; did you mean 'temprature'\? rename it"
        with pytest.raises(rb.SheetError, match=said):
            opt.read_sheet(sheet)
        sheet.write_text("trial,temperature,value\n,30,1.5\n")
        with pytest.raises(rb.SheetError, match=r"a column 'time' for rows .*'value'\]; add it"):
            opt.read_sheet(sheet)

    def test_a_parameter_is_no_column_of_values(self, begun, tmp_path):
        opt, sheet = begun(direction="maximize")
        with pytest.raises(rb.SheetError, match="value='x' is a parameter"):
            opt.write_sheet(tmp_path / "new.csv", value="x")
        with pytest.raises(rb.SheetError, match="value='x' is a parameter"):
            opt.read_sheet(sheet, value="x")
