"""Runs `condchain` commands in one process, and says of each that ended with an exception which one it was.

python run_commands.py COMMANDS, a JSON list of lists of arguments. What the commands print is printed.
"""

from __future__ import annotations

import json
import sys
import traceback

from condchain_tasks.cli import app

# Names of folders do not get through `argv` in the C locale as text; JSON escapes them.
for arguments in json.loads(sys.argv[1]):
    try:
        app([one.encode("utf-8").decode(sys.getfilesystemencoding(), "surrogateescape") for one in arguments])
    except SystemExit as ended:
        print(f"[{arguments[0]} ended with {ended.code or 0}]")
    except BaseException:
        print(f"[{json.dumps(arguments)} CRASHED]")
        traceback.print_exc()
