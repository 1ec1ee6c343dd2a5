"""A campaign in a real browser: from the form to the decision, with a failed well, a slip and a stuck sensor.

Pictures of the pages go to the folder that ROBUSTBO_PICTURES names, if it does; the how-to has some of them. Where
axe-core is there (the package axe-playwright-python ships it), no page may have a violation, in any size or light.
"""

import math
import os
import shutil
import subprocess
import sys

import pytest

import robustbo as rb

webdriver = pytest.importorskip("selenium.webdriver", reason="no Selenium here")
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

from tests.serve.browsing import SIZES, fill, has, look, paste, press, resize, tap, texts, wait  # noqa: E402

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="no Chromium here, or no chromedriver"),
]
TOKEN = "a-token-of-the-tests-alone"
SPACE = {
    "p0.name": "temperature", "p0.unit": "°C", "p0.low": "40", "p0.high": "120", "p0.step": "1",
    "p1.name": "time", "p1.unit": "min", "p1.low": "5", "p1.high": "60", "p1.step": "1",
    "p2.name": "base", "p2.unit": "eq", "p2.low": "1", "p2.high": "3", "p2.step": "0,1",
    "p3.name": "load", "p3.unit": "mol%", "p3.low": "0,5", "p3.high": "5", "p3.step": "0,1",
    "o0.name": "yield", "o0.unit": "%", "o0.low": "0", "o0.high": "100",
}  # fmt: skip


def reaction(params):
    """The yield of a reaction that is best near 90 °C, 35 min, 2 eq and 3 mol%."""
    far = ((params["temperature (°C)"] - 90) / 40) ** 2 + ((params["time (min)"] - 35) / 30) ** 2
    far += (params["base (eq)"] - 2) ** 2 + ((params["load (mol%)"] - 3) / 2.5) ** 2
    return round(88 * math.exp(-far / 2), 1)


@pytest.fixture
def last_year(tmp_path):
    """The journal of a study of the same reaction, of twelve points that fill the space."""
    space = rb.Space(**{
        "temperature (°C)": rb.Float(40, 120), "time (min)": rb.Float(5, 60),
        "base (eq)": rb.Float(1, 3), "load (mol%)": rb.Float(0.5, 5),
    })  # fmt: skip
    outcome, place = rb.Outcome("yield", unit="%", low=0, high=100), tmp_path / "last year.jsonl"
    opt = rb.Optimizer(space, direction="maximize", outcome=outcome, acquisition="sobol", journal=place, seed=3)
    for trial in opt.ask(12):
        opt.tell(trial, reaction(trial.params))
    return place


@pytest.fixture
def server(tmp_path, last_year):
    """A server of a study that may not be begun yet; its address and its journal."""
    place = tmp_path / "suzuki.jsonl"
    environment = os.environ | {"ROBUSTBO_SERVE_TOKEN": TOKEN}
    command = [sys.executable, "-m", "robustbo", "serve", str(place), "--budget", "60", "--beside", str(last_year)]
    with subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip(), place
        finally:
            process.terminate()


@pytest.fixture
def opt(tmp_path):
    """A study of three trials that are to be measured, which is begun before the server is."""
    space = rb.Space(x=rb.Float(0, 1))
    opt = rb.Optimizer(space, direction="minimize", journal=tmp_path / "suzuki.jsonl", seed=0)
    opt.ask(3)
    return opt


@pytest.fixture
def browser(tmp_path):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        f"--user-data-dir={tmp_path}/profile",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    resize(driver, *SIZES[0])
    yield driver
    driver.quit()


def rows(driver):
    return driver.find_elements(By.CSS_SELECTOR, "#rows tr[data-trial]")


def measure(driver, place, change):
    """Ask for a plate of 8, and paste what was measured, as Excel in Germany has it."""
    fill(driver, "n", "8")
    press(driver, "Get the next points")
    wait(lambda: len(rows(driver)) == 8, "eight rows")
    history = rb.Study.resume(place).history
    numbers = [int(row.get_attribute("data-trial")) for row in rows(driver)]
    values = [str(reaction(history[number].params)).replace(".", ",") for number in numbers]
    values = [change.get(at, value) for at, value in enumerate(values)]
    paste(driver, rows(driver)[0].find_element(By.CSS_SELECTOR, ".entry input"), "\n".join(values))
    look(driver, "plate") if numbers[0] == 0 else None
    press(driver, "Record all that is filled in")
    wait(lambda: not rows(driver), "all are recorded")
    return numbers


