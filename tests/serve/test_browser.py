"""A campaign in a real browser: from the form to the decision, with a failed well, a slip and a stuck sensor.

Pictures of the pages go to the folder that ROBUSTBO_PICTURES names, if it does; the how-to has some of them. Where
axe-core is there (the package axe-playwright-python ships it), no page may have a violation, in any size or light.
"""

import math

import pytest

import robustbo as rb

pytest.importorskip("selenium.webdriver", reason="no Selenium here")
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.serve.browsing import SIZES, fill, has, look, paste, press, resize, sign_in, tap, texts, wait

pytestmark = pytest.mark.slow
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
def server_options(last_year):
    return ["--budget", "60", "--beside", str(last_year)]


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
    sign_in(browser, address)
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
