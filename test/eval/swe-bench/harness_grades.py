"""Has the installed swebench grade logs. Reads rows as JSON lines, each with a log; prints whether each is resolved."""

import json
import sys
import tempfile

from swebench.harness.grading import get_eval_report
from swebench.harness.utils import make_test_spec

for line in sys.stdin:
    row = json.loads(line)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as log:
        log.write(row["log"])
        log.flush()
        prediction = {"instance_id": row["instance_id"], "model_patch": "diff", "model_name_or_path": "conductor"}
        report = get_eval_report(test_spec=make_test_spec(row), prediction=prediction, test_log_path=log.name, include_tests_status=True)
    print(json.dumps(report[row["instance_id"]]["resolved"]))
