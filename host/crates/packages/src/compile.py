"""Compiles the modules of packages. Nothing of a package is imported or run."""

import json
import sys
import warnings
from importlib._bootstrap_external import _code_to_timestamp_pyc

warnings.simplefilter("ignore")
with open("/compile/names.json", encoding="utf-8") as file:
    names = json.load(file)
tops = {name.split("/")[0].removesuffix(".py") for name in names}
failed = []
for number, name in enumerate(names):
    with open(f"/compile/{number}", "rb") as file:
        source = file.read()
    try:
        code = compile(source, f"/packages/site-packages.zip/{name}", "exec", dont_inherit=True)
        # Without a time and a size of the source: the archive does not contain it.
        compiled = _code_to_timestamp_pyc(code)
    except (SyntaxError, ValueError, RecursionError, OverflowError):
        failed.append(number)
        continue
    with open(f"/tmp/{number}", "wb") as file:
        file.write(compiled)
with open("/tmp/report.json", "w", encoding="utf-8") as file:
    json.dump({"failed": failed, "standard": sorted(tops & set(sys.stdlib_module_names))}, file)
