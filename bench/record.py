"""record.py -- lines of bench/results/ for the scripts that measure: one JSON object a figure."""
import json
import os
import subprocess

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


def machine():
    """The processor and its number of threads."""
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        names = [line.split(":")[1].strip() for line in info if line.startswith("model name")]
    return "%s, %d threads" % (names[0] if names else "unknown", len(names))


def commit():
    done = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], stdout=subprocess.PIPE, text=True)
    return done.stdout.strip() or "unknown"


def say(bench, metric, value, unit, config, command):
    """Print a figure, with the commit and the machine. config: what the figure depends on, a dict."""
    print(json.dumps({"bench": bench, "metric": metric, "value": value, "unit": unit, "config": config,
                      "commit": commit(), "machine": machine(), "command": command}), flush=True)
