"""Work in a real browser: tables of points, two people at once, and what is pasted beside the table."""

import itertools
import math

import pandas as pd
import pytest

import robustbo as rb

pytest.importorskip("selenium.webdriver", reason="no Selenium here")
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.serve import browsing
from tests.serve.browsing import fill, has, look, paste, press, sign_in, texts, wait

pytestmark = pytest.mark.slow


@pytest.fixture
def opt(tmp_path):
    """A study of three trials that are to be measured, which is begun before the server is."""
    space = rb.Space(x=rb.Float(0, 1))
    opt = rb.Optimizer(space, direction="minimize", journal=tmp_path / "suzuki.jsonl", seed=0)
    opt.ask(3)
    return opt


def test_a_study_is_begun_with_the_points_of_a_table(server, browser, tmp_path):
    table = tmp_path / "Katalog.csv"
    table.write_bytes("Lösemittel;Dosis (mL)\r\nDMF;0,5\r\nTHF;1,5\r\nDMF;2\r\n".encode("cp1252"))
    sign_in(browser, server[0])
    wait(lambda: "/begin" in browser.current_url, "the form")
    fill(browser, "o0.name", "yield")
    has(browser, "#preview", "there must be a parameter")
    browser.find_element(By.CSS_SELECTOR, "summary").click()
    browser.find_element(By.NAME, "pool").send_keys(str(table))
    has(
        browser, "#preview", "The table has 3 points. Its columns were taken for Lösemittel: one of several; Dosis (mL)"
    )
    fill(browser, "constraints", "Dosis <= 1,8 ml")
    has(browser, "[data-field=constraints] .here", "constraint")
    fill(browser, "constraints", "Dosis <= 1,8 mL")
    wait(lambda: not texts(browser, ".here"), "the constraint is understood")
    look(browser, "begin-table")
    press(browser, "Begin the study")
    has(browser, "h1", "To be measured")
    assert rb.Study.resume(server[1]).settings.space.size == 3


@pytest.fixture
def pool(tmp_path):
    """A study of a table of 60 points, one of whose values is wrong, which is begun before the server is."""
    rows = itertools.product(("DMF", "THF", "water"), ("L1", "L2", "L3", "L4"), (20, 40, 60, 80, 100))
    space = rb.Pool(pd.DataFrame(rows, columns=["solvent", "ligand", "heat (°C)"]))
    outcome, place = rb.Outcome("yield", unit="%"), tmp_path / "suzuki.jsonl"
    opt = rb.Optimizer(space, direction="maximize", outcome=outcome, journal=place, seed=0)
    share = {"DMF": 1.0, "THF": 0.8, "water": 0.4, "L1": 0.6, "L2": 1.0, "L3": 0.8, "L4": 0.7}
    for _ in range(20):
        trial = opt.ask()
        solvent, ligand, heat = trial.params.values()
        value = 90 * math.exp(-(((heat - 60) / 50) ** 2)) * share[solvent] * share[ligand]
        opt.tell(trial, 2.0 if trial.number == 11 else round(value, 1))
    opt.ask()
    return opt


def test_the_rows_of_a_table_are_on_its_map_and_say_what_they_are_where_a_finger_touches_them(pool, server, browser):
    sign_in(browser, server[0])
    has(browser, "h1", "To be measured")
    browser.get(f"{server[0].partition('/login')[0]}/model")
    has(browser, "#model h2", "Map of")
    wait(lambda: not browser.find_elements(By.CSS_SELECTOR, ".asking"), "the map is of all values")
    look(browser, "pool-map")
    browsing.resize(browser, *browsing.SIZES[3])
    browsing.tap(browser, "#maps-title ~ .side-by-side svg path", away=2)  # the cross of the wrong value
    has(browser, ".touched", "Trial 11, ")
    has(browser, ".touched", "measured 2 %; the other 19 measurements predict")
    has(browser, ".touched", "predicted")  # its row
    browser.execute_script("document.querySelector('#maps-title').scrollIntoView()")
    browsing.take_picture(browser, "pool-narrow-dark")
    assert browsing.violations(browser) == []


def test_whoever_comes_second_keeps_what_they_typed(opt, server, browser):
    sign_in(browser, server[0])
    has(browser, "h1", "To be measured")
    browser.find_elements(By.CSS_SELECTOR, ".entry input")[0].send_keys("0,1", Keys.ENTER)  # by keys alone
    wait(lambda: opt.history[0].state == "told", "Enter records")
    wait(lambda: focus(browser) == "value of trial 1", "and goes down")
    browser.find_element(By.CSS_SELECTOR, "[aria-label='value of trial 1']").send_keys("0,2")
    opt.tell(1, 0.3)  # as somebody else
    has(browser, ".row-note", "What you typed is still here")
    press(browser, "Record mine all the same")
    has(browser, ".row-note", "recorded meanwhile: 0.3")
    press(browser, "Record mine as one more measurement there")
    wait(lambda: len(opt.history) == 4, "one more measurement")
    assert (opt.history[1].value, opt.history[3].value) == (0.3, 0.2)


def test_what_is_pasted_beside_the_table_is_said_and_not_filled_in(opt, server, browser):
    sign_in(browser, server[0])
    has(browser, "h1", "To be measured")
    first = browser.find_elements(By.CSS_SELECTOR, ".entry input")[0]
    for text, answer in (
        ("0\t0,5\t3,5\n1\t0,1\t4,5\n", "has 3 columns, and there is room for 1"),
        ("1\n2\n3\n4\n", "has 4 lines, and there are 3 rows"),
    ):
        paste(browser, first, text)
        has(browser, "#answer", answer)
        assert not any(value_of(browser))
    paste(browser, first, "Value\r\n1,5\r\n\r\nno flow\r\n")
    has(browser, "#answer", "2 cells filled in. The first line, with the names, was left out. Of these 1 cell is words")
    assert value_of(browser) == ["1,5", "", "no flow"]
    press(browser, "Record all that is filled in")
    wait(lambda: opt.history[2].state == "failed", "recorded")
    assert [trial.state for trial in opt.history] == ["told", "pending", "failed"]


def value_of(driver):
    return driver.execute_script("return [...document.querySelectorAll('.entry input')].map(input => input.value)")


def focus(driver):
    return driver.execute_script("return document.activeElement.getAttribute('aria-label')")


def test_points_that_are_asked_for_beside_open_rows_all_appear(opt, server, browser):
    def shown():
        return [
            int(row.get_attribute("data-trial"))
            for row in browser.find_elements(By.CSS_SELECTOR, "#rows tr[data-trial]")
        ]

    sign_in(browser, server[0])
    has(browser, "h1", "To be measured")
    wait(lambda: shown() == [0, 1, 2], "the rows that are there")
    fill(browser, "n", "4")
    press(browser, "Get the next points")
    wait(lambda: len(opt.pending()) > 5, "more rows")
    wait(lambda: sorted(shown()) == sorted(trial.number for trial in opt.pending()), "each of them on the page")


def test_a_second_word_on_a_trial_is_taken_on_the_same_page(opt, server, browser):
    opt.tell(0, 1.5)
    sign_in(browser, server[0])
    browser.get(f"{browser.current_url.rstrip('/')}/trials/0")
    for value, reason in (("1.6", "a slip"), ("1.7", "another slip")):
        fill(browser, "value.0", value)
        form = browser.find_element(By.CSS_SELECTOR, "form[action$='/amend']")
        form.find_element(By.NAME, "reason").send_keys(reason)
        press(browser, "Correct it")
        has(browser, ".happenings", reason)
    assert rb.Study.resume(server[1]).history[0].value == 1.7
