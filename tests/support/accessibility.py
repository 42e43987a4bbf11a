"""Can a page be used by everyone?"""

import pytest


def serious_violations(page):
    """Return what axe-core calls serious or critical, each with its first element."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    return [
        (each["id"], each["nodes"][0]["html"][:200])
        for each in axe.run(page).response["violations"]
        if each["impact"] in ("serious", "critical")
    ]
