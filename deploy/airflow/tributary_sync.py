"""A tributary sync every night, for Airflow 3. (Airflow 2: import dag and task from airflow.decorators.)

tributary's exit codes become Airflow's outcomes: 4 skips the task, 2, 3 and 70 fail it at once because another try
would end the same way, every other one fails the try and leaves the next one to `retries`.
"""

import logging
import subprocess
from datetime import timedelta

import pendulum
from airflow.sdk import dag, task

try:
    from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException
except ImportError:  # where Airflow had them before
    from airflow.exceptions import AirflowFailException, AirflowSkipException

# Where it is installed on the workers, and its configuration there.
COMMAND = [
    "tributary", "sync",
    "--config", "/etc/tributary/config.yaml",
    "--max-time", "4h", "--wait", "10m", "--no-progress",
]

HELD = 4
NEEDS_SOMEBODY = {
    2: "its configuration can't be used",
    3: "the service refused the API key",
    70: "a bug in tributary",
}

log = logging.getLogger(__name__)


def run(command):
    """Runs it with its output in the task's log; when the task is stopped it saves what it has read."""
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        for line in child.stdout:
            log.info("%s", line.rstrip())
        return child.wait()
    except BaseException:
        child.terminate()
        child.communicate(timeout=15)
        raise


def conclude(code):
    """Returns for success, else raises what Airflow should make of the exit code."""
    if code == HELD:
        raise AirflowSkipException("Another run is at work on these streams; nothing was done.")
    if code in NEEDS_SOMEBODY:
        raise AirflowFailException(f"tributary ended with {code}: {NEEDS_SOMEBODY[code]}. Its log above says what to do.")
    if code != 0:
        raise RuntimeError(f"tributary ended with {code}. What was read is saved; the next try goes on from there.")


@dag(
    schedule="0 2 * * *",
    start_date=pendulum.datetime(2026, 1, 1, tz="UTC"),
    # A missed night needs no run of its own: the next one brings everything.
    catchup=False,
    max_active_runs=1,
    tags=["warehouse"],
)
def tributary_sync():
    @task(retries=2, retry_delay=timedelta(minutes=15), retry_exponential_backoff=True, execution_timeout=timedelta(hours=5))
    def sync():
        conclude(run(COMMAND))

    sync()


tributary_sync()