def test_a_campaign_from_the_form_to_the_decision(server, browser):
    address, place = server
    browser.get(address)
    wait(lambda: "/begin" in browser.current_url, "the form")
    press(browser, "One more parameter")
    for name, text in SPACE.items():
        fill(browser, name, text)
    has(browser, "#preview", "The first points")
    look(browser, "begin")
    press(browser, "Begin the study")
    has(browser, "h1", "To be measured")
    fill(browser, "n", "8")
    browser.find_element(By.ID, "who").send_keys("Ana", Keys.TAB)

    first = measure(browser, place, {3: "the stirrer broke"})
    second = measure(browser, place, {5: "1,1"})
    third = measure(browser, place, {5: "12,5", 6: "12,5", 7: "12,5"})
    history = rb.Study.resume(place).history
    assert history[first[3]].reason == "the stirrer broke"
    assert history[first[0]].labels["entered by"] == "Ana"

    browser.find_element(By.LINK_TEXT, "Values").click()
    has(browser, ".doubt", "predict")
    look(browser, "values")
    slip = second[5]
    browser.get(f"{address.partition('/login')[0]}/trials/{slip}")
    has(browser, "section", "Measured near it")
    look(browser, "trial")
    form = browser.find_element(By.CSS_SELECTOR, "form[action$=amend]")
    right = str(reaction(history[slip].params))
    form.find_element(By.NAME, "value.0").send_keys(right.replace(".", ","))
    form.find_element(By.NAME, "reason").send_keys("a slip of the pen", Keys.ENTER)
    has(browser, ".happenings", "a slip of the pen")
    assert rb.Study.resume(place).history[slip].value == float(right)
    press(browser, "Take the last word back")
    has(browser, ".happenings", "taken back")
    assert rb.Study.resume(place).history[slip].value == 1.1
    for number in (slip, *third[5:]):
        browser.get(f"{address.partition('/login')[0]}/trials/{number}")
        browser.find_element(By.CSS_SELECTOR, "form[action$=measure-again] [name=reason]").send_keys("stuck sensor")
        press(browser, "Exclude")
        has(browser, ".happenings", "stuck sensor")
    assert [rb.Study.resume(place).history[n].state for n in third[5:]] == ["excluded"] * 3

    browser.find_element(By.LINK_TEXT, "Progress").click()
    has(browser, "section", "The best point by the posterior")
    wait(lambda: browser.find_elements(By.CSS_SELECTOR, ".scroll > svg"), "a chart")
    look(browser, "progress")
    wait(lambda: not browser.find_elements(By.CSS_SELECTOR, ".asking"), "the best is of all values")
    assert any("24 of a budget of 60 are spent" in text for text in texts(browser, "#progress > p"))
    best = rb.Study.resume(place).best()
    assert any(f"trial {best.trial.number}" in text for text in texts(browser, ".lead"))
    browser.find_element(By.LINK_TEXT, "Model").click()
    has(browser, "#model h2", "Map of")
    wait(lambda: not browser.find_elements(By.CSS_SELECTOR, ".asking"), "the maps are of all values")
    look(browser, "model")
    resize(browser, *SIZES[1])
    tap(browser, "#maps-title ~ .side-by-side svg circle")
    has(browser, ".touched", ": measured")
    resize(browser, *SIZES[0])
    browser.find_element(By.LINK_TEXT, "Compare").click()
    wait(lambda: len(browser.find_elements(By.CSS_SELECTOR, "#compare polyline")) == 2, "two studies drawn together")
    look(browser, "compare")
    logs = [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert logs == []


def test_a_study_is_begun_with_the_points_of_a_table(server, browser, tmp_path):
    table = tmp_path / "Katalog.csv"
    table.write_bytes("Lösemittel;Dosis (mL)\r\nDMF;0,5\r\nTHF;1,5\r\nDMF;2\r\n".encode("cp1252"))
    browser.get(server[0])
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


def test_whoever_comes_second_keeps_what_they_typed(opt, server, browser):
    browser.get(server[0])
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


def focus(driver):
    return driver.execute_script("return document.activeElement.getAttribute('aria-label')")
