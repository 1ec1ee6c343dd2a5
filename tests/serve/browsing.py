"""A page in a real browser: what a test presses, types, waits for and looks at."""

import importlib.util
import json
import os
import time
from pathlib import Path

import pytest

pytest.importorskip("selenium.webdriver", reason="no Selenium here")
from selenium.webdriver.common.by import By

AXE = importlib.util.find_spec("axe_playwright_python")
PICTURES = os.environ.get("ROBUSTBO_PICTURES")
PATIENCE_S = float(os.environ.get("ROBUSTBO_PATIENCE", "60"))  # more on a busy machine
SIZES = [(1280, 900, "light"), (390, 844, "light"), (1280, 900, "dark"), (390, 844, "dark")]


def resize(driver, width, height, look):
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [{"name": "prefers-color-scheme", "value": look}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def wait(condition, what):
    deadline = time.monotonic() + PATIENCE_S
    while not (result := condition()):
        assert time.monotonic() < deadline, what
        time.sleep(0.1)
    return result


def sign_in(driver, address):
    """Open the address that a server has printed, until the page behind it is whole, with its scripts."""
    driver.get(address)
    script = "return !location.pathname.startsWith('/login') && document.readyState === 'complete'"
    wait(lambda: driver.execute_script(script), "the page behind the token")


def texts(driver, selector):
    return driver.execute_script("return [...document.querySelectorAll(arguments[0])].map(e => e.innerText)", selector)


def has(driver, selector, text):
    return wait(lambda: any(text in shown for shown in texts(driver, selector)), f"{selector}: {text}")


def fill(driver, name, text):
    selector = f'[name="{name}"]'
    field = wait(lambda: driver.find_elements(By.CSS_SELECTOR, selector), f"the field {name}")[0]
    field.clear()
    field.send_keys(text)


def press(driver, text):
    """Press the button of a name, as soon as it is shown and can be pressed."""
    script = (
        "const shown = [...document.querySelectorAll('button')]"
        ".find(b => b.offsetParent && !b.disabled && b.innerText.trim() === arguments[0]);"
        "shown?.click(); return Boolean(shown)"
    )
    wait(lambda: driver.execute_script(script, text), f"the button {text}")


def tap(driver, selector, away=7):
    """Tap beside the first element that is shown, as a finger does."""
    script = (
        "const shown = [...document.querySelectorAll(arguments[0])].find(e => e.getClientRects().length);"
        "shown.scrollIntoView({block: 'center'}); const box = shown.getBoundingClientRect();"
        "return [box.x + box.width / 2, box.y + box.height / 2]"
    )
    x, y = driver.execute_script(script, selector)
    for event in ("mousePressed", "mouseReleased"):
        spot = {"type": event, "x": x + away, "y": y + away, "button": "left", "clickCount": 1}
        driver.execute_cdp_cmd("Input.dispatchMouseEvent", spot)


def paste(driver, field, text):
    driver.execute_script(
        "const data = new DataTransfer(); data.setData('text/plain', arguments[1]); arguments[0].focus();"
        "const options = {clipboardData: data, bubbles: true, cancelable: true};"
        "arguments[0].dispatchEvent(new ClipboardEvent('paste', options))",
        field,
        text,
    )


def violations(driver):
    """The violations that axe-core sees on a page, run beside its content-security policy; none where it is missing."""
    if not AXE:
        return []
    script = (Path(AXE.origin).parent / "axe.min.js").read_text()
    driver.execute_cdp_cmd("Runtime.evaluate", {"expression": script})
    question = (
        "axe.run().then(r => JSON.stringify(r.violations.map(v => [v.id, v.nodes.map(n => n.html.slice(0, 200))])))"
    )
    options = {"expression": question, "awaitPromise": True, "returnByValue": True}
    return json.loads(driver.execute_cdp_cmd("Runtime.evaluate", options)["result"]["value"])


def take_picture(driver, name):
    if PICTURES:
        driver.save_screenshot(f"{PICTURES}/serve-{name}.png")


def look(driver, name):
    """Look at a page in each size and light: pictures of it, and no violation."""
    for size in SIZES:
        resize(driver, *size)
        driver.execute_script("window.scrollTo(0, 0)")
        take_picture(driver, f"{name}-{'wide' if size[0] > 600 else 'narrow'}-{size[2]}")
        beyond = (
            "const wide = document.documentElement.clientWidth;"
            "return document.documentElement.scrollWidth <= wide ? [] : [...document.querySelectorAll('*')]"
            ".filter(e => e.getBoundingClientRect().right > wide).map(e => e.outerHTML.slice(0, 200))"
        )
        assert driver.execute_script(beyond) == [], (name, size)
        assert violations(driver) == [], (name, size)
    resize(driver, *SIZES[0])
